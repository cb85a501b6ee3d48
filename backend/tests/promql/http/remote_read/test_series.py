"""Series in groups that fit, of a store whose samples do not fit at once."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.promql.admission.memory import LABELS_BYTES, READ_BYTES, MemoryPool
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.errors import QueryTooLargeError
from loadwatch_backend.promql.http.remote_read import series
from loadwatch_backend.promql.http.remote_read.request import ReadQuery
from loadwatch_backend.promql.http.remote_read.series import read_series
from loadwatch_backend.store.embedded.engine import open_embedded
from loadwatch_backend.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.store.port import Batch, Matcher, MatchOperator, SampleStore

FIRST_MS = 1_700_000_000_000
SERIES, SAMPLES = 40, 100
ALL = ReadQuery(
    matchers=(Matcher("__name__", MatchOperator.EQUAL, "x"),), start_ms=FIRST_MS, end_ms=FIRST_MS + SAMPLES * 1_000
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleStore]:
    folder: Path = tmp_path_factory.mktemp("store")
    store = open_embedded(EmbeddedSettings(data_directory=folder), lambda: FIRST_MS + SAMPLES * 1_000)
    # The last one has all labels of the first, and one more.
    labels = [{"__name__": "x", "i": f"{number:02}"} for number in range(SERIES - 1)]
    ids = store.resolve([*labels, {"__name__": "x", "i": "00", "j": "1"}])
    store.append(
        Batch(
            series=np.repeat(ids, SAMPLES),
            timestamps=np.tile(FIRST_MS + 1_000 * np.arange(SAMPLES, dtype=np.int64), SERIES),
            values=np.arange(SERIES * SAMPLES, dtype=np.float64),
        )
    ).result(timeout=120)
    try:
        yield store
    finally:
        store.close()


@pytest.mark.parametrize("most", [SERIES * SAMPLES, 1_000, 2 * SAMPLES, SAMPLES, 1])
def test_groups_give_the_same_series_in_order(store: SampleStore, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(series, "GROUP_SAMPLES", most)
    pool = MemoryPool(1 << 24, 1 << 22)
    ticket = pool.ticket()
    found = list(read_series(Engine(store), ALL, ticket))
    assert [dict(one.labels)["i"] for one in found] == [
        "00",
        "00",
        *(f"{number:02}" for number in range(1, SERIES - 1)),
    ]
    assert found == sorted(found, key=lambda one: one.labels)
    assert found[1].values.tolist() == [float((SERIES - 1) * SAMPLES + place) for place in range(SAMPLES)]
    assert all(len(one.timestamps) == SAMPLES for one in found)
    # Labels of a whole list are kept until the end; samples are given back with each group.
    assert ticket.held_bytes <= SERIES * LABELS_BYTES
    ticket.close()
    assert pool.used_bytes == 0


def test_a_series_that_has_no_room_is_refused(store: SampleStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "GROUP_SAMPLES", 1)
    pool = MemoryPool(1 << 24, SERIES * LABELS_BYTES + (SAMPLES - 1) * READ_BYTES)
    with pytest.raises(QueryTooLargeError, match="a shorter range"):
        list(read_series(Engine(store), ALL, pool.ticket()))
