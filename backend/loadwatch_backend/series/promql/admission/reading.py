"""Reading samples with memory that was taken for them before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.promql.admission.memory import LABELS_BYTES, READ_BYTES, SAMPLE_BYTES, Ticket
from loadwatch_backend.series.promql.errors import QueryMemoryError
from loadwatch_backend.series.store.levels import MINUTE_SAMPLES, Level, Span
from loadwatch_backend.series.store.port import LevelledSelect, Matcher, Select, Selection


class SliceTooLargeError(QueryMemoryError):
    """More samples than a slice may have; `found` of them at least."""

    def __init__(self, found: int) -> None:
        super().__init__(
            f"a single step of the query reads {found} samples or more, for which a query has not memory enough:"
            " ask for fewer series or a shorter range, or raise LOADWATCH_QUERY_MEMORY_BYTES"
        )
        self.found = found


@dataclass(slots=True)
class SliceReading:
    """What a slice may read: `loadwatch_backend.series.store.port.Reading`."""

    ticket: Ticket
    most_samples: int

    @property
    def cancellation(self) -> Cancellation:
        """See `Reading`."""
        return self.ticket.cancellation

    def reserve(self, samples: int) -> None:
        """See `Reading`."""
        if samples > self.most_samples:
            raise SliceTooLargeError(samples)
        self.ticket.take(samples * READ_BYTES)


def read_within(
    ticket: Ticket, most_samples: int, read: Callable[[SliceReading], Sequence[Selection]]
) -> Sequence[Selection]:
    """Selections for which the ticket has taken memory.

    Raises:
        SliceTooLargeError: there are more than `most_samples`.
        QueryMemoryError, QueryBusyError, CancelledError: see `Ticket.take`.
    """
    before = ticket.held_bytes
    try:
        selections = read(SliceReading(ticket, most_samples))
    except BaseException:
        ticket.give(ticket.held_bytes - before)
        raise
    kept = sum(
        len(one.timestamps) * SAMPLE_BYTES * (1 if one.minutes is None else MINUTE_SAMPLES)
        + len(one.labels) * LABELS_BYTES
        for one in selections
    )
    rest = ticket.held_bytes - before - kept
    if rest >= 0:
        ticket.give(rest)
    else:
        ticket.take(-rest)
    return selections


def select_within(
    select: Select, ticket: Ticket, most_samples: int, source: tuple[Sequence[Matcher], Level], span: Span
) -> Selection:
    """`select` at a level, within memory that the ticket takes; raises as `read_within`."""
    matchers, level = source
    # Stores without rollups know of no level, and are asked for none.
    levelled = cast("LevelledSelect", select)
    more = () if level is Level.RAW else (level,)
    (selection,) = read_within(ticket, most_samples, lambda reading: [levelled(matchers, *span, reading, *more)])
    return selection
