"""Compares the checksums of all blocks of DuckDB's file, some at a time, and says what rests on those that are wrong.

Reading beside DuckDB finds damage that its cache hides, at the speed of the disk, and without the locks of a query.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing

import structlog

from loadwatch_backend.core.database.set_aside import SAMPLES
from loadwatch_backend.series.store.embedded.damage import BLOCK_BYTES, HEADERS, SEALED, is_damage, is_whole, losses_on
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.errors import StoreWriteError
from loadwatch_backend.series.store.losses import Loss, loss_text

log = structlog.get_logger(__name__)

STEP_BLOCKS = (64 << 20) // BLOCK_BYTES
"""Read in one step: some 50 ms."""
IDLE_SHARE = 20
"""A step is followed by a pause of so many times its own length: five percent of a core."""
AGAIN_SECONDS = 24 * 3_600.0
_URGENT_SECONDS = 60.0


class Check:
    """One pass after the start, one a day, and one whenever damage was met. One thread at a time.

    While the file is damaged nothing in it is moved or deleted: each of that reads blocks, and a checkpoint that meets
    a damaged one invalidates the database.
    """

    def __init__(self, database: Database, run: Callable[[Callable[[], None]], None], earlier: Sequence[Loss]) -> None:
        """`run` does a job between two commits, so that no checkpoint is under way; `earlier` was lost before."""
        self._database = database
        self._run = run
        self._earlier = earlier
        self._found: dict[int, list[Loss]] = {}
        self._next = -HEADERS
        self._due = 0.0
        self.is_urgent = False
        """Whether damage was met of which the hours are not known yet."""
        self._urgent_at = -_URGENT_SECONDS
        self._passed = False
        self.losses: Sequence[Loss] = earlier
        """What damage took, and what it holds; for any thread."""
        self.checked_blocks = 0
        """Since the start."""

    @property
    def allows_changes(self) -> bool:
        """Whether the first pass is over and found nothing."""
        return self._passed and not self._found and not self.is_urgent

    def refuse_changes(self) -> None:
        """Raise StoreWriteError where the file is damaged."""
        if self._found:
            raise StoreWriteError(
                f"{SAMPLES} is damaged ({loss_text(self.losses)}): nothing in it is sealed, moved or deleted"
            )

    def meet(self, error: BaseException) -> None:
        """Compare all blocks at once if an error says that the file is damaged. For any thread."""
        now = time.monotonic()
        if is_damage(error) and now >= self._urgent_at + _URGENT_SECONDS:
            self.is_urgent, self._urgent_at = True, now

    def step(self) -> float | None:
        """Compare some blocks, or all when damage was met; the pause in seconds after it, None when none is due."""
        begin = time.monotonic()
        if not self.is_urgent and begin < self._due:
            return None
        total = self._database.total_blocks()
        first, end = self._next, min(self._next + STEP_BLOCKS, total)
        if self.is_urgent:
            first, end, self.is_urgent = -HEADERS, total, False
        wrong = [one for one in range(first, end) if one not in self._found and not is_whole(self._database.file, one)]
        if wrong:
            self._run(lambda: self._note(wrong))
        self.checked_blocks += end - max(first, 0)
        self._next = end
        if end >= total:
            self._next, self._due, self._passed = -HEADERS, time.monotonic() + AGAIN_SECONDS, True
        return (time.monotonic() - begin) * IDLE_SHARE

    def _note(self, suspects: Sequence[int]) -> None:
        """Say what rests on blocks that are damaged still: a checkpoint may have been writing them."""
        for number in suspects:
            if is_whole(self._database.file, number):
                continue
            # Not in a transaction, which the first block that cannot be read would end.
            with closing(self._database.cursor()) as cursor:
                lost = losses_on(cursor, number)
            if not lost:
                continue
            self._found[number] = lost
            log.error(
                "the file of samples is damaged: restore a backup, or run `loadwatch store salvage` without the server",
                file=SAMPLES,
                block=number,
                damaged=loss_text(lost),
            )
            if any(one.part not in SEALED for one in lost):
                self._database.hold_log()
        found = {(one.part, one.first_ms, one.last_ms): one for lost in self._found.values() for one in lost}
        self.losses = [*self._earlier, *sorted(found.values(), key=lambda one: (one.first_ms or 0, one.part))]
