"""An hour of samples in parts that are small enough for memory: of some metrics, or of a while of a large one.

Pure. The same series with the same numbers of samples give the same parts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator

PART_SAMPLES = 500_000
"""Of a part, where samples come evenly."""
_MOST_NAMES = 200
"""Metrics that one selector names."""
_NAME = "__name__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Samples of some metrics."""

    ids: Sequence[int]
    samples: int
    start_ms: int
    end_ms: int
    """The last millisecond."""
    matchers: tuple[Matcher, ...]
    """What an engine is asked for them; other series of the engine may match, too."""


def parts_of(
    hour_ms: int, ids: Sequence[int], counts: Sequence[int], labels: Callable[[int], Labels], most: int = PART_SAMPLES
) -> list[Part]:
    """The parts of an hour: whole metrics as long as they fit, larger ones by time."""
    metrics: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    for series, count in zip(ids, counts, strict=True):
        name = labels(series).get(_NAME, "")
        metrics.setdefault(name, []).append(series)
        sizes[name] = sizes.get(name, 0) + count
    parts: list[Part] = []
    for names in _groups(sizes, most):
        size = sum(sizes[name] for name in names)
        pieces = min(-(-size // most), HOUR_MS)
        edges = [hour_ms + HOUR_MS * piece // pieces for piece in range(pieces + 1)]
        for piece in range(pieces):
            parts.append(
                Part(
                    ids=sorted(series for name in names for series in metrics[name]),
                    samples=size * (piece + 1) // pieces - size * piece // pieces,
                    start_ms=edges[piece],
                    end_ms=edges[piece + 1] - 1,
                    matchers=(Matcher(_NAME, MatchOperator.REGEX, "|".join(map(re.escape, names))),),
                )
            )
    return parts


def _groups(sizes: dict[str, int], most: int) -> Iterator[list[str]]:
    names: list[str] = []
    for name, size in sorted(sizes.items()):
        # Not every engine finds series without a name by an alternative.
        alone = "" in (name, *names)
        if names and (alone or sum(map(sizes.__getitem__, names)) + size > most or len(names) == _MOST_NAMES):
            yield names
            names = []
        names.append(name)
    if names:
        yield names
