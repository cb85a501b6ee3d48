"""What holds for every route."""

from collections.abc import Iterator
from typing import Any

import pytest
from loadwatch_backend.core.schemas import Problem
from loadwatch_backend.core.version import VERSION
from structlog.testing import capture_logs

STRANGE = "~" * 40


def routes(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def check_problem(answer: Any, path: str) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate(answer.json())
    assert problem.status == answer.status_code
    assert problem.instance == path
    assert problem.type == f"urn:loadwatch:error:{problem.code}"
    assert problem.detail


def is_prometheus(path: str) -> bool:
    return path.startswith("/prometheus/api/") and not path.endswith("/write")


def is_alertmanager(path: str) -> bool:
    return path.startswith("/alertmanager/api/")


def test_every_route_gives_its_errors_the_one_shape(server: Any):
    """Bad bodies, bad parameters, wrong methods and unknown paths, on all routes that there are."""
    document = server.app.openapi()
    seen = 0
    for method, template, operation in routes(document):
        path = template.replace("{annotation_id}", STRANGE).replace("{name}", STRANGE)
        answers = [server.client.request("TRACE", path), server.client.get(path + "/" + STRANGE)]
        if "application/json" in operation.get("requestBody", {}).get("content", {}):
            json = {"content-type": "application/json"}
            answers += [server.client.request(method, path, content=body, headers=json) for body in (b"{", b"[1]", b"")]
        if "{annotation_id}" in template:
            answers.append(server.client.request(method, path))
        for answer in answers:
            asked = answer.request.url.path
            assert 400 <= answer.status_code < 500, (method, asked, answer.text)
            if is_prometheus(asked) and answer.headers["content-type"] == "application/json":
                assert answer.json()["status"] == "error"
                assert answer.json()["error"]
            elif is_alertmanager(asked):
                assert answer.headers["content-type"] == "application/json"
                assert isinstance(answer.json(), str)
                assert answer.json()
            else:
                check_problem(answer, asked)
            seen += 1
    assert seen > 2 * len(document["paths"])


def test_a_mistake_of_ours_has_the_shape_too_and_an_id_in_the_log(server: Any, monkeypatch: pytest.MonkeyPatch):
    def broken() -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(server.services.targets, "list", broken)
    with capture_logs() as entries:
        answer = server.client.get("/api/targets")
    assert answer.status_code == 500
    check_problem(answer, "/api/targets")
    assert answer.json()["code"] == "internal"
    assert "secret detail" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [entry["incident"] for entry in entries if "incident" in entry] == [answer.json()["incident"]]
    (entry,) = [entry for entry in entries if "incident" in entry]
    assert str(entry["exc_info"]) == "secret detail"
    assert server.client.get("/api/status").status_code == 200


def test_a_method_that_is_not_taken_says_which_are(server: Any):
    answer = server.client.put("/api/annotations", json={})
    assert answer.status_code == 405
    check_problem(answer, "/api/annotations")


def test_status(server: Any):
    client, now = server.client, server.clock.now_ms
    empty = client.get("/api/status").json()
    assert (empty["newest_sample_ms"], empty["series"], empty["now_ms"]) == (None, 0, now)
    server.write(({"__name__": "a"}, [(now - 5, 1.0)]), ({"__name__": "b"}, [(now - 9, 1.0)]))
    found = client.get("/api/status").json()
    assert found.pop("principal")["name"] == "local"
    assert found == {
        "version": VERSION,
        "now_ms": now,
        "newest_sample_ms": now - 5,
        "series": 2,
        "access": "open",
        "not_evaluating": None,
        "integrations": 0,
        "undelivered": [],
    }


def test_the_page_is_served_where_no_route_is(server: Any):
    page = server.client.get("/targets", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in page.headers["content-security-policy"] or "make build-ui" in page.text
