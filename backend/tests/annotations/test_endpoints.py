from typing import Any

import pytest

NOTE = {
    "author": "Aoi 葵",
    "text": "bulk insert on\nagain",
    "start_ms": 1_000,
    "end_ms": 2_000,
    "tags": ["deploy", "段階3"],
    "commit": "3f2c1aa",
    "issue": "https://issues.example/27",
}


def test_an_annotation_lives_from_post_to_delete(server: Any):
    client = server.client
    made = client.post("/api/annotations", json=NOTE)
    assert made.status_code == 201
    note = made.json()
    assert note == {**NOTE, "id": note["id"], "created_ms": server.clock.now_ms, "updated_ms": server.clock.now_ms}
    path = f"/api/annotations/{note['id']}"
    assert client.get(path).json() == note

    server.clock.now_ms += 5
    changed = client.patch(
        path, json={"text": "off", "tags": ["段階3", "x", "x"], "end_ms": None, "issue": "#27"}
    ).json()
    wanted = {
        **note,
        "text": "off",
        "tags": ["段階3", "x"],
        "end_ms": None,
        "issue": "#27",
        "updated_ms": server.clock.now_ms,
    }
    assert changed == wanted
    assert client.patch(path, json={}).json() == wanted
    assert client.patch(path, json={"end_ms": 1_000}).json()["end_ms"] == 1_000

    assert client.delete(path).status_code == 204
    for method in ("GET", "PATCH", "DELETE"):
        answer = client.request(method, path, json={} if method == "PATCH" else None)
        assert (answer.status_code, answer.json()["code"]) == (404, "annotation-not-found")
    assert client.post("/api/annotations", json=NOTE).json()["id"] > note["id"], "ids are never given twice"


def test_the_list_holds_what_overlaps_in_order_of_start(server: Any):
    spans = {"early": (0, 5), "across": (8, 30), "instant": (20, None), "late": (40, 50), "edge": (5, 10)}
    for text, (start, end) in spans.items():
        body = {"author": "a", "text": text, "start_ms": start, "end_ms": end, "tags": [text[0]]}
        assert server.client.post("/api/annotations", json=body).status_code == 201

    def listed(query: str) -> list[str]:
        return [note["text"] for note in server.client.get(f"/api/annotations?{query}").json()["annotations"]]

    assert listed("") == ["early", "edge", "across", "instant", "late"]
    assert listed("start_ms=10&end_ms=20") == ["edge", "across", "instant"]
    assert listed("start_ms=21&end_ms=39") == ["across"]
    assert listed("start_ms=51") == []
    assert listed("end_ms=5") == ["early", "edge"]
    assert listed("tag=e") == ["early", "edge"]
    assert listed("tag=E") == []


@pytest.mark.parametrize("left_out", [{}, {"author": ""}, {"author": " "}])
def test_without_an_author_it_is_who_asks(server: Any, left_out: dict[str, str]):
    body = {key: value for key, value in NOTE.items() if key != "author"} | left_out
    note = server.client.post("/api/annotations", json=body).json()
    assert note["author"] == server.client.get("/api/session").json()["principal"]["name"] == "local"
    path = f"/api/annotations/{note['id']}"
    assert client_author(server, path, "mika") == "mika"
    assert client_author(server, path, "") == "local"


def client_author(server: Any, path: str, author: str) -> str:
    return server.client.patch(path, json={"author": author}).json()["author"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": ""}, "body.text"),
        ({"text": " \n"}, "body.text"),
        ({"text": "a\0"}, "body.text"),
        ({"text": "x" * 4_001}, "body.text"),
        ({"author": "x" * 101}, "body.author"),
        ({"author": None}, "body.author"),
        ({"tags": ["x" * 51]}, "body.tags.0"),
        ({"tags": [str(i) for i in range(21)]}, "body.tags"),
        ({"start_ms": -1}, "body.start_ms"),
        ({"start_ms": 10**18}, "body.start_ms"),
        ({"start_ms": 1.5}, "body.start_ms"),
        ({"colour": "red"}, "body.colour"),
    ],
)
def test_what_is_wrong_is_named(server: Any, change: dict[str, Any], field: str):
    answer = server.client.post("/api/annotations", json={**NOTE, **change})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "invalid"
    assert [error["field"] for error in problem["errors"]] == [field]
    assert field in problem["detail"]


def test_a_span_ends_no_earlier_than_it_starts(server: Any):
    answer = server.client.post("/api/annotations", json={**NOTE, "end_ms": 999})
    assert (answer.status_code, answer.json()["code"]) == (422, "annotation-span")
    note = server.client.post("/api/annotations", json=NOTE).json()
    late = server.client.patch(f"/api/annotations/{note['id']}", json={"start_ms": 2_001})
    assert (late.status_code, late.json()["code"]) == (422, "annotation-span")
    assert server.client.get(f"/api/annotations/{note['id']}").json() == note, "nothing of a refused change stays"
