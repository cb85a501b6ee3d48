"""Samples as OpenMetrics text, family by family, in memory that is fixed before the first line.

Of a family some metrics are read at a time, as many as fit; one that does not fit by itself is read span by span. So
the text is in the order that OpenMetrics asks for however much there is, and no more of it is in memory than a block.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.exports.text import END, Family, GroupKey, group_key, head, plan_families, samples_text
from loadwatch_backend.series.promql.admission.memory import LABELS_BYTES, Ticket
from loadwatch_backend.series.store.errors import QueryLimitError
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader, Selection

BLOCK_SAMPLES = 200_000
SAMPLE_BYTES = 320
"""A sample while a block is read and written: its columns, what they are read from, and the text of its line."""
MOST_GROUPS = 200
"""Metrics of a family that are read at once."""
_PATTERN_CHARACTERS = 4_000

Selectors = Sequence[Sequence[Matcher]]


class _BlockFullError(Exception):
    """There are more samples than one block may hold."""


@dataclass(frozen=True, slots=True)
class _Block:
    """`Reading` of one block."""

    most_samples: int
    cancellation: Cancellation

    def reserve(self, samples: int) -> None:
        """See `Reading`."""
        if samples > self.most_samples:
            raise _BlockFullError


class Exports:
    """Safe to use from any thread."""

    def __init__(self, store: Reader) -> None:
        self._store = store

    def text(self, selectors: Selectors, start_ms: int, end_ms: int, ticket: Ticket) -> Iterator[bytes]:
        """All samples in the span of the series that meet any of the selectors, or of all series without one.

        Memory for all of it is taken before the first piece: errors of it, and of the selectors, come before that.
        """
        names = self._store.label_values("__name__", selectors, start_ms, end_ms)
        families = plan_families(names, self._store.metadata())
        most = max((len(self._labels(family, selectors, start_ms, end_ms)) for family in families), default=0)
        ticket.take(most * LABELS_BYTES)
        block = max(1, min(BLOCK_SAMPLES, ticket.room_bytes // 2 // SAMPLE_BYTES))
        ticket.take(block * SAMPLE_BYTES)
        for family in families:
            labels = self._labels(family, selectors, start_ms, end_ms)
            if labels:
                yield head(family)
                yield from _FamilyText(self._store, family, labels, _Block(block, ticket.cancellation)).pieces(
                    start_ms, end_ms
                )
        yield END

    def _labels(self, family: Family, selectors: Selectors, start_ms: int, end_ms: int) -> list[Labels]:
        name = one_of("__name__", family.metrics)
        return self._store.series([(*one, name) for one in (selectors or [()])], start_ms, end_ms)


class _FamilyText:
    def __init__(self, store: Reader, family: Family, labels: Sequence[Labels], block: _Block) -> None:
        self._store = store
        self._family = family
        self._block = block
        self._groups = sorted({group_key(one, family) for one in labels})
        self._names = {name for group in self._groups for name, _ in group}
        # What the selectors leave out of a metric, one bucket say, stays out.
        self._series = {frozenset(one.items()) for one in labels}
        self._length_ms: int | None = None
        """Of a span that fitted, for the next metric that is read span by span."""

    def pieces(self, start_ms: int, end_ms: int) -> Iterator[bytes]:
        """The family's samples."""
        at, size = 0, MOST_GROUPS
        while at < len(self._groups):
            groups = self._groups[at : at + size]
            found = self._read(groups, start_ms, end_ms)
            if found is not None:
                yield from self._text(found, groups)
                at += len(groups)
                if len(found.timestamps) < self._block.most_samples // 4:
                    size = min(MOST_GROUPS, size * 2)
            elif len(groups) > 1:
                size = len(groups) // 2
            else:
                yield from self._in_spans(groups, start_ms, end_ms)
                at += 1

    def _in_spans(self, groups: Sequence[GroupKey], start_ms: int, end_ms: int) -> Iterator[bytes]:
        at, length = start_ms, self._length_ms or max(1, (end_ms - start_ms) // 2)
        while at <= end_ms:
            last = min(end_ms, at + length - 1)
            found = self._read(groups, at, last, bounded=length > 1)
            if found is None:
                # What fitted before is nearer than half of a span that has grown over years without a sample.
                length = max(1, min(length // 2, self._length_ms or length))
                continue
            yield from self._text(found, groups)
            at = last + 1
            if len(found.timestamps):
                self._length_ms = length
            if len(found.timestamps) < self._block.most_samples // 4:
                length *= 2

    def _text(self, found: Selection, groups: Sequence[GroupKey]) -> Iterator[bytes]:
        return samples_text(found, self._family, frozenset(groups), self._series)

    def _read(
        self, groups: Sequence[GroupKey], start_ms: int, end_ms: int, *, bounded: bool = True
    ) -> Selection | None:
        """What the store has of some metrics; None when it is more than a block, unless it cannot be less."""
        self._block.cancellation.check()
        matchers = self._matchers(groups)
        try:
            return self._store.select(matchers, start_ms, end_ms, self._block if bounded else None)
        except (_BlockFullError, QueryLimitError):
            if bounded:
                return None
            raise

    def _matchers(self, groups: Sequence[GroupKey]) -> list[Matcher]:
        """Conditions that all of the metrics meet, and few others."""
        matchers = [one_of("__name__", self._family.metrics)]
        for name in sorted(self._names):
            values = sorted({next((value for key, value in group if key == name), "") for group in groups})
            if len(values) == 1 or sum(map(len, values)) < _PATTERN_CHARACTERS:
                matchers.append(one_of(name, values))
        return matchers


def one_of(label: str, values: Sequence[str]) -> Matcher:
    """The label has one of the values; the empty one means that it is not there."""
    if len(values) == 1:
        return Matcher(label, MatchOperator.EQUAL, values[0])
    return Matcher(label, MatchOperator.REGEX, "|".join(map(re.escape, values)))
