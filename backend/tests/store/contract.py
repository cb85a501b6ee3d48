"""What every engine behind the port to samples must do. A test class derives from this and provides `open_store`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.series.store.errors import NewSeriesLimitError, PatternError
from loadwatch_backend.series.store.port import (
    STALE_NAN_BITS,
    Batch,
    Labels,
    Matcher,
    MatchOperator,
    MetricMetadata,
    SampleStore,
)

NOW_MS = 1_750_000_000_000
EQUAL, NOT_EQUAL, REGEX, NOT_REGEX = MatchOperator
METRIC = Matcher("__name__", EQUAL, "m")

OpenStore = Callable[[], AbstractContextManager[SampleStore]]


def append(store: SampleStore, labels: Labels, *rows: tuple[int, float]) -> None:
    """Store rows of one series, times in seconds after NOW_MS, and wait until they are on disk."""
    series = store.resolve([labels])[0]
    batch = Batch(
        series=np.full(len(rows), series, np.uint32),
        timestamps=np.array([NOW_MS + 1000 * second for second, _ in rows], np.int64),
        values=np.array([value for _, value in rows], np.float64),
    )
    store.append(batch).result(timeout=120)


def select(
    store: SampleStore, *matchers: Matcher, start: int = -7200, end: int = 7200
) -> dict[str, list[tuple[int, float]]]:
    """Rows by the label `i` of their series, times in seconds after NOW_MS."""
    found = store.select(list(matchers) or [METRIC], NOW_MS + 1000 * start, NOW_MS + 1000 * end)
    assert len(found.offsets) == len(found.labels) + 1
    assert found.offsets[-1] == len(found.timestamps) == len(found.values)
    rows: dict[str, list[tuple[int, float]]] = {}
    for place, labels in enumerate(found.labels):
        part = slice(found.offsets[place], found.offsets[place + 1])
        seconds = ((found.timestamps[part] - NOW_MS) // 1000).tolist()
        rows[labels["i"]] = list(zip(seconds, found.values[part].tolist(), strict=True))
    return rows


def series_of(count: int) -> list[Labels]:
    return [{"__name__": "m", "i": str(number), "even": "yes" if number % 2 == 0 else "no"} for number in range(count)]


class StoreContract:
    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("the engine's test class provides this")

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[SampleStore]:
        with open_store() as store:
            yield store

    def test_an_empty_store_answers(self, store: SampleStore) -> None:
        assert store.newest_ms() is None
        assert select(store) == {}
        assert store.series([], 0, NOW_MS) == []
        assert store.label_names([], 0, NOW_MS) == []
        assert store.label_values("i", [], 0, NOW_MS) == []
        assert dict(store.metadata()) == {}

    def test_what_is_appended_is_selected(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0"}, (0, 1.5), (1, -2.5))
        append(store, {"__name__": "m", "i": "1"}, (1, 7.0))
        assert select(store) == {"0": [(0, 1.5), (1, -2.5)], "1": [(1, 7.0)]}
        assert store.newest_ms() == NOW_MS + 1000

    def test_both_ends_of_the_span_are_included(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0"}, *((second, float(second)) for second in range(10)))
        assert select(store, start=3, end=5) == {"0": [(3, 3.0), (4, 4.0), (5, 5.0)]}
        assert select(store, start=20, end=30) == {}
        assert select(store, start=5, end=4) == {}

    def test_late_samples_take_their_place(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0"}, (10, 1.0), (11, 2.0))
        append(store, {"__name__": "m", "i": "0"}, (5, 3.0), (3, 4.0))
        assert select(store) == {"0": [(3, 4.0), (5, 3.0), (10, 1.0), (11, 2.0)]}

    def test_of_repeated_samples_the_last_wins(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0"}, (0, 1.0), (1, 1.0), (1, 2.0))
        append(store, {"__name__": "m", "i": "0"}, (0, 3.0))
        assert select(store) == {"0": [(0, 3.0), (1, 2.0)]}

    @pytest.mark.parametrize("bits", [STALE_NAN_BITS, 0x7FF8000000000001, 0x7FF0000000000000, 0xFFF0000000000000, 1])
    def test_every_bit_of_a_value_is_kept(self, open_store: OpenStore, bits: int) -> None:
        value = np.array([bits], np.uint64).view(np.float64)[0]
        with open_store() as store:
            append(store, {"__name__": "m", "i": "0"}, (0, 1.0), (1, value), (2, 2.0))
            assert _bits(store) == bits
        with open_store() as store:
            assert _bits(store) == bits

    def test_everything_is_there_after_opening_again(self, open_store: OpenStore) -> None:
        entry = MetricMetadata(type="counter", help="What it counts.", unit="seconds")
        with open_store() as store:
            store.put_metadata({"m": entry})
            append(store, {"__name__": "m", "i": "0", "text": "日本 \n\"'"}, (0, 1.0))
        with open_store() as store:
            append(store, {"__name__": "m", "i": "0", "text": "日本 \n\"'"}, (1, 2.0))
            append(store, {"__name__": "m", "i": "1"}, (1, 3.0))
            assert select(store) == {"0": [(0, 1.0), (1, 2.0)], "1": [(1, 3.0)]}
            assert store.metadata()["m"] == entry
            assert store.newest_ms() == NOW_MS + 1000

    def test_ids_hold(self, store: SampleStore) -> None:
        first = store.resolve(series_of(5))
        assert len(set(first.tolist())) == 5
        assert store.resolve(list(reversed(series_of(5)))).tolist() == first.tolist()[::-1]
        assert store.resolve([{"i": "3", "even": "no", "__name__": "m"}]).tolist() == [first[3]]

    def test_too_many_new_series_make_none(self, store: SampleStore) -> None:
        store.resolve(series_of(3))
        with pytest.raises(NewSeriesLimitError, match="5 new series"):
            store.resolve(series_of(8), most_new=4)
        assert len(store.resolve(series_of(7), most_new=4)) == 7

    @pytest.mark.parametrize(
        ("matchers", "expected"),
        [
            ([METRIC], "0 1 2 3 4 5 x"),
            ([METRIC, Matcher("i", EQUAL, "3")], "3"),
            ([METRIC, Matcher("i", NOT_EQUAL, "3")], "0 1 2 4 5 x"),
            ([METRIC, Matcher("even", EQUAL, "yes"), Matcher("i", NOT_EQUAL, "2")], "0 4"),
            ([METRIC, Matcher("even", EQUAL, "")], "x"),
            ([METRIC, Matcher("even", NOT_EQUAL, "")], "0 1 2 3 4 5"),
            ([METRIC, Matcher("even", NOT_EQUAL, "yes")], "1 3 5 x"),
            ([METRIC, Matcher("i", REGEX, "1|2|9")], "1 2"),
            ([METRIC, Matcher("i", REGEX, "[0-2]")], "0 1 2"),
            ([METRIC, Matcher("i", NOT_REGEX, "[0-2]|x")], "3 4 5"),
            ([METRIC, Matcher("even", REGEX, "y.*|")], "0 2 4 x"),
            ([METRIC, Matcher("even", REGEX, ".+")], "0 1 2 3 4 5"),
            ([METRIC, Matcher("even", REGEX, ".*")], "0 1 2 3 4 5 x"),
            ([METRIC, Matcher("even", NOT_REGEX, "(?i)YES")], "1 3 5 x"),
            ([METRIC, Matcher("even", REGEX, "ye")], ""),
            ([Matcher("i", REGEX, "[4-6]"), Matcher("__name__", REGEX, "m|n")], "4 5"),
            ([Matcher("__name__", EQUAL, "other")], ""),
        ],
    )
    def test_matchers(self, store: SampleStore, matchers: list[Matcher], expected: str) -> None:
        labels = [*series_of(6), {"__name__": "m", "i": "x"}]
        ids = store.resolve(labels)
        store.append(
            Batch(series=ids, timestamps=np.full(len(ids), NOW_MS, np.int64), values=np.zeros(len(ids)))
        ).result(timeout=120)
        assert list(select(store, *matchers)) == expected.split()

    def test_a_bad_pattern_is_named(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0"}, (0, 1.0))
        with pytest.raises(PatternError, match="RE2"):
            select(store, METRIC, Matcher("i", REGEX, "(?=a)"))

    def test_labels_are_listed(self, store: SampleStore) -> None:
        append(store, {"__name__": "m", "i": "0", "old": "yes"}, (-5000, 1.0))
        append(store, {"__name__": "m", "i": "1", "zone": "b"}, (0, 1.0))
        append(store, {"__name__": "n", "i": "2", "zone": "a"}, (0, 1.0))
        everything = (NOW_MS - 10_000_000, NOW_MS)
        assert store.label_names([], *everything) == ["__name__", "i", "old", "zone"]
        assert store.label_values("zone", [], *everything) == ["a", "b"]
        assert store.label_values("zone", [[METRIC]], *everything) == ["b"]
        assert store.label_values("i", [[METRIC], [Matcher("zone", EQUAL, "a")]], *everything) == ["0", "1", "2"]
        assert store.label_values("nothing", [], *everything) == []
        assert [labels["i"] for labels in store.series([[METRIC]], NOW_MS - 1000, NOW_MS)] == ["1"]
        assert "old" not in store.label_names([], NOW_MS - 1000, NOW_MS)

    def test_order_of_series_is_that_of_arrival(self, store: SampleStore) -> None:
        for name in ("c", "a", "b"):
            append(store, {"__name__": "m", "i": name}, (0, 1.0))
        assert list(select(store)) == ["c", "a", "b"]

    def test_a_random_history_reads_like_a_dictionary(self, store: SampleStore) -> None:
        random = np.random.default_rng(20260101)
        ids = store.resolve(series_of(20))
        expected: dict[str, dict[int, float]] = {}
        for _ in range(60):
            count = int(random.integers(1, 400))
            which = random.integers(0, len(ids), count)
            seconds = random.integers(-3000, 3000, count)
            values = random.normal(size=count)
            timestamps: npt.NDArray[np.int64] = NOW_MS + seconds * 1000
            store.append(Batch(series=ids[which], timestamps=timestamps, values=values)).result(timeout=120)
            for number, second, value in zip(which.tolist(), seconds.tolist(), values.tolist(), strict=True):
                expected.setdefault(str(number), {})[second] = value
        for start, end in ((-3000, 3000), (-100, 100), (0, 0), (2999, 9000)):
            wanted = {
                name: sorted((second, value) for second, value in rows.items() if start <= second <= end)
                for name, rows in sorted(expected.items(), key=lambda item: int(item[0]))
            }
            assert select(store, start=start, end=end) == {name: rows for name, rows in wanted.items() if rows}


def _bits(store: SampleStore) -> int:
    found = store.select([METRIC], NOW_MS + 1000, NOW_MS + 1000)
    return int(found.values.view(np.uint64)[0])
