import pytest
from loadwatch_backend.evidence.routes import classes_of, ranks_of

INF = float("inf")


def test_that_a_rank_is_within_its_bucket() -> None:
    ranks = ranks_of({0.1: 50.0, 0.2: 90.0, 0.4: 99.0, 0.8: 100.0, INF: 100.0})
    assert (ranks["p50"].low, ranks["p50"].high, ranks["p50"].value) == (0.0, 0.1, None), "nothing tells how far below"
    assert (ranks["p90"].low, ranks["p90"].high) == (0.1, 0.2)
    assert ranks["p90"].value == pytest.approx(0.1414, abs=1e-4)
    assert (ranks["p99"].low, ranks["p99"].high) == (0.2, 0.4)
    assert (ranks["max"].low, ranks["max"].high) == (0.4, 0.8)


def test_that_what_is_beyond_the_last_bound_has_no_value() -> None:
    ranks = ranks_of({1.0: 97.0, INF: 100.0})
    assert (ranks["p99"].value, ranks["p99"].low, ranks["p99"].high) == (None, 1.0, None)


def test_that_a_share_of_a_request_at_the_windows_end_is_no_maximum() -> None:
    assert ranks_of({1.0: 99.7, 2.0: 100.0, INF: 100.0})["max"].high == 1.0


@pytest.mark.parametrize("buckets", [{}, {1.0: 0.0, INF: 0.0}, {INF: 0.2}])
def test_that_without_requests_there_are_no_ranks(buckets: dict[float, float]) -> None:
    assert ranks_of(buckets) == {}


def test_classes_with_304_apart() -> None:
    found = classes_of({"200": 5, "201": 1, "304": 2, "302": 1, "0": 3, "-": 1, "503": 4, "404": 0})
    assert found == {"2xx": 6, "304": 2, "3xx": 1, "5xx": 4, "none": 4}
