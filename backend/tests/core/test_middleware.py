from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from loadwatch_backend.app.application import BODY_BYTES


@pytest.fixture
def client(start_server: Callable[..., Any], tmp_path: Path) -> Iterator[httpx.Client]:
    with start_server(tmp_path / "data") as running:
        yield running.client


def test_a_foreign_host_name_is_refused(client: httpx.Client):
    answer = client.get("/api/status", headers={"host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign-host")
    assert client.get("/api/status", headers={"host": "localhost:1"}).status_code == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "via", "forwarded"])
def test_without_login_nobody_is_served_through_a_proxy(client: httpx.Client, header: str):
    answer = client.get("/api/status", headers={header: "203.0.113.9"})
    assert (answer.status_code, "LOADWATCH_ACCESS=users" in answer.json()["detail"]) == (403, True)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_site_changes_nothing(client: httpx.Client, origin: str):
    body = {"author": "a", "text": "t", "start_ms": 1}
    answer = client.post("/api/annotations", json=body, headers={"origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin")
    assert client.get("/api/annotations", headers={"origin": origin}).status_code == 403
    assert client.get("/api/annotations").json() == {"annotations": []}


def test_our_own_page_may(client: httpx.Client):
    body = {"author": "a", "text": "t", "start_ms": 1}
    own = str(client.base_url).rstrip("/")
    assert client.post("/api/annotations", json=body, headers={"origin": own}).status_code == 201


def test_bodies_are_bounded_announced_or_not(client: httpx.Client):
    announced = client.post("/api/annotations", content=b"x" * (BODY_BYTES + 1))
    chunked = client.post("/api/annotations", content=iter([b"x" * (BODY_BYTES // 2)] * 3))
    for answer in (announced, chunked):
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "body-too-large"
        assert f"larger than {BODY_BYTES} bytes" in answer.json()["detail"]
    assert client.post("/api/annotations", content=b" " * BODY_BYTES).status_code in (400, 422)


@pytest.mark.parametrize("path", ["/api/status", "/api/none", "/", "/-/ready", "/prometheus/api/v1/query"])
def test_every_answer_keeps_browsers_in_line(client: httpx.Client, path: str):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"
    if path.startswith(("/api", "/prometheus")):
        assert headers["cache-control"] == "no-store"


def test_large_documents_are_compressed(client: httpx.Client):
    large = client.get("/api/signals", headers={"accept-encoding": "gzip"})
    assert large.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in client.get("/api/status", headers={"accept-encoding": "gzip"}).headers
