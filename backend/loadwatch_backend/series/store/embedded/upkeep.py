"""What keeps the embedded store in order beside its commits: sealing, converting, giving back room, loading."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import structlog

from loadwatch_backend.series.store.embedded.arrow import Columns
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.sealed import Piece
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS

log = structlog.get_logger(__name__)

_AHEAD_ROWS = 2_000_000
_DEAD_BYTES = 256 << 20
"""Less is used again soon: a table of samples in order of arrival comes and goes each hour."""
_MOVE_PAUSE_S = 3_600


class SealedAhead:
    """Sealed samples on their way into the head, decoded before the writer waits for them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns: Columns | None = None
        self._last_ms = -1
        self.first_ms = 0

    def look(self, end_ms: int, span_ms: int) -> None:
        """Decode a span that ends there, of an hour or of what is asked for, unless it is decoded."""
        if self.covers(end_ms):
            return
        self.forget()
        first_ms = max(min(end_ms // HOUR_MS * HOUR_MS, end_ms - span_ms + 1), 0)
        rows = self._database.sealed_rows(first_ms, end_ms)
        if rows > _AHEAD_ROWS:
            first_ms = end_ms - (end_ms - first_ms) * _AHEAD_ROWS // rows
        self._columns = self._database.slice_sealed(first_ms, end_ms)
        self.first_ms, self._last_ms = first_ms, end_ms

    def covers(self, time_ms: int) -> bool:
        """Whether the sealed samples of a time are here."""
        return self._columns is not None and self.first_ms <= time_ms <= self._last_ms

    def cut(self, start_ms: int, end_ms: int) -> Columns:
        """Those with start_ms <= time <= end_ms; it must cover both."""
        columns = self._columns
        if columns is None:
            raise ValueError("nothing was looked at")
        kept = np.flatnonzero((columns.timestamps >= start_ms) & (columns.timestamps <= end_ms))
        return Columns(series=columns.series[kept], timestamps=columns.timestamps[kept], values=columns.values[kept])

    def forget(self) -> None:
        """Let go of the memory."""
        self._columns, self.first_ms, self._last_ms = None, 0, -1


class Upkeep:
    """Moves samples within the file; `checkpoint` folds its log in, between two commits. One thread at a time."""

    def __init__(self, database: Database, checkpoint: Callable[[], Any], stopping: threading.Event) -> None:
        self._database = database
        self._checkpoint = checkpoint
        self._stopping = stopping
        self._to_convert: Sequence[Piece] | None = None
        self._to_roll_up: Sequence[int] | None = None
        self.joined_day: int | None = None
        self._moved_at: float | None = None
        self.sealed_rows = 0
        """Since the start."""

    def seal(self, before_ms: int) -> int:
        """Seal what came before a time; returns how many samples."""
        count = 0
        for piece in self._database.pieces_to_seal(before_ms):
            moved = self._database.seal(piece)
            self.sealed_rows += moved
            if self.joined_day is not None and piece.first_ms // DAY_MS < self.joined_day:
                # Of an import, or of an agent that was away: days that were joined have rows apart again.
                self.joined_day = None
            count += moved
        if count:
            self._checkpoint()
        return count

    def convert(self) -> float | None:
        """Convert one piece of what an earlier version sealed; the seconds it took, or None when there is nothing."""
        if self._to_convert is None:
            self._to_convert = self._database.pieces_to_convert()
            if self._to_convert:
                log.info("sealed samples of an earlier version are converted", pieces=len(self._to_convert))
        if not self._to_convert:
            return None
        begin = time.monotonic()
        # After an error it is looked for anew: this piece may be done, and its table gone.
        (piece, *left), self._to_convert = self._to_convert, None
        self._database.convert(piece)
        self._checkpoint()
        self._to_convert = left
        if not self._to_convert:
            log.info("all sealed samples of an earlier version are converted")
        return time.monotonic() - begin

    def roll_up(self) -> float | None:
        """Make the rollups of an hour that an earlier version sealed; returns as `convert`."""
        if self._to_roll_up is None:
            self._to_roll_up = self._database.unrolled_hours()
            if self._to_roll_up:
                log.info("rollups are made of samples of an earlier version", hours=len(self._to_roll_up))
        if not self._to_roll_up:
            return None
        begin = time.monotonic()
        (hour, *left), self._to_roll_up = self._to_roll_up, None
        self._database.roll_up(hour)
        self._checkpoint()
        self._to_roll_up = left
        if not self._to_roll_up:
            log.info("all samples of an earlier version have rollups")
        return time.monotonic() - begin

    def join_days(self, before_ms: int) -> None:
        """Make one row of rollups for each series of the days that ended before a time."""
        day = before_ms // DAY_MS
        if self.joined_day == day:
            return
        for piece in self._database.days_to_join(before_ms):
            if self._stopping.is_set():
                return
            self._database.join(piece)
            self._checkpoint()
        # Hours that have no rollups yet are joined when they have.
        if not self._to_roll_up:
            self.joined_day = day

    def give_back_room(self, *, asked: bool = False) -> None:
        """Make the file shorter when more than half of it holds nothing; by itself only where that is much.

        DuckDB puts what is written into the first free room, and cuts the file off behind the last block in use: all
        segments and rollups are written again, some hours in each transaction.
        """
        if not asked and self._moved_at is not None and time.monotonic() < self._moved_at + _MOVE_PAUSE_S:
            return
        dead, used = self._database.dead_bytes()
        if dead < max(0 if asked else _DEAD_BYTES, used):
            return
        self._moved_at = time.monotonic()
        before = self._database.nbytes()
        for one in self._database.moves():
            if self._stopping.is_set():
                return
            self._database.move(one)
            self._checkpoint()
        log.info("room was given back to the disk", bytes_before=before, bytes_after=self._database.nbytes())
