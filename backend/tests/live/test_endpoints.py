from typing import Any

import orjson
from loadwatch_backend.series.store.port import Labels


def test_a_commit_is_heard_of(server: Any):
    labels: Labels = {"__name__": "up", "job": "a"}
    with server.client.stream("GET", "/api/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        lines = answer.iter_lines()
        assert next(lines).startswith(":")
        server.write((labels, [(server.clock.now_ms, 1.0)]))
        told = [line for line in (next(lines) for _ in range(3)) if line]
    assert told[0] == "event: samples"
    data = orjson.loads(told[1].removeprefix("data: "))
    assert data["newest_ms"] == server.clock.now_ms
    assert set(data) == {"newest_ms", "committed_ms"}
