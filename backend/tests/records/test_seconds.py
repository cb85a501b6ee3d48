from pathlib import Path

import numpy as np
from loadwatch_backend.records.model import Seconds
from loadwatch_backend.records.seconds import reduce_seconds, spans
from loadwatch_formats.outcomes import OUTCOMES

from backend.tests.records.making import START_MS, make_records, make_result


def test_spans_hold_all_busy_seconds() -> None:
    requests = np.array([0, 2_000_000, 500_000, 5_000_000, 0, 0, 1, 2_999_999, 1])
    found = list(spans(requests))
    assert found == [(0, 3), (3, 4), (4, 8), (8, 9)]
    assert not list(spans(np.zeros(100, dtype=np.int64)))


def test_reduction_keeps_peaks(tmp_path: Path) -> None:
    latency = np.full(1_000, 10**6, dtype=np.int64)
    latency[555] = 10**10
    result = make_result(tmp_path, make_records(seconds=100.0, latency_ms=latency))
    assert result.seconds is not None
    reduced = reduce_seconds(result.seconds, 20)
    assert reduced.step_ms == 5_000
    assert reduced.latency is not None
    assert reduced.latency_min is not None
    assert reduced.latency[11].tolist() == [0.001, 0.001, 10.0, 10.0, 10.0]
    assert np.nanmax(reduced.latency_min[:, 4]) == 0.001
    assert reduced.outcomes.sum() * 5 == 1_000
    assert (reduced.rate_min == 10).all()


def test_reduction_of_uneven_length_and_gaps() -> None:
    outcomes = np.zeros((7, len(OUTCOMES)), dtype=np.int64)
    outcomes[0, 0], outcomes[6, 0] = 4, 9
    latency = np.full((7, 5), np.nan)
    latency[0] = 0.5
    seconds = Seconds(
        start_ms=START_MS, outcomes=outcomes, latency=latency, bytes_in=None, bytes_out=None, users=None, exact=True
    )
    reduced = reduce_seconds(seconds, 4)
    assert reduced.step_ms == 2_000
    assert reduced.outcomes[:, 0].tolist() == [2.0, 0.0, 0.0, 9.0]
    assert (reduced.rate_max.tolist(), reduced.rate_min.tolist()) == ([4, 0, 0, 9], [0, 0, 0, 9])
    assert reduced.latency is not None
    assert np.isnan(reduced.latency[1:]).all()
    assert reduce_seconds(seconds, 1_000).step_ms == 1_000


def test_reduction_of_nothing() -> None:
    empty = Seconds(
        start_ms=START_MS,
        outcomes=np.zeros((0, len(OUTCOMES)), dtype=np.int64),
        latency=np.zeros((0, 5)),
        bytes_in=None,
        bytes_out=None,
        users=None,
        exact=True,
    )
    assert len(reduce_seconds(empty, 100).outcomes) == 0
