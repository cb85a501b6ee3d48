"""What goes with a run, and what its window keeps."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.runs.annotations.repository import find_markers
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.documents import end_of
from loadwatch_backend.runs.registry.places import Places, bytes_of
from loadwatch_backend.runs.registry.repository import count_of, find_baseline, find_spans
from loadwatch_backend.runs.registry.tables import RunReviewRow, RunRow, RunShareRow, RunSnapshotRow
from loadwatch_backend.runs.registry.windows import Window, merge_windows, window_of
from loadwatch_backend.runs.schemas import Deletion

FORGOTTEN_MS = 24 * 3_600_000
"""A run that nobody ended and nothing is heard of pins no more than this after its last sign of life."""


@dataclass(eq=False)
class PinnedWindows:
    """Windows of all runs, for the store's retention. Raises when the database is away: nothing is deleted then."""

    _relational: Relational
    _clock: Clock
    _held: dict[object, Window] = field(default_factory=dict[object, Window])

    @contextmanager
    def hold(self, window: Window) -> Generator[None]:
        """Pin a window whose run is not in the database yet."""
        key = object()
        self._held[key] = window
        try:
            yield
        finally:
            del self._held[key]

    def __call__(self) -> Sequence[Window]:
        """(start, end) in ms, merged."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            rows = find_spans(session)
        windows = [
            window_of(started, ended if ended is not None else _open_end(state, started, seen, planned, now_ms))
            for state, started, ended, seen, planned in rows
        ]
        return merge_windows([*windows, *self._held.copy().values()])


def _open_end(state: str, started_ms: int, seen_ms: int, planned_seconds: float | None, now_ms: int) -> int:
    if state != RunState.RUNNING:
        return max(started_ms, seen_ms)
    planned_ms = started_ms + round(min(planned_seconds or 0, 1e9) * 1_000)
    return min(max(now_ms, started_ms), max(seen_ms, planned_ms) + FORGOTTEN_MS)


def describe_deletion(session: Session, row: RunRow, places: Places, now_ms: int, retention_ms: int) -> Deletion:
    """What would go with a run."""
    start_ms, end_ms = window_of(row.started_ms, end_of(row, now_ms))
    return Deletion(
        run=row.id,
        record_bytes=bytes_of(places.files(row.id).directory),
        records=row.requests or 0 if places.files(row.id).records.exists() else 0,
        window_from_ms=start_ms,
        window_to_ms=end_ms,
        samples_past_retention=start_ms < now_ms - retention_ms,
        reviews=count_of(session, RunReviewRow, row.id),
        snapshots=count_of(session, RunSnapshotRow, row.id),
        shares=count_of(session, RunShareRow, row.id),
        markers=len(find_markers(session, row.id)),
        was_baseline=find_baseline(session, row.scenario) == row.id,
    )
