import numpy as np
from loadwatch_backend.evidence.records.figures import spans


def test_spans_hold_all_busy_seconds() -> None:
    requests = np.array([0, 2_000_000, 500_000, 5_000_000, 0, 0, 1, 2_999_999, 1])
    found = list(spans(requests))
    assert found == [(0, 3), (3, 4), (4, 8), (8, 9)]
    assert not list(spans(np.zeros(100, dtype=np.int64)))
