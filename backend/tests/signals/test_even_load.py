"""An even load is drawn even: whatever the range, how often samples come, and when one looks."""

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.model import Seconds
from loadwatch_backend.runs.registry.publish import publish
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from backend.tests.conftest import RunningServer

SECOND = 1_000
RATE = 60.0
RANGES = (300, 900, 3 * 3_600, 86_400)
SHARE = 0.02
START = 1_799_900_000_000
EXAMPLES = itertools.count()


def drawn(server: RunningServer, signal: str, start_ms: int, end_ms: int) -> tuple[dict[int, float], int]:
    """Sums of the series by the time of each point, and how much time a point stands for."""
    body = {"signals": [signal], "start_ms": start_ms, "end_ms": end_ms}
    answer = server.client.post("/api/signals/query", json=body).json()
    (result,) = answer["results"]
    assert result["error"] is None
    found: dict[int, float] = {}
    for one in result["series"]:
        for place, value in enumerate(one["values"]):
            if value is not None:
                time = answer["start_ms"] + place * answer["step_ms"]
                found[time] = found.get(time, 0.0) + value
    return found, answer["step_ms"] * (2 if answer["reduced"] else 1)


def seconds_of(first_ms: int, count: int) -> Seconds:
    """Even requests that begin and end within a second."""
    starts = first_ms + np.arange(round(count * RATE)) * SECOND / RATE
    begin = first_ms // SECOND * SECOND
    rows = int(starts[-1] - begin) // SECOND + 1
    outcomes = np.zeros((rows, len(OUTCOMES)), np.int64)
    outcomes[:, OUTCOMES.index(Outcome.OK)] = np.bincount((starts - begin).astype(np.int64) // SECOND, minlength=rows)
    return Seconds(
        start_ms=begin, outcomes=outcomes, latency=None, bytes_in=None, bytes_out=None, users=None, exact=True
    )


def check(points: dict[int, float], bucket_ms: int, begin_ms: int, end_ms: int, rough_ms: int) -> None:
    """`rough_ms` at both ends is what the samples themselves do not tell apart."""
    inside = {
        time: value
        for time, value in points.items()
        if begin_ms + rough_ms <= time // bucket_ms * bucket_ms
        and time // bucket_ms * bucket_ms + bucket_ms <= end_ms - rough_ms
    }
    assert [(time - begin_ms, value) for time, value in inside.items() if abs(value - RATE) > SHARE * RATE] == []
    # A point that stands for a bucket is about what lies after it, one by itself about what lies before.
    after = [value for time, value in points.items() if time // bucket_ms * bucket_ms >= end_ms + rough_ms and value]
    assert after == []
    before = [
        value
        for time, value in points.items()
        if time // bucket_ms * bucket_ms + bucket_ms <= begin_ms - rough_ms and value
    ]
    assert before == []


@pytest.fixture(scope="module")
def imported(shared_server: RunningServer) -> dict[str, Any]:
    """A run of four minutes, as it is kept."""
    first = START + 370
    assert publish(shared_server.store, "even", seconds_of(first, 240), RATE)
    return {"first": first, "end": first + 240_000}


@pytest.mark.parametrize("later", [0, 1, 7, 95, 400, 5_000, 40_000])
@pytest.mark.parametrize("seconds", RANGES)
def test_a_run_of_sixty_a_second_is_drawn_at_sixty(
    shared_server: RunningServer, imported: dict[str, Any], seconds: int, later: int
):
    end = imported["end"] + later * SECOND
    shared_server.clock.now_ms = end
    points, bucket = drawn(shared_server, "rps_sent", end - seconds * SECOND, end)
    if later < seconds:
        assert max(points.values(), default=0.0) == pytest.approx(RATE, rel=SHARE)
        if bucket <= 2_000:
            least = min((min(240, seconds) - later) * SECOND // bucket - 8, 200)
            assert len(points) >= least
    # Within its first and its last second nothing is drawn.
    check(points, bucket, imported["first"] // SECOND * SECOND, imported["end"], 0)


def counter(begin_ms: int, end_ms: int, samples: Sequence[int]) -> list[tuple[int, float]]:
    return [(time, 5_000 + RATE * (min(max(time, begin_ms), end_ms) - begin_ms) / SECOND) for time in samples]


@settings(max_examples=25, deadline=None)
@given(
    interval=st.sampled_from([1, 5, 10, 60]),
    phase=st.integers(0, 9_999),
    length=st.integers(420, 1_200),
    later=st.sampled_from([0, 3, 61, 600, 7_200, 30_000]),
    seconds=st.sampled_from(RANGES),
    missed=st.booleans(),
)
def test_a_counter_that_is_there_before_and_after_is_drawn_at_sixty(
    shared_server: RunningServer,
    interval: int,
    phase: int,
    length: int,
    later: int,
    seconds: int,
    missed: bool,
):
    instance = uuid.uuid4().hex  # a drawn one comes again, over the samples of the example before
    # Each example has a time of its own: how often a metric comes is learned from all of its newest series.
    begin = START + 1_000_000 + next(EXAMPLES) * 60_000 * SECOND + phase
    end = begin + length * SECOND
    step = interval * SECOND
    times = list(range(begin // step * step - 40 * step, end + 40 * step, step))
    if missed:
        times = [time for place, time in enumerate(times) if place % 9]
    now = end + later * SECOND
    times = [time for time in times if time <= now]
    shared_server.write(
        ({"__name__": "ingest_accepted_total", "instance": instance}, counter(begin, end, times)),
        ({"__name__": "up", "instance": instance}, [(now, 1.0)]),
    )
    shared_server.clock.now_ms = now
    body = {
        "signals": ["rps_accepted"],
        "start_ms": now - seconds * SECOND,
        "end_ms": now,
        "filters": {"instance": [instance]},
    }
    answer = shared_server.client.post("/api/signals/query", json=body).json()
    bucket = answer["step_ms"] * (2 if answer["reduced"] else 1)
    found = [one["values"] for one in answer["results"][0]["series"]]
    points = {
        answer["start_ms"] + place * answer["step_ms"]: value
        for values in found
        for place, value in enumerate(values)
        if value is not None
    }
    # An interval in which the load began or ended is neither, and so is the step of the evaluation.
    rough = max(2 * step, SECOND) + (15_000 if seconds == 86_400 else 2_000)
    check(points, bucket, begin, end, rough)
    if later < 60 and seconds <= 900:
        assert [value for value in points.values() if value == pytest.approx(RATE, rel=SHARE)]


@pytest.mark.parametrize("later", [1, 2, 3, 4, 5, 8, 20, 60, 200])
def test_the_mean_wait_of_a_pool_is_never_longer_than_waits_were(server: RunningServer, later: int):
    """Sixty waits a second, of two seconds each, and then a few that no other waits for."""
    end = START + 60 * SECOND
    now = end + later * SECOND
    times = [time for time in range(START - 30 * SECOND, end + 300 * SECOND, SECOND) if time <= now]
    begun = [(time, RATE * min(max(time - START, 0) / SECOND, 60) + max(time - end, 0) / 20_000) for time in times]
    waited = [(time, 2 * RATE * min(max(time - START - 2_000, 0) / SECOND, 60)) for time in times]
    labels = {"instance": "a", "db_name": "main"}
    server.write(
        ({"__name__": "go_sql_wait_count_total", **labels}, begun),
        ({"__name__": "go_sql_wait_duration_seconds_total", **labels}, waited),
    )
    server.clock.now_ms = now
    points, _ = drawn(server, "pool_wait_mean", now - 300 * SECOND, now)
    assert max(points.values()) <= 4
    assert points[START + 30 * SECOND] == pytest.approx(2)
