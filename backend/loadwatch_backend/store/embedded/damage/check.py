"""Looks at the checksums of all blocks of the file, some at a time, and has what is damaged contained."""

import time
from collections.abc import Callable, Sequence

import structlog

from loadwatch_backend.store.embedded.damage.containment import CONTENTS, NAMES, is_damage
from loadwatch_backend.store.embedded.database import Database
from loadwatch_backend.store.losses import Loss
from loadwatch_backend.store.set_aside import suffix_of

log = structlog.get_logger(__name__)

STEP_BYTES = 64 << 20
"""Read in one step: some 50 ms."""
IDLE_SHARE = 20
"""A step is followed by a pause of so many times its own length: five percent of a core."""
AGAIN_SECONDS = 24 * 3_600.0
_URGENT_SECONDS = 60.0


class Check:
    """One pass after the start, one a day, and one whenever damage was met. One thread at a time."""

    def __init__(
        self,
        database: Database,
        run: Callable[[Callable[[], None]], None],
        clock: Callable[[], int],
        write_names: Callable[[], None] | None = None,
    ) -> None:
        """`run` does a job between two commits, so that no checkpoint is under way.

        `write_names` writes those of all series anew, where they are known.
        """
        self._database = database
        self._run = run
        self._clock = clock
        self._write_names = write_names
        self._next = 0
        self._due = 0.0
        self._urgent = False
        self._urgent_at = -_URGENT_SECONDS
        self._left: dict[int, str] = {}
        self._kept: list[Loss] = []
        self.checked_blocks = 0
        self.mended_blocks = 0
        """Since the start."""

    @property
    def losses(self) -> Sequence[Loss]:
        """What damage has taken, and what it holds; for any thread."""
        return self._kept

    @property
    def is_urgent(self) -> bool:
        """Whether damage was met that is not contained yet: all else may fail for it."""
        return self._urgent

    def begin(self) -> None:
        """Read what was lost before the start."""
        self._database.finish_containing()
        self.read()

    def read(self) -> None:
        """Read again what is lost; after retention, for example."""
        left = [Loss(part=part) for part in sorted(set(self._left.values()))]
        self._kept = [*self._database.losses(), *left]

    def meet(self, error: BaseException) -> bool:
        """Look at once if an error says that the file is damaged; whether it does. For any thread."""
        if not is_damage(error):
            return False
        now = time.monotonic()
        if now >= self._urgent_at + _URGENT_SECONDS:
            self._urgent, self._urgent_at = True, now
        return True

    def step(self) -> float | None:
        """Look at some blocks, or at all when damage was met; the pause in seconds after it, None when none is due."""
        begin = time.monotonic()
        if self._urgent:
            self.whole()
            self._urgent = False
            return None
        if begin < self._due:
            return None
        count = max(STEP_BYTES // self._database.blocks.block_bytes, 1)
        self._look(self._next, self._next + count)
        self._next += count
        if self._next >= len(self._database.blocks):
            self._next, self._due = 0, time.monotonic() + AGAIN_SECONDS
        return (time.monotonic() - begin) * IDLE_SHARE

    def whole(self) -> None:
        """Look at all blocks."""
        self._look(0, len(self._database.blocks))

    def _look(self, first: int, end: int) -> None:
        suspects = [one for one in self._database.blocks.damaged(first, end) if one not in self._left]
        if suspects:
            self._run(lambda: self._contain(suspects))
        self.checked_blocks += min(end, len(self._database.blocks)) - first

    def _contain(self, suspects: list[int]) -> None:
        numbers: list[int] = []
        for number in self._database.blocks.damaged_still(suspects):
            if self._database.blocks.mend(number):
                self.mended_blocks += 1
                log.error("a wrong byte of the file was put right: look at the disk and the memory", block=number)
            else:
                numbers.append(number)
        if not numbers:
            return
        done = self._database.contain(numbers, suffix_of(self._clock()))
        left = done.left
        if NAMES in left.values() and self._write_names is not None:
            self._write_names()
            log.error("the table of series was damaged: it is written again from memory, and nothing of it is lost")
            left = {number: part for number, part in left.items() if part != NAMES}
        for number, part in left.items():
            log.error(
                "the file of samples is damaged: stop the server and run `loadwatch store repair`",
                table="the file's own contents" if part == CONTENTS else part,
                block=number,
            )
        self._left.update(left)
        self.read()
