from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.evidence.records import figures
from loadwatch_backend.evidence.records.accumulator import ENDPOINTS_KEPT, ENDPOINTS_SHOWN, Accumulator, Summary
from loadwatch_backend.evidence.records.columns import Columns
from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS
from loadwatch_backend.evidence.records.quantiles import quantile
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from backend.tests.records.making import START_MS, make_records

QS = (0.5, 0.9, 0.95, 0.99)
DAY_NS = 86_400 * 10**9


def accumulate(path: Path, *batches: Columns, endpoints: int = 1) -> tuple[Accumulator, Summary]:
    accumulator = Accumulator(path / "records.parquet")
    accumulator.endpoints.encode(np.arange(endpoints, dtype=np.int32), [f"GET /{at}" for at in range(endpoints)])
    accumulator.errors.encode(np.arange(8, dtype=np.int32), [kind.value for kind in OUTCOMES[1:]])
    for batch in batches:
        accumulator.add(batch)
    return accumulator, accumulator.finish()


def assert_exact(summary: Summary, records: Columns) -> None:
    """Against sorting everything at once."""
    assert summary.seconds is not None
    assert summary.seconds.latency is not None
    first = summary.seconds.start_ms // 1000
    second = records.time_ns // 10**9 - first
    assert len(summary.seconds.outcomes) == second.max() + 1
    for at in range(len(summary.seconds.outcomes)):
        mine = np.sort(records.latency_ns[second == at])
        assert summary.seconds.requests[at] == len(mine)
        if len(mine):
            expected = [quantile(mine, q) / 1e9 for q in QS] + [mine[-1] / 1e9]
            assert summary.seconds.latency[at].tolist() == expected
        else:
            assert np.isnan(summary.seconds.latency[at]).all()
    everything = np.sort(records.latency_ns)
    figures = summary.figures.latency
    assert [figures.p50, figures.p90, figures.p95, figures.p99] == [quantile(everything, q) / 1e9 for q in QS]
    assert figures.mean == int(records.latency_ns.sum()) / len(everything) / 1e9
    assert (figures.min, figures.max) == (everything[0] / 1e9, everything[-1] / 1e9)


def shuffled(records: Columns, parts: int) -> list[Columns]:
    order = np.random.default_rng(3).permutation(len(records.time_ns))
    marks = np.zeros(len(order), dtype=np.int64)
    marks[order] = np.arange(len(order)) % parts
    return [records.where(marks == part) for part in range(parts)]


def test_sums_and_percentiles(tmp_path: Path) -> None:
    records = make_records(requests=5_000, failures=[(Outcome.TIMEOUT, 0.1), (Outcome.HTTP_5XX, 0.05)])
    _, summary = accumulate(tmp_path, records)
    assert_exact(summary, records)
    assert summary.figures.requests == 5_000
    assert sum(summary.figures.outcomes.values()) == 5_000
    assert summary.figures.status_codes["0"] == summary.figures.outcomes[Outcome.TIMEOUT]
    assert summary.figures.bytes_in == 15_000
    assert dict(summary.errors) == {
        "timeout": summary.figures.outcomes[Outcome.TIMEOUT],
        "http_5xx": summary.figures.outcomes[Outcome.HTTP_5XX],
    }


def test_late_records_are_exact_however_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "SPAN_ROWS", 1_000)  # so that seconds come together over several spans
    records = make_records(requests=20_000, seconds=600.0)
    _, summary = accumulate(tmp_path, *shuffled(records, 7))
    assert_exact(summary, records)


def test_a_crowded_second_and_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "SPAN_ROWS", 1_000)
    crowd = make_records(requests=5_000, seconds=0.5)
    later = make_records(requests=10, seconds=1.0, start_ms=START_MS + 3_600_000)
    _, summary = accumulate(tmp_path, crowd, later)
    whole = Columns(
        **{name: np.concatenate((getattr(crowd, name), getattr(later, name))) for name in Columns.__dataclass_fields__}
    )
    assert_exact(summary, whole)


def test_absurd_times_make_no_endless_series(tmp_path: Path) -> None:
    records = make_records(requests=1_000)
    times = records.time_ns.copy()
    times[3], times[7], times[9] = 0, 4_102_444_800 * 10**9, 2**63 - 1
    accumulator, summary = accumulate(tmp_path, replace(records, time_ns=times))
    assert summary.figures.requests == 997
    assert summary.seconds is not None
    assert len(summary.seconds.outcomes) == 10
    assert (accumulator.bad_times.count, accumulator.bad_times.first) == (3, 4)


