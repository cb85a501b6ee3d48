import asyncio
import base64
import hashlib
from pathlib import Path

import httpx
import pytest
from loadwatch_backend.core.ui import UserInterface, content_security_policy

META = '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__">'
PAGE = META + '<script>theme()</script><script src="/a.js"></script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("hunter2")
    folder = tmp_path / "ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "app-1a2b.js").write_text("let a")
    (folder / "favicon.svg").write_text("<svg/>")
    return folder


def get(folder: Path, path: str, method: str = "GET") -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(UserInterface(folder))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path)

    return asyncio.run(ask())


def test_assets_are_kept_for_good_and_the_page_is_fresh(folder: Path):
    (folder / "index.html").write_text(PAGE)
    asset = get(folder, "/assets/app-1a2b.js")
    assert (asset.text, asset.headers["cache-control"]) == ("let a", "public, max-age=31536000, immutable")
    assert get(folder, "/favicon.svg").headers["cache-control"] == "no-cache"
    for path in ("/", "/index.html", "/targets", "/alerts/history", "/runs/an-id"):
        page = get(folder, path)
        assert page.status_code == 200
        assert page.headers["cache-control"] == "no-cache"
        assert "theme()" in page.text


def test_the_policy_allows_the_pages_own_script_and_this_answers_nonce_only(folder: Path):
    (folder / "index.html").write_text(PAGE)
    first, second = get(folder, "/"), get(folder, "/")
    digest = base64.b64encode(hashlib.sha256(b"theme()").digest()).decode()
    policy = first.headers["content-security-policy"]
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'content="{nonce}"' in first.text
    assert first.text != second.text


def test_a_page_without_a_place_for_a_nonce_may_style_itself_and_no_more():
    policy = content_security_policy("<p>", None)
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src 'self';" in policy


@pytest.mark.parametrize("path", ["/api/none", "/prometheus/none", "/assets/gone.js", "/-/none", "/metrics/x"])
def test_programs_get_a_problem_and_not_a_page(folder: Path, path: str):
    (folder / "index.html").write_text(PAGE)
    answer = get(folder, path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "not-found"


@pytest.mark.parametrize("path", ["/../secret", "/%2e%2e/secret", "/assets/..%2f..%2fsecret", "/%00", "/" + "a" * 5000])
def test_nothing_outside_the_folder_is_served(folder: Path, path: str):
    (folder / "index.html").write_text(PAGE)
    assert "hunter2" not in get(folder, path).text


def test_without_a_build_the_page_says_how_to_get_one(folder: Path):
    page = get(folder, "/")
    assert page.status_code == 200
    assert "make build-ui" in page.text
    assert page.headers["cache-control"] == "no-store"


def test_pages_are_read_only(folder: Path):
    answer = get(folder, "/", "POST")
    assert (answer.status_code, answer.json()["code"]) == (405, "method-not-allowed")
