"""Exports of a real store, in blocks that are too small for it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.series.exports.service import LABELS_BYTES, SAMPLE_BYTES, Exports
from loadwatch_backend.series.promql.admission import MemoryPool
from loadwatch_backend.series.promql.errors import QueryMemoryError
from loadwatch_backend.series.promql.http.parameters import parse_selector
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN, Batch, Labels, MetricMetadata, SampleStore

NOW_MS = 1_750_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SampleStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path / "data"), lambda: NOW_MS)
    yield store
    store.close()


def fill(store: SampleStore, labels: Sequence[Labels], rows: Sequence[tuple[int, float]]) -> None:
    ids = np.repeat(store.resolve(labels), len(rows))
    times = np.tile(np.array([NOW_MS + time for time, _ in rows], np.int64), len(labels))
    values = np.tile(np.array([value for _, value in rows]), len(labels))
    store.append(Batch(series=ids, timestamps=times, values=values)).result(timeout=120)


def exported(
    store: SampleStore, *selectors: str, block: int = 10_000, start: int = -3_600_000, end: int = 3_600_000
) -> str:
    ticket = MemoryPool(1 << 40, 2 * SAMPLE_BYTES * block + LABELS_BYTES * 300).ticket()
    matchers = [parse_selector(text) for text in selectors]
    pieces = Exports(store).text(matchers, NOW_MS + start, NOW_MS + end, ticket)
    return b"".join(pieces).decode()


def samples(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("block", [1, 7, 100, 10_000])
def test_blocks_of_any_size_give_the_same_text(store: SampleStore, block: int) -> None:
    labels = [{"__name__": "m", "i": str(i), "odd": "a|b.*(" if i % 2 else "c d\n"} for i in range(9)]
    fill(store, [*labels, {"__name__": "m"}], [(1_000 * step, step / 8) for step in range(30)])
    text = exported(store, block=block)
    assert text == exported(store)
    lines = samples(text)
    assert len(lines) == len(set(lines)) == 300
    assert lines[:2] == ["m 0.0 1750000000", "m 0.125 1750000001"]
    series = [line.rsplit(" ", 2)[0] for line in lines]
    assert sorted(set(series)) == list(dict.fromkeys(series))


def test_points_of_a_histogram_stand_together(store: SampleStore) -> None:
    names = [("w_bucket", "0.5"), ("w_bucket", "10"), ("w_bucket", "+Inf"), ("w_count", ""), ("w_sum", "")]
    labels = [{"__name__": name, "job": "a", **({"le": le} if le else {})} for name, le in names]
    fill(store, labels, [(0, 1.0), (1_500, 2.0)])
    store.put_metadata({"w": MetricMetadata(type="histogram", help='Say "w"\\', unit="")})
    assert exported(store).splitlines() == [
        "# TYPE w histogram",
        '# HELP w Say \\"w\\"\\\\',
        'w_bucket{job="a",le="0.5"} 1.0 1750000000',
        'w_bucket{job="a",le="10"} 1.0 1750000000',
        'w_bucket{job="a",le="+Inf"} 1.0 1750000000',
        'w_count{job="a"} 1.0 1750000000',
        'w_sum{job="a"} 1.0 1750000000',
        'w_bucket{job="a",le="0.5"} 2.0 1750000001.500',
        'w_bucket{job="a",le="10"} 2.0 1750000001.500',
        'w_bucket{job="a",le="+Inf"} 2.0 1750000001.500',
        'w_count{job="a"} 2.0 1750000001.500',
        'w_sum{job="a"} 2.0 1750000001.500',
        "# EOF",
    ]
    assert len(samples(exported(store, 'w_bucket{le="10"}'))) == 2


def test_numbers_that_are_none_and_names_beyond_the_format(store: SampleStore) -> None:
    rows = [(0, float("inf")), (1, float("-inf")), (2, float("nan")), (3, STALE_NAN)]
    fill(store, [{"__name__": "http.wait", "a.b": "x"}], rows)
    assert samples(exported(store)) == [
        '{"http.wait","a.b"="x"} +Inf 1750000000',
        '{"http.wait","a.b"="x"} -Inf 1750000000.001',
        '{"http.wait","a.b"="x"} NaN 1750000000.002',
    ]


def test_several_selectors_give_each_series_once(store: SampleStore) -> None:
    fill(store, [{"__name__": "m", "i": str(i)} for i in range(4)], [(0, 1.0)])
    assert len(samples(exported(store, 'm{i=~"[01]"}', 'm{i=~"[12]"}'))) == 3


def test_more_series_than_memory_are_refused_before_the_first_line(store: SampleStore) -> None:
    fill(store, [{"__name__": "m", "i": str(i)} for i in range(400)], [(0, 1.0)])
    with pytest.raises(QueryMemoryError):
        exported(store, block=1)
