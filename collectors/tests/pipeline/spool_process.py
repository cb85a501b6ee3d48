"""Run by test_spool.py in a process of its own, which may be killed: a spool on a disk without room for a while.

The kernel refuses to let files grow (RLIMIT_FSIZE), as it does on a full disk; what is there can still be overwritten.
Each line in is `[operation, count]`; each line out tells how things stand, first of all at the start.
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from loadwatch_collectors.pipeline.spool import RECORD, Spool, WriteRequest
from loadwatch_collectors.series import SampleRow, Series

NOW_MS = 1_700_000_000_000
SERIES = [Series(b"wide-%d" % index) for index in range(200)]
"""A tick has so many samples that ten of them are all that is held in memory."""


class Process:
    """The spool and what was asked of it."""

    def __init__(self, folder: Path, produced: int) -> None:
        self.spool = Spool(
            folder, max_bytes=60_000, max_age_seconds=3600, clock=lambda: NOW_MS / 1000, held_samples=2_000
        )
        self.produced = produced
        self.delivered: list[int] = []
        self.operations: dict[str, Callable[[int], object]] = {
            "append": self.append,
            "deliver": self.deliver,
            "deliver late": self.deliver_late,
            "fail": self.fail,
            "refuse": self.refuse,
            "room": lambda _: limit_files(resource.RLIM_INFINITY),
            "no room": lambda _: limit_files(RECORD.size),
        }

    def append(self, count: int) -> None:
        for _ in range(count):
            self.spool.append([SampleRow(NOW_MS + self.produced, SERIES, [1.0] * len(SERIES))])
            self.produced += 1

    def deliver(self, count: int) -> None:
        for _ in range(count):
            self._take(self.spool.read(300))

    def deliver_late(self, count: int) -> None:
        """The server's answer comes after more was appended."""
        batch = self.spool.read(300)
        self.append(count)
        self._take(batch)

    def fail(self, count: int) -> None:
        """A request is lost while more is appended."""
        self.spool.read(300)
        self.append(count)

    def refuse(self, _: int) -> None:
        batch = self.spool.read(300)
        if batch is not None:
            self.spool.discard(batch, batch.samples)

    def tell(self) -> str:
        """How things stand, and the ticks that were delivered since it was last asked."""
        delivered, self.delivered = self.delivered, []
        return json.dumps(
            {
                "produced": self.produced,
                "delivered": delivered,
                "waiting": self.spool.waiting()[0],
                "held": self.spool.held_samples,
                "dropped": self.spool.dropped_samples,
                "width": len(SERIES),
            }
        )

    def _take(self, batch: WriteRequest | None) -> None:
        if batch is not None:
            self.delivered += [row.timestamp_ms - NOW_MS for row in batch.rows]
            self.spool.acknowledge(batch)


def limit_files(most_bytes: int) -> None:
    """Let no file grow beyond this size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


def answer(process: Process) -> None:
    """To the test, in one line."""
    sys.stdout.write(f"{process.tell()}\n")
    sys.stdout.flush()


def main(folder: Path, produced: int) -> None:
    """Serve until the input ends, then close the spool as an agent does that is stopped."""
    process = Process(folder, produced)
    answer(process)
    for line in sys.stdin:
        operation, count = json.loads(line)
        process.operations[operation](count)
        answer(process)
    process.spool.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
