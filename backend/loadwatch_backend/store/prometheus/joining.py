"""The engine's samples and ours as one selection: of a repeated (series, time) ours wins, which is the later one."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.store.embedded.block import TIME_BITS, TIME_MASK, Cut, build_block, join_cuts
from loadwatch_backend.store.port import Labels, Selection
from loadwatch_backend.store.prometheus.wire import SeriesSamples

EMPTY = Selection(
    labels=(), offsets=np.zeros(1, np.int64), timestamps=np.empty(0, np.int64), values=np.empty(0, np.float64)
)


def join(parts: Sequence[SeriesSamples], own: Sequence[Labels], cuts: Sequence[Cut]) -> Selection:
    """All samples; the series that we know, in their order, then the others by their labels.

    `parts` are the engine's; the i-th of `own` has the rows that the `cuts` have of the i-th series.
    """
    offsets, own_times, own_values = join_cuts(cuts, len(own))
    ranks = {frozenset(labels.items()): rank for rank, labels in enumerate(own)}
    labels: list[Labels] = list(own)
    for part in sorted(parts, key=lambda one: sorted(one.labels.items())):
        key = frozenset(part.labels.items())
        if key not in ranks:
            ranks[key] = len(labels)
            labels.append(part.labels)
    placed = sorted(((ranks[frozenset(part.labels.items())], part) for part in parts), key=lambda item: item[0])
    counts = [len(part.timestamps) for _, part in placed]
    series = np.concatenate(
        [
            np.repeat(np.array([rank for rank, _ in placed], np.uint32), counts),
            np.repeat(np.arange(len(own), dtype=np.uint32), np.diff(offsets)),
        ]
    )
    if not len(series):
        return EMPTY
    block = build_block(
        series,
        np.concatenate([*(part.timestamps for _, part in placed), own_times]),
        np.concatenate([*(part.values for _, part in placed), own_values]),
    )
    borders = np.arange(len(block.series) + 1, dtype=np.uint64) << TIME_BITS
    chosen: list[int] = block.series.tolist()
    return Selection(
        labels=[labels[rank] for rank in chosen],
        offsets=np.searchsorted(block.keys, borders).astype(np.int64),
        timestamps=(block.keys & TIME_MASK).astype(np.int64),
        values=block.values,
    )
