"""What counts as the same, what as missing or changed, and what is only worth a word."""

import numpy as np
import pytest
from loadwatch_backend.store.port import STALE_NAN, Selection
from loadwatch_backend.store.prometheus.wire import SeriesSamples
from loadwatch_backend.store.transfer.comparison import Comparison, Difference, without

NAN = float("nan")
A, B = {"__name__": "a", "i": "1"}, {"__name__": "b"}


def ours(*series: tuple[dict[str, str], list[tuple[int, float]]]) -> Selection:
    counts = [len(rows) for _, rows in series]
    return Selection(
        labels=[labels for labels, _ in series],
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        timestamps=np.array([at for _, rows in series for at, _ in rows], np.int64),
        values=np.array([value for _, rows in series for _, value in rows], np.float64),
    )


def theirs(labels: dict[str, str], *rows: tuple[int, float]) -> SeriesSamples:
    times = np.array([at for at, _ in rows], np.int64)
    return SeriesSamples(labels, times, np.array([value for _, value in rows], np.float64))


def differences(mine: Selection, *found: SeriesSamples, stale: bool = True) -> dict[str, Difference]:
    comparison = Comparison(mine)
    comparison.take(found)
    return {one.metric: one for one in comparison.differences(0, stale=stale)}


def test_all_of_it_is_there() -> None:
    mine = ours((A, [(1, 1.0), (2, STALE_NAN), (3, -0.0)]), (B, [(1, 5.0)]))
    found = differences(mine, theirs(A, (1, 1.0)), theirs(B, (1, 5.0)), theirs(A, (3, 0.0), (2, STALE_NAN)))
    assert [found["a"].samples, found["b"].samples] == [3, 1]
    assert not any(one.differs for one in found.values())
    assert (found["a"].rounded, found["a"].repeated, found["a"].more) == (1, 0, 0)


def test_what_is_missing_or_changed_is_counted_by_metric() -> None:
    mine = ours((A, [(1, 1.0), (2, 2.0), (3, 3.0)]), (B, [(1, 5.0), (2, STALE_NAN)]))
    found = differences(mine, theirs(A, (1, 1.0), (2, 2.1)))
    assert (found["a"].missing, found["a"].changed) == (1, 1)
    assert (found["b"].missing, found["b"].changed) == (2, 0)


@pytest.mark.parametrize(
    ("value", "other"),
    [(STALE_NAN, NAN), (NAN, STALE_NAN), (STALE_NAN, 1.0), (1.0, NAN), (float("inf"), 1.0), (0.0, 1e-300)],
)
def test_another_value_is_one(value: float, other: float) -> None:
    assert differences(ours((A, [(1, value)])), theirs(A, (1, other)))["a"].changed == 1


def test_the_last_digits_may_be_rounded_and_it_is_said() -> None:
    one = differences(ours((A, [(1, 1 / 3), (2, 7.25)])), theirs(A, (1, 0.3333333333333), (2, 7.25)))["a"]
    assert (one.changed, one.rounded) == (0, 1)
    assert differences(ours((A, [(1, 1 / 3)])), theirs(A, (1, 0.33333333)))["a"].changed == 1


def test_a_repeated_sample_counts_once_and_each_of_its_values_must_be_ours() -> None:
    mine = ours((A, [(1, 1.0), (2, 2.0)]))
    one = differences(mine, theirs(A, (1, 1.0), (1, 1.0)), theirs(A, (2, 2.0)))["a"]
    assert (one.missing, one.changed, one.repeated, one.more) == (0, 0, 1, 0)
    assert differences(mine, theirs(A, (1, 1.0), (1, 9.0), (2, 2.0)))["a"].changed == 1


def test_what_the_engine_does_not_show_or_keep_is_no_difference() -> None:
    mine = ours((A, [(1, 1.0), (2, STALE_NAN), (3, NAN)]))
    # VictoriaMetrics' queries show markers, as NaN.
    for found in (theirs(A, (1, 1.0)), theirs(A, (1, 1.0), (2, NAN))):
        one = differences(mine, found, stale=False)["a"]
        assert not one.differs
        assert (one.samples, one.stale, one.nan_missing) == (2, 1, 1)


def test_what_is_only_there_is_said() -> None:
    found = differences(ours((A, [(1, 1.0)])), theirs(A, (1, 1.0), (9, 1.0)), theirs({"__name__": "c"}, (1, 1.0)))
    assert (found["a"].more, found["c"].more, found["c"].samples) == (1, 1, 0)
    assert not any(one.differs for one in found.values())


def test_what_is_not_there_is_left() -> None:
    mine = ours((A, [(1, 1.0), (2, 2.0)]), (B, [(1, 5.0), (2, 6.0), (3, 7.0)]))
    comparison = Comparison(mine)
    comparison.take([theirs(A, (1, 1.0), (2, 2.0)), theirs(B, (2, 6.0))])
    left = without(mine, comparison.there)
    assert left.offsets.tolist() == [0, 0, 2]
    assert left.timestamps.tolist() == [1, 3]
    assert left.values.tolist() == [5.0, 7.0]
