"""What a file is, and what it is called here."""

import pytest
from loadwatch_backend.evidence.files.media import BYTES, NAME_BYTES, TEXT, clean_name, recognise, served_type

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF89a\1\0", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0AVI LIST", BYTES),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"%PDF-1.7", "application/pdf"),
        (b"<!doctype html><script>alert(1)</script>", TEXT),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", TEXT),
        ("接続が足りない\n\x1b[31mred\x1b[0m\n".encode(), TEXT),
        ("あ".encode()[:2], TEXT),
        (b"\xff\xfe\0a", BYTES),
        (b"text with \0 in it", BYTES),
        (b"caf\xe9 au lait", BYTES),
    ],
)
def test_content_says_what_a_file_is(head: bytes, expected: str):
    assert recognise(head) == expected


def test_only_what_no_browser_runs_is_served_as_itself():
    assert served_type("image/png") == "image/png"
    assert served_type(TEXT) == "text/plain; charset=utf-8"
    for other in ("application/pdf", "application/zip", "text/html", "image/svg+xml", BYTES):
        assert served_type(other) == BYTES


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("graph.png", "graph.png"),
        ("../../../etc/passwd", "passwd"),
        ("C:\\Users\\aoi\\負荷試験.png", "負荷試験.png"),
        ("..", "unnamed"),
        ("/", "unnamed"),
        ("", "unnamed"),
        (".env", "env"),
        ("a\r\nSet-Cookie: b.txt", "aSet-Cookie: b.txt"),
        ("gpj.\u202efdp.exe", "gpj.fdp.exe"),
        ("nul\0l.txt", "null.txt"),
        ("  two   spaces .txt ", "two spaces .txt"),
        ("\x1b]0;title\x07x.log", "]0;titlex.log"),
    ],
)
def test_a_name_is_a_plain_file_name(name: str, expected: str):
    assert clean_name(name) == expected


@pytest.mark.parametrize(
    "name", ["a" * 300 + ".csv", "あ" * 300 + ".csv", "a." + "b" * 300, "\U0001f600" * 200 + ".csv"]
)
def test_a_long_name_keeps_its_end(name: str):
    cleaned = clean_name(name)
    assert len(cleaned) <= 200
    assert 100 < len(cleaned.encode()) <= NAME_BYTES
    assert name.endswith(".csv") == cleaned.endswith(".csv")
