from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.evidence.records import parquet
from loadwatch_backend.evidence.records.figures import figures_of
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import OUTCOME_CODES
from loadwatch_backend.evidence.records.quantiles import quantile
from loadwatch_formats.outcomes import Outcome

from backend.tests.records.making import START_MS, make_records, make_result

START_NS = START_MS * 1_000_000


@pytest.mark.parametrize(("low", "high"), [(0, 100), (10, 20), (12.345, 12.346), (50, 51), (-100, 5), (99, 1_000)])
def test_any_window_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, low: float, high: float) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 1_000)  # so that windows touch some row groups and pass others
    records = make_records(requests=10_000, seconds=100.0, failures=[(Outcome.HTTP_4XX, 0.1)])
    make_result(tmp_path, records)
    from_ns, to_ns = START_NS + int(low * 1e9), START_NS + int(high * 1e9)
    inside = (records.time_ns >= from_ns) & (records.time_ns < to_ns)
    mine = np.sort(records.latency_ns[inside])
    found = figures_of(RunFiles(tmp_path), from_ns, to_ns)
    assert found.requests == len(mine)
    assert found.duration_seconds == pytest.approx(high - low)
    assert found.rate == pytest.approx(len(mine) / (high - low))
    if len(mine):
        assert found.latency.p95 == quantile(mine, 0.95) / 1e9
        assert found.latency.min == mine[0] / 1e9
        wrong = int((records.outcome[inside] == OUTCOME_CODES[Outcome.HTTP_4XX]).sum())
        assert found.outcomes.get(Outcome.HTTP_4XX, 0) == wrong
        assert found.success_ratio == pytest.approx(1 - wrong / len(mine))
        assert found.bytes_in == 3 * len(mine)


def test_a_window_without_requests(tmp_path: Path) -> None:
    make_result(tmp_path)
    found = figures_of(RunFiles(tmp_path), 0, 10**9)
    assert (found.requests, found.rate, found.success_ratio, found.latency.p50) == (0, 0.0, None, None)


def test_missing_records_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(parquet.DamagedRecordsError, match="Import the result file again"):
        figures_of(RunFiles(tmp_path), 0, 10**9)