def test_creeping_times_stop_at_the_longest_run(tmp_path: Path) -> None:
    batches = [make_records(requests=1, start_ms=START_MS + day * 86_400_000) for day in range(40)]
    accumulator, summary = accumulate(tmp_path, *batches)
    assert summary.figures.requests == 32
    assert accumulator.bad_times.first == 33


@pytest.mark.parametrize(
    ("batches", "kept"),
    [
        ([range(33)], 32),
        ([range(31)], 31),
        ([[0] * 9 + [60]], 9),
        ([[10, 11], [0, 35, 20]], 4),
        ([[-30, *range(30)]], 30),
    ],
)
def test_a_run_is_never_longer_than_the_longest(tmp_path: Path, batches: list[list[int]], kept: int) -> None:
    made = make_records(requests=64)
    some = [
        replace(
            made.where(np.arange(64) < len(days)), time_ns=START_MS * 10**6 + np.array(days, dtype=np.int64) * DAY_NS
        )
        for days in batches
    ]
    _, summary = accumulate(tmp_path, *some)
    assert summary.figures.requests == kept


def test_absurd_latencies_are_left_out(tmp_path: Path) -> None:
    latency = np.array([1, -5, 2 * DAY_NS, 7], dtype=np.int64)
    accumulator, summary = accumulate(tmp_path, make_records(requests=4, latency_ms=latency))
    assert summary.figures.requests == 2
    assert (accumulator.bad_latencies.count, accumulator.bad_latencies.first) == (2, 2)


def test_zero_requests(tmp_path: Path) -> None:
    accumulator, summary = accumulate(tmp_path)
    assert (summary.figures.requests, summary.figures.rate, summary.seconds) == (0, None, None)
    assert not (tmp_path / "records.parquet").exists()
    assert accumulator.records == 0


def test_one_request(tmp_path: Path) -> None:
    _, summary = accumulate(tmp_path, make_records(requests=1))
    assert summary.figures.rate is None
    assert summary.figures.latency.p50 == summary.figures.latency.max


def test_endpoints_add_up(tmp_path: Path) -> None:
    names = [f"GET /{at}" for at in range(5)]
    records = make_records(requests=10_003, endpoints=names, failures=[(Outcome.RESET, 0.2)])
    _, summary = accumulate(tmp_path, records, endpoints=5)
    assert [endpoint.name for endpoint in summary.endpoints] == names
    for at, endpoint in enumerate(summary.endpoints):
        mine = np.sort(records.latency_ns[records.endpoint == at])
        assert endpoint.figures.requests == len(mine)
        assert endpoint.figures.latency.p99 == quantile(mine, 0.99) / 1e9
        assert endpoint.figures.latency.max == mine[-1] / 1e9
    resets = sum(endpoint.figures.outcomes[Outcome.RESET] for endpoint in summary.endpoints)
    assert resets == summary.figures.outcomes[Outcome.RESET]


def test_a_million_names(tmp_path: Path) -> None:
    accumulator = Accumulator(tmp_path / "records.parquet")
    for first in range(0, 1_000_000, 100_000):
        records = make_records(requests=100_000, start_ms=START_MS + first // 100)
        names = [f"GET /user/{at}" for at in range(first, first + 100_000)]
        codes = accumulator.endpoints.encode(np.arange(100_000, dtype=np.int32), names)
        accumulator.add(replace(records, endpoint=codes, error=None))
    summary = accumulator.finish()
    assert len(accumulator.endpoints.names) == ENDPOINTS_KEPT + 1
    assert summary.endpoints_overflowed
    assert len(summary.endpoints) == ENDPOINTS_SHOWN
    assert summary.endpoints[-1].name == OTHER_ENDPOINTS
    assert sum(endpoint.figures.requests for endpoint in summary.endpoints) == 1_000_000


def test_users_hold_until_the_next_sample(tmp_path: Path) -> None:
    accumulator = Accumulator(tmp_path / "records.parquet")
    accumulator.endpoints.encode(np.zeros(1, dtype=np.int32), ["x"])
    accumulator.add(replace(make_records(requests=100, seconds=10), error=None))
    accumulator.users(np.array([START_MS + 2_000, START_MS + 2_900, START_MS + 5_000]), np.array([1.0, 10.0, 20.0]))
    seconds = accumulator.finish().seconds
    assert seconds is not None
    assert seconds.users is not None
    assert np.isnan(seconds.users[:2]).all()
    assert seconds.users[2:].tolist() == [10, 10, 10, 20, 20, 20, 20, 20]
