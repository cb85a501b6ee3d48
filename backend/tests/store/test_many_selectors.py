"""`ManySelector` on the embedded store gives what one selector after another gives."""

from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import (
    STALE_NAN_BITS,
    Batch,
    ManySelector,
    Matcher,
    MatchOperator,
    Selection,
)

NOW = 1_700_000_000_000
SERIES = [{"__name__": f"m{metric}", "host": f"h{host}"} for host in range(7) for metric in range(3)]


def equal(label: str, value: str) -> Matcher:
    return Matcher(label, MatchOperator.EQUAL, value)


WANTED = [
    [equal("__name__", "m0")],
    [equal("__name__", "m1"), equal("host", "h3")],
    [equal("__name__", "none")],
    [Matcher("host", MatchOperator.REGEX, "h[0-4]")],
    [equal("__name__", "m0")],
]


@pytest.fixture
def store(tmp_path: Path) -> Generator[EmbeddedStore]:
    opened = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: NOW)
    try:
        ids = opened.resolve(SERIES)
        chance = np.random.default_rng(7)
        for commit in range(40):
            chosen = chance.choice(ids, 9)
            # Mostly newer than before; now and then late, and often at a time that is there already.
            times = NOW - 60_000 + commit * 1_000 - chance.choice([0, 0, 0, 1_000, 30_000], 9)
            values = chance.random(9)
            if commit % 7 == 0:
                values.view(np.uint64)[:2] = STALE_NAN_BITS
            opened.append(Batch(series=chosen, timestamps=times.astype(np.int64), values=values)).result()
        yield opened
    finally:
        opened.close()


def rows(selection: Selection) -> list[tuple[tuple[tuple[str, str], ...], list[int], list[int]]]:
    bounds = selection.offsets.tolist()
    return [
        (
            tuple(sorted(labels.items())),
            selection.timestamps[first:end].tolist(),
            np.ascontiguousarray(selection.values[first:end]).view(np.uint64).tolist(),
        )
        for labels, first, end in zip(selection.labels, bounds[:-1], bounds[1:], strict=True)
    ]


SPANS = [(NOW - 100_000, NOW), (NOW - 40_000, NOW - 30_000), (NOW - 25_000, NOW - 24_000), (NOW, NOW - 1), (0, 5)]


def test_it_answers_many(store: EmbeddedStore) -> None:
    assert isinstance(store, ManySelector)
    assert store.select_many([], 0, NOW) == []
    assert store.select_newest([], 0, NOW) == []


@pytest.mark.parametrize("span", SPANS)
def test_many(store: EmbeddedStore, span: tuple[int, int]) -> None:
    found = store.select_many(WANTED, *span)
    assert [rows(one) for one in found] == [rows(store.select(matchers, *span)) for matchers in WANTED]


@pytest.mark.parametrize("span", SPANS)
def test_newest(store: EmbeddedStore, span: tuple[int, int]) -> None:
    found = store.select_newest(WANTED, *span)
    expected = [
        [(labels, times[-1:], values[-1:]) for labels, times, values in rows(store.select(matchers, *span))]
        for matchers in WANTED
    ]
    assert [rows(one) for one in found] == expected


def test_newest_of_what_is_on_the_disk(tmp_path: Path) -> None:
    settings = EmbeddedSettings(data_directory=tmp_path, head_bytes=2_000)
    store = open_embedded(settings, lambda: NOW)
    try:
        ids = store.resolve(SERIES)
        for second in range(60):
            times = np.full(len(ids), NOW - 60_000 + second * 1_000, np.int64)
            count = len(ids) if second < 30 else 5  # Some series end in what is no longer in memory.
            store.append(
                Batch(series=ids[:count], timestamps=times[:count], values=np.full(count, float(second)))
            ).result()
        found = store.select_newest(WANTED, NOW - 60_000, NOW)
        assert [[(values[-1:]) for _, _, values in rows(one)] for one in found] == [
            [values[-1:] for _, _, values in rows(store.select(matchers, NOW - 60_000, NOW))] for matchers in WANTED
        ]
    finally:
        store.close()
