"""What is counted of a statement, and how sums that a server may begin anew become sums that never fall. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadwatch_formats.metrics.mysql_statements import FIELDS

Counts = tuple[float, ...]
"""In the order of `FIELDS`; times in seconds."""
NOTHING: Counts = (0.0,) * len(FIELDS)
CALLS = list(FIELDS).index("calls")
SECONDS = list(FIELDS).index("seconds")
MOST_KNOWN = 20_000
"""Statements that are remembered between two readings."""


def counted(**values: float) -> Counts:
    """What a source tells, by the names of `FIELDS`; the rest is 0."""
    return tuple(float(values.get(name, 0.0)) for name in FIELDS)


class Key(NamedTuple):
    """Which statement: the database it ran in, and what its server or its fingerprint calls it."""

    schema: str
    digest: str


class Row(NamedTuple):
    """A row of a table of sums.

    Attributes:
        key: more than one row may have it.
        since: when the row was made, as text; a row that was emptied and made anew has another one.
        counts: since then.
        word: the first word of the statement in small letters.
    """

    key: Key
    since: str
    counts: Counts
    word: str


class Growth(NamedTuple):
    """How much each statement has grown since the last reading, and how many rows had begun anew."""

    grown: Mapping[Key, Counts]
    words: Mapping[Key, str]
    resets: int


def add(one: Counts, other: Counts) -> Counts:
    """Both together."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def subtract(one: Counts, other: Counts) -> Counts:
    """What the first has more; never below 0."""
    return tuple(max(a - b, 0.0) for a, b in zip(one, other, strict=True))


class Sums:
    """Remembers a table of sums, and tells how it grew.

    A reading may hold only the rows that changed. Rows of one key are added before they are compared, so with such
    rows, and when a sum fell, the whole table is asked for.
    """

    def __init__(self) -> None:
        self._known: dict[Key, tuple[str, Counts]] | None = None
        self._begun = ""
        self._doubled = False

    @property
    def wants_whole(self) -> bool:
        """Whether the next reading has to hold every row."""
        return self._known is None or self._doubled

    def update(self, rows: Sequence[Row], *, whole: bool, now: str) -> Growth | None:
        """How much the statements have grown; None where only the whole table can tell.

        The first reading is where counting begins: nothing has grown by then.

        Args:
            rows: every row, or those that changed since the last reading and perhaps others.
            whole: whether it is every row.
            now: the time by the server's clock, as `Row.since` is.
        """
        merged: dict[Key, tuple[str, Counts]] = {}
        words: dict[Key, str] = {}
        doubled = False
        for row in rows:
            before = merged.get(row.key)
            doubled = doubled or before is not None
            merged[row.key] = (
                (row.since, row.counts) if before is None else (min(before[0], row.since), add(before[1], row.counts))
            )
            words[row.key] = row.word
        if not whole and (doubled or self.wants_whole):
            return None
        if self._known is None:
            self._known, self._begun, self._doubled = dict(list(merged.items())[:MOST_KNOWN]), now, doubled
            return Growth(grown={}, words=words, resets=0)
        grown: dict[Key, Counts] = {}
        resets = 0
        for key, (since, counts) in merged.items():
            before = self._known.get(key)
            if before is None:
                # One that was there before counting began, and was not remembered, tells nothing yet.
                grown[key] = counts if since >= self._begun else NOTHING
            elif since != before[0] or counts[CALLS] < before[1][CALLS] or counts[SECONDS] < before[1][SECONDS]:
                if not whole:
                    return None
                resets += 1
                grown[key] = counts
            else:
                grown[key] = subtract(counts, before[1])
        if whole:
            resets += any(key not in merged for key in self._known) and not resets
            self._known, self._doubled = {}, doubled
        for key, state in merged.items():
            if key in self._known or len(self._known) < MOST_KNOWN:
                self._known[key] = state
        return Growth(
            grown={key: counts for key, counts in grown.items() if counts != NOTHING}, words=words, resets=resets
        )
