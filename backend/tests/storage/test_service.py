"""Figures of a real embedded store."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.core import room
from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.room import DiskFullError
from loadwatch_backend.series.storage.service import Storage
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, Labels, Matcher, MatchOperator

BEGIN_MS = 486_111 * HOUR_MS
NOW_MS = BEGIN_MS + 3_500_000
"""All samples are of this hour, which the store does not seal by itself."""
SERIES: list[Labels] = [
    *({"__name__": "many", "job": "a", "i": str(i)} for i in range(20)),
    {"__name__": "long", "job": "b"},
    {"__name__": "lonely"},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: NOW_MS)
    yield store
    store.close()


def fill(store: EmbeddedStore) -> None:
    ids = store.resolve(SERIES)
    counts = [10] * 20 + [3_000, 1]
    times = np.concatenate([BEGIN_MS + 1_000 * np.arange(count, dtype=np.int64) for count in counts])
    batch = Batch(series=np.repeat(ids, counts), timestamps=times, values=np.zeros(len(times)))
    store.append(batch).result(timeout=120)


def storage(store: EmbeddedStore, tmp_path: Path, now: list[float]) -> Storage:
    return Storage(
        store,
        data=tmp_path,
        retention_ms=15 * 24 * HOUR_MS,
        rollup_retention_ms=400 * 24 * HOUR_MS,
        series_limit=100,
        clock=lambda: NOW_MS,
        monotonic=lambda: now[0],
    )


def test_figures_by_metric_job_and_label(store: EmbeddedStore, tmp_path: Path) -> None:
    fill(store)
    store.seal(BEGIN_MS + 60_000)
    found = storage(store, tmp_path, [0.0]).figures(2)
    assert (found.hot.samples, found.sealed.samples) == (3_201 - 261, 261)
    assert (found.series, found.series_limit) == (22, 100)
    assert (found.oldest_ms, found.newest_ms) == (BEGIN_MS, BEGIN_MS + 2_999_000)
    assert [(one.name, one.series, one.samples) for one in found.metrics] == [("long", 1, 3_000), ("many", 20, 200)]
    assert [(one.name, one.series) for one in found.metrics_by_series] == [("many", 20), ("lonely", 1)]
    assert [(one.name, one.series, one.samples) for one in found.jobs] == [("b", 1, 3_000), ("a", 20, 200)]
    assert [(one.name, one.values) for one in found.labels] == [("i", 20), ("__name__", 3)]
    assert (found.metrics_total, found.jobs_total, found.labels_total) == (3, 3, 3)
    everything = storage(store, tmp_path, [0.0]).figures(1_000)
    assert [one.name for one in everything.jobs] == ["b", "a", ""]
    assert abs(sum(one.bytes for one in everything.metrics) - found.hot.bytes - found.sealed.bytes) < 10
    assert found.file_bytes > 0


def test_figures_are_read_again_after_half_a_minute(store: EmbeddedStore, tmp_path: Path) -> None:
    now = [0.0]
    figures = storage(store, tmp_path, now)
    empty = figures.figures(10)
    assert (empty.series, empty.oldest_ms, empty.metrics) == (0, None, [])
    fill(store)
    assert figures.figures(10).series == 0
    now[0] = 31.0
    assert figures.figures(10).series == 22


def test_a_clock_that_jumped_is_among_the_figures_at_once(tmp_path: Path) -> None:
    wall = [NOW_MS]
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), SteadyClock(lambda: wall[0], lambda: 0.0))
    figures = storage(store, tmp_path, [0.0])
    assert figures.figures(1).clock_jump_ms == 0
    wall[0] += 480 * HOUR_MS
    assert figures.figures(1).clock_jump_ms == 480 * HOUR_MS
    store.close()


def test_compacting_seals_everything_and_loses_nothing(store: EmbeddedStore, tmp_path: Path) -> None:
    fill(store)
    done = storage(store, tmp_path, [0.0]).compact()
    assert done.sealed_samples == 3_201
    assert done.after_bytes > 0
    found = storage(store, tmp_path, [0.0]).figures(10)
    assert (found.hot.samples, found.sealed.samples) == (0, 3_201)
    everything = store.select([Matcher("__name__", MatchOperator.NOT_EQUAL, "")], 0, NOW_MS)
    assert len(everything.values) == 3_201


def test_without_room_nothing_is_compacted(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    monkeypatch.setattr(room, "RESERVE_BYTES", 1 << 60)
    with pytest.raises(DiskFullError, match="MiB free"):
        storage(store, tmp_path, [0.0]).compact()
    assert storage(store, tmp_path, [0.0]).figures(10).hot.samples == 3_201
