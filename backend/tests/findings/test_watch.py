"""The present is looked at all the time, and what stands is written for rules."""

from collections.abc import Callable

import pytest
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.snapshot import snapshot_of
from loadwatch_backend.findings.watch import FRESH_MS, METRIC, MOST_SERIES, FindingsWatch, series_of

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.findings.said import diagnosis, finding

APP = {"job": "shop", "instance": "app-1", "db_name": "main"}


def watch_of(server: RunningServer, look: Callable[[], FindingsOut], *, writes: bool = True) -> FindingsWatch:
    server.write(({"__name__": "a"}, [(NOW_MS, 1.0)]))
    return FindingsWatch(
        look,
        server.services.store,
        server.clock,
        writes=writes,
        rules_by_finding=lambda: {"app-lock-stall": "LockStall"},
    )


def written(server: RunningServer) -> list[tuple[str, str, str, list[tuple[int, float]]]]:
    """Id, certainty, instance, and seconds since the beginning with their values; NaN is the end."""
    query = {"query": f"{METRIC}[10m]", "time": server.clock.now_ms / 1_000}
    answer = server.client.get("/prometheus/api/v1/query", params=query)
    return sorted(
        (
            one["metric"]["id"],
            one["metric"]["certainty"],
            one["metric"].get("instance", ""),
            [(round(at - NOW_MS / 1_000), float(value)) for at, value in one["values"]],
        )
        for one in answer.json()["data"]["result"]
    )


def test_what_was_said_holds_for_ten_seconds(server: RunningServer):
    watch = watch_of(server, lambda: diagnosis(finding(labels=APP, to_ms=NOW_MS), to_ms=NOW_MS), writes=False)
    assert watch.current() is None
    watch.tick()
    known = watch.current()
    assert known is not None
    assert [one.id for one in known.findings] == ["pool-exhausted"]
    server.clock.now_ms += FRESH_MS
    assert watch.current() is known
    server.clock.now_ms += 1
    assert watch.current() is None


def test_a_look_that_fails_leaves_what_was_known_to_grow_old(server: RunningServer):
    answers: list[FindingsOut] = [diagnosis(finding(to_ms=NOW_MS), to_ms=NOW_MS)]
    watch = watch_of(server, lambda: answers.pop(), writes=False)
    watch.tick()
    with pytest.raises(IndexError):
        watch.tick()
    assert watch.current() is not None
    server.clock.now_ms += FRESH_MS + 1
    assert watch.current() is None


def test_nobody_looks_where_nobody_sends(server: RunningServer):
    def look() -> FindingsOut:
        raise AssertionError

    watch = FindingsWatch(look, server.services.store, server.clock, writes=True)
    watch.tick()
    known = watch.current()
    assert known is not None
    assert known.findings == ()


def test_what_stands_is_written_each_15_seconds_until_its_end(server: RunningServer):
    said: list[FindingsOut] = []
    watch = watch_of(server, lambda: said[-1])

    def tick(*findings: str, certainty: Certainty = Certainty.LIKELY) -> None:
        now = server.clock.now_ms
        each = [finding(id, labels=APP, certainty=certainty, to_ms=now) for id in findings]
        said.append(diagnosis(*each, to_ms=now))
        watch.tick()
        server.clock.now_ms += 5_000

    for _ in range(5):
        tick("pool-exhausted")
    tick("pool-exhausted", "app-lock-stall", certainty=Certainty.CERTAIN)
    tick("app-lock-stall", certainty=Certainty.CERTAIN)
    found = written(server)
    assert found == [
        ("app-lock-stall", "certain", "app-1", [(25, 1.0), (30, 1.0)]),
        ("pool-exhausted", "certain", "app-1", [(25, 1.0)]),
        ("pool-exhausted", "likely", "app-1", [(0, 1.0), (15, 1.0)]),
    ]
    # Its end is written, too: it is not there at the moment after.
    query = {"query": METRIC, "time": (NOW_MS + 31_000) / 1_000}
    answer = server.client.get("/prometheus/api/v1/query", params=query).json()
    assert [one["metric"]["id"] for one in answer["data"]["result"]] == ["app-lock-stall"]
    assert answer["data"]["result"][0]["metric"] == {
        "__name__": METRIC,
        "id": "app-lock-stall",
        "severity": "critical",
        "certainty": "certain",
        "job": "shop",
        "instance": "app-1",
        "rule": "LockStall",
    }


def test_series_are_few_and_the_surest_of_each_place():
    sure = finding(labels={**APP, "db_name": "b"}, to_ms=NOW_MS)
    unsure = finding(labels=APP, certainty=Certainty.POSSIBLE, severity=Severity.WARNING, to_ms=NOW_MS)
    gone = finding("app-lock-stall", to_ms=NOW_MS - 60_001)
    (labels,) = series_of(snapshot_of(diagnosis(unsure, sure, gone, to_ms=NOW_MS))).values()
    assert (labels["certainty"], labels["severity"]) == ("certain", "critical")
    many = [finding(labels={"instance": f"i{number}"}, to_ms=NOW_MS) for number in range(200)]
    assert len(series_of(snapshot_of(diagnosis(*many, to_ms=NOW_MS)))) == MOST_SERIES
