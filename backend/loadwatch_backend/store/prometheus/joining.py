"""The engine's samples and ours as one selection: of a repeated (series, time) ours wins, which is the later one."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.store.embedded.block import Cut, Rows, join_cuts
from loadwatch_backend.store.port import Labels, Selection
from loadwatch_backend.store.prometheus.wire import SeriesSamples

EMPTY = Selection(
    labels=(), offsets=np.zeros(1, np.int64), timestamps=np.empty(0, np.int64), values=np.empty(0, np.float64)
)


def join(parts: Sequence[SeriesSamples], own: Sequence[Labels], cuts: Sequence[Cut]) -> Selection:
    """All samples; the series that we know, in their order, then the others by their labels.

    `parts` are the engine's; the i-th of `own` has the rows that the `cuts` have of the i-th series.
    """
    ranks = {frozenset(labels.items()): rank for rank, labels in enumerate(own)}
    labels: list[Labels] = list(own)
    placed: list[tuple[int, int, SeriesSamples]] = []
    for part in sorted(parts, key=lambda one: sorted(one.labels.items())):
        if len(part.timestamps):
            key = frozenset(part.labels.items())
            rank = ranks.setdefault(key, len(labels))
            if rank == len(labels):
                labels.append(part.labels)
            placed.append((rank, int(part.timestamps[0]), part))
    placed.sort(key=lambda one: one[:2])
    offsets, times, values = join_cuts(
        [_cut([(rank, part) for rank, _, part in placed], len(labels)), *(_wider(cut, len(labels)) for cut in cuts)],
        len(labels),
    )
    full = np.flatnonzero(offsets[1:] > offsets[:-1])
    if not len(full):
        return EMPTY
    return Selection(
        labels=[labels[rank] for rank in full.tolist()],
        offsets=np.append(offsets[full], offsets[-1]),
        timestamps=times,
        values=values,
    )


def _cut(placed: Sequence[tuple[int, SeriesSamples]], count: int) -> Cut:
    """The engine's samples, by rank and time."""
    sizes = np.zeros(count, np.int64)
    for rank, part in placed:
        sizes[rank] += len(part.timestamps)
    stops = np.cumsum(sizes)
    times = np.concatenate([np.empty(0, np.int64), *(part.timestamps for _, part in placed)])
    rows = Rows(
        keys=times.view(np.uint64),
        values=np.concatenate([np.empty(0), *(part.values for _, part in placed)]),
        first_ms=min((int(part.timestamps[0]) for _, part in placed), default=0),
    )
    return Cut(block=rows, starts=stops - sizes, stops=stops)


def _wider(cut: Cut, count: int) -> Cut:
    """Of more series, of which it has nothing."""
    none = np.zeros(count - len(cut.starts), np.int64)
    return Cut(block=cut.block, starts=np.append(cut.starts, none), stops=np.append(cut.stops, none))
