import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.shapes import shape_of


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/login",
        "/register",
        "/posts",
        "/posts/",
        "/api/v1/users",
        "/api/oauth2/authorize",
        "/users/getUserProfileStatistics2",
        "/terms-of-service",
        "/posts/hello-world",
        "/2fa",
        "/css/style.css",
        "/js/jquery-3.7.1.min.js",
        "/js/jquery-migrate.min.js",
        "/favicon.ico",
        "/index.html",
        "/v1/users:batchGet",
        "/v2/users",
        "/apis/batch/v2alpha1",
        "/OAuth2Callback",
        "/getV2UserId",
        "/getUserV2",
        "/goods/iPhone15ProMax",
        "/goods/summer-sale2026",
        "/goods/Q3Report2026",
        "/upToDate",
        "/HttpServletRequest",
        "/feed/dadaface",
        "/.well-known/acme-challenge",
        "*",
        "-",
    ],
)
def test_names_stay(path: str) -> None:
    assert shape_of(path) == path


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/users/42", "/users/:id"),
        ("/users/42/posts/7/", "/users/:id/posts/:id/"),
        ("/users/42?tab=1&token=secret", "/users/:id"),
        ("/search?q=/users/42", "/search"),
        ("/?utm=1", "/"),
        ("//login//", "/login/"),
        ("/image/42.jpg", "/image/:id.jpg"),
        ("/tile/-35.6,139.7", "/tile/:id"),
        ("/download/1.2.3", "/download/:id"),
        ("/report/2026-11-23", "/report/:date"),
        ("/orders/3f0c9a52-7d4e-4f7b-9e0e-0d2f1a6b7c8d", "/orders/:uuid"),
        ("/orders/3F0C9A52-7D4E-4F7B-9E0E-0D2F1A6B7C8D/items", "/orders/:uuid/items"),
        ("/commit/3f2a9c1b", "/commit/:hash"),
        ("/commit/0d1f5a7d8e9b0c2d3f4a5b6c7d8e9f0a1b2c3d4e", "/commit/:hash"),
        ("/x/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/x/:hash"),
        ("/x/V1StGXR8_Z5jdHi6B-myT", "/x/:hash"),
        ("/x/eyJhbGciOiJIUzI1NiJ9QxT4bm9uZQ==", "/x/:hash"),
        ("/x/cjld2cjxh0000qzrmn831i7rn", "/x/:hash"),
        ("/reset/AbC123xyz", "/reset/:hash"),
        ("/reset/abc123XYZ", "/reset/:hash"),
        ("/reset/aB3dE5gH", "/reset/:hash"),
        ("/reset/aZkQwxTp", "/reset/:hash"),
        ("/reset/k3j9x2m1", "/reset/:hash"),
        ("/coupon/A1B2-XK9D3Q7Z", "/coupon/:hash"),
        ("/download/report-AbC123xyz.pdf", "/download/:hash.pdf"),
        ("/item-42", "/item-:id"),
        ("/posts/42-how-to-wait", "/posts/:slug"),
        ("/@alice", "/@:slug"),
        ("/u/alice@example.com", "/u/:slug"),
        ("/search/%E3%81%82", "/search/:slug"),
        ("/search/あ", "/search/:slug"),
        ("/assets/index-3f2a9c1b.js", "/assets/index-:hash.js"),
        ("/assets/index-DiwrgTda.css", "/assets/index-:hash.css"),
        ("/assets/main.3f2a9c1b.chunk.js", "/assets/main.:hash.chunk.js"),
        ("/a;jsessionid=1A2B/b", "/a/b"),
        ("https://shop.example:443/users/42?x=1", "/users/:id"),
        ("http://shop.example", "/"),
        ("shop.example:443", "-"),
        ("", "-"),
        ("\x16\x03\x01\x02", "-"),
        ("/x/\x1b[31mred", "/x/:slug"),
        ("/x/" + "x" * 1_000_000, "/x/:slug"),
        ("/x/" + "_." * 500_000 + "js", "/x/:slug"),
        ("/x/:id", "/x/:slug"),
        ("/" + "/".join("abcdefghijklmn"), "/a/b/c/d/e/f/g/h/i/j/k/l/*"),
    ],
)
def test_what_varies_by_its_form_is_a_placeholder(path: str, shape: str) -> None:
    assert shape_of(path) == shape


@given(st.text() | st.text().map("/".__add__) | st.from_regex(r"/[ -~]*(/[0-9a-fA-F.@;-]*)*", fullmatch=True))
def test_any_path_has_a_printable_shape_of_bounded_length(path: str) -> None:
    shape = shape_of(path)
    assert shape.isascii()
    assert shape.isprintable()
    assert len(shape) <= 700
    assert "?" not in shape
