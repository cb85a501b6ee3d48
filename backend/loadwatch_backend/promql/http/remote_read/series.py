"""Series of a remote-read query, read in groups that fit into the memory that one query may have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadwatch_backend.promql.admission.memory import LABELS_BYTES, READ_BYTES, Ticket
from loadwatch_backend.promql.admission.reading import SliceTooLargeError, read_within
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.http.remote_read.request import ReadQuery
from loadwatch_backend.promql.labels import LabelKey, label_key
from loadwatch_backend.promql.value import FloatArray, IntArray
from loadwatch_backend.store.port import ManySelector, Matcher, MatchOperator, Reading, Selection

GROUP_SAMPLES = 500_000
"""Of series that are read at once; a single series may have what memory there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSeries:
    """One series with its samples in rising time, stale markers among them."""

    labels: LabelKey
    timestamps: IntArray
    values: FloatArray


def read_series(engine: Engine, query: ReadQuery, ticket: Ticket) -> Iterator[ReadSeries]:
    """The series of a query, sorted by labels.

    Whole when they are few; else group by group, each group's memory given back before the next is read.

    Raises:
        QueryTooLargeError: too many series, or one with more samples than a query has memory for.
        QueryBusyError, CancelledError: see `Ticket.take`. All of them also in the middle.
    """
    reader = _GroupReader(engine, query, ticket)
    try:
        yield from reader.all()
        return
    except SliceTooLargeError:
        pass
    keys = reader.keys()
    place, size = 0, max(1, len(keys) // 8)
    while place < len(keys):
        group = keys[place : place + size]
        try:
            found = reader.group(group)
        except SliceTooLargeError:
            if size == 1:
                raise
            size = max(1, size // 4)
            continue
        yield from found
        place += len(group)
        size = min(size * 2, len(keys))


class _GroupReader:
    def __init__(self, engine: Engine, query: ReadQuery, ticket: Ticket) -> None:
        self._engine = engine
        self._query = query
        self._ticket = ticket

    def keys(self) -> Sequence[LabelKey]:
        query = self._query
        found = self._engine.store.series([query.matchers], query.start_ms, query.end_ms)
        self._engine.check_size(0, len(found), 1)
        self._ticket.take(len(found) * LABELS_BYTES)
        return sorted(label_key(labels) for labels in found)

    def all(self) -> Iterator[ReadSeries]:
        query = self._query
        return self._read([query.matchers], GROUP_SAMPLES)

    def group(self, keys: Sequence[LabelKey]) -> Iterator[ReadSeries]:
        wanted = [tuple(Matcher(name, MatchOperator.EQUAL, value) for name, value in key) for key in keys]
        most = GROUP_SAMPLES if len(keys) > 1 else self._ticket.room_bytes // READ_BYTES
        return self._read(wanted, most, frozenset(keys))

    def _read(
        self, wanted: Sequence[tuple[Matcher, ...]], most: int, only: frozenset[LabelKey] | None = None
    ) -> Iterator[ReadSeries]:
        """Reads at once, and gives the memory back when all has been taken."""
        query, ticket, select = self._query, self._ticket, self._engine.select
        store = self._engine.store

        def read(reading: Reading) -> Sequence[Selection]:
            if isinstance(store, ManySelector) and len(wanted) > 1:
                return store.select_many(wanted, query.start_ms, query.end_ms, reading)
            return [select(one, query.start_ms, query.end_ms, reading) for one in wanted]

        before = ticket.held_bytes
        selections = read_within(ticket, most, read)
        kept = ticket.held_bytes - before
        self._engine.check_size(0, sum(len(one.labels) for one in selections), 1)
        found: dict[LabelKey, ReadSeries] = {}
        for selection in selections:
            for row, labels in enumerate(selection.labels):
                key = label_key(labels)
                # Matchers for all labels of a series also meet those that have more of them.
                if only is None or key in only:
                    part = slice(int(selection.offsets[row]), int(selection.offsets[row + 1]))
                    found[key] = ReadSeries(
                        labels=key, timestamps=selection.timestamps[part], values=selection.values[part]
                    )

        def give() -> Iterator[ReadSeries]:
            for key in sorted(found):
                yield found.pop(key)
            ticket.give(kept)

        return give()
