"""When each limit was first reached within a span: what was looked at once is not looked at again."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.signals.headroom import FULL, full_spans, least_full_ms
from loadwatch_backend.signals.model import Resource

FloatArray = npt.NDArray[np.float64]

STEP_MS = 1_000
LONGEST_MS = 3_600_000
"""How far back the order of limits is told: each second is looked at."""
LATE_MS = 10_000
"""Samples of agents may come this long after their time: so much is looked at once more."""
LEAD_MS = 15_000
"""What was full before a span is looked for so far back."""
NEARLY = 0.95
"""A rate over five seconds may read a little less on one grid than on another."""

Key = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """used / limit of a resource's entries, [entry, instant], NaN where unknown; instant i is `start_ms + i * step`.

    `interval_ms` is how often samples come.
    """

    keys: Sequence[Key]
    values: FloatArray
    start_ms: int
    interval_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFull:
    """Since when a limit was full, first within a span; `before`: it was so already when the span began."""

    at_ms: int
    before: bool
    interval_ms: int


Look = Callable[[int, int], Ratios]
"""Ratios of each second from one time up to another."""
Span = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What is known of one resource between two times: from when to when each entry was full."""

    from_ms: int
    to_ms: int
    interval_ms: int = STEP_MS
    spans: dict[Key, list[Span]] = field(default_factory=dict[Key, list[Span]])


class Reached:
    """Remembers of the present, for all who ask; safe to use from any thread."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._lock = threading.Lock()

    def since(
        self, resource: Resource, since_ms: int, at_ms: int, look: Look, coarse: FloatArray, coarse_ms: int
    ) -> Mapping[Key, FirstFull]:
        """The entries that were full at any time of the span that ends at the present.

        Args:
            resource: what they are entries of.
            since_ms: begin of the span, within `LONGEST_MS`.
            at_ms: the present.
            look: reads what is not known yet.
            coarse: ratios of `look`'s entries, the last at `at_ms`: where none of them is full, nothing was for long.
            coarse_ms: distance of those.
        """
        with self._lock:
            seen = self._seen.get(resource.id)
            if seen is None or since_ms < seen.from_ms or at_ms < seen.to_ms:
                seen = self._seen[resource.id] = _Seen(from_ms=since_ms - LEAD_MS, to_ms=since_ms - LEAD_MS)
            begin_ms = max(seen.to_ms - least_full_ms(seen.interval_ms) - LATE_MS, seen.from_ms)
            if at_ms - seen.to_ms >= STEP_MS and not _is_calm(coarse, coarse_ms, at_ms - begin_ms):
                try:
                    _extend(seen, look(begin_ms, at_ms))
                except ProblemError:
                    # Too much to read: where the order cannot be told, none is.
                    del self._seen[resource.id]
                    return {}
            seen.to_ms = max(seen.to_ms, at_ms)
            _forget(seen, at_ms - LONGEST_MS)
            return _first(seen, since_ms, at_ms)


def first_full(ratios: Ratios, step_ms: int, since_ms: int, at_ms: int) -> Mapping[Key, FirstFull]:
    """The entries that were full at any time of a span, from all that is known of it."""
    seen = _Seen(from_ms=ratios.start_ms, to_ms=at_ms)
    _extend(seen, ratios, step_ms)
    return _first(seen, since_ms, at_ms)


def _is_calm(coarse: FloatArray, coarse_ms: int, span_ms: int) -> bool:
    """Whether nothing was nearly full in the last `span_ms`; False where the coarse values do not reach so far."""
    steps = -(-span_ms // coarse_ms) + 1
    return bool(steps <= coarse.shape[-1] and not (coarse[..., -steps:] >= NEARLY).any())


def _extend(seen: _Seen, ratios: Ratios, step_ms: int = STEP_MS) -> None:
    seen.interval_ms = ratios.interval_ms
    least = -(-least_full_ms(ratios.interval_ms) // step_ms)
    for row, key in enumerate(ratios.keys):
        for first, last in full_spans(ratios.values[row] >= FULL, least):
            _add(seen.spans.setdefault(key, []), ratios.start_ms + first * step_ms, ratios.start_ms + last * step_ms)


def _add(spans: list[Span], from_ms: int, to_ms: int) -> None:
    """One that overlaps the last one goes on from there: its begin is the true one."""
    if spans and from_ms <= spans[-1][1] + STEP_MS:
        spans[-1] = (spans[-1][0], max(spans[-1][1], to_ms))
    else:
        spans.append((from_ms, to_ms))


def _forget(seen: _Seen, before_ms: int) -> None:
    if seen.from_ms < before_ms:
        seen.from_ms = before_ms
        seen.spans = {
            key: kept for key, spans in seen.spans.items() if (kept := [one for one in spans if one[1] >= before_ms])
        }


def _first(seen: _Seen, since_ms: int, at_ms: int) -> Mapping[Key, FirstFull]:
    found: dict[Key, FirstFull] = {}
    for key, spans in seen.spans.items():
        inside = [one for one in spans if one[1] > since_ms and one[0] <= at_ms]
        if inside:
            from_ms = min(inside)[0]
            found[key] = FirstFull(
                at_ms=max(from_ms, since_ms), before=from_ms <= since_ms, interval_ms=seen.interval_ms
            )
    return found
