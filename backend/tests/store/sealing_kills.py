"""Run by test_sealing_kills.py in a process of its own: kill -9 at the statements that move samples within the file.

Each child opens a directory of format 1, which has something to seal, to delete, to convert and to move, while samples
go on coming; it is killed before or after its n-th statement or commit, the next one too, and a last one ends its work.
Then every sample that was there and every acknowledged one must be there with all its bits. Prints the number of kills
and of statements as JSON.
"""

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from loadwatch_backend.store.embedded import opening, sealed
from loadwatch_backend.store.embedded.database import Database
from loadwatch_backend.store.embedded.rollups import table as rollups

from backend.tests.store.test_rollups import assert_same, rollups_of
from backend.tests.store.test_sealed import LATER_MS, START_MS, Samples, everything, old_directory, opened, plain, put

ROUNDS = int(os.environ.get("FAULT_CYCLES", "0"))
THREAD = "store-maintenance"


class Counted:
    """A cursor that ends this process at the n-th of its statements, by the signal that nothing can catch."""

    seen = 0
    wanted = 0
    after = False

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, *arguments: Any) -> Any:
        return counted(lambda: self._cursor.execute(*arguments))

    def commit(self) -> Any:
        return counted(self._cursor.commit)


def counted(call: Any) -> Any:
    """Do it, and die before or afterwards if it is its turn."""
    if threading.current_thread().name != THREAD:
        return call()
    Counted.seen += 1
    if Counted.seen == Counted.wanted and not Counted.after:
        os.kill(os.getpid(), signal.SIGKILL)
    result = call()
    if Counted.seen == Counted.wanted:
        os.kill(os.getpid(), signal.SIGKILL)
    return result


@contextmanager
def counted_reading(self: Database) -> Generator[Any]:
    cursor = Counted(self.cursor())
    try:
        cursor.begin()
        yield cursor
        cursor.commit()
    finally:
        cursor.close()


def work(directory: Path, acknowledged: int, wanted: int, first: int, *, after: bool) -> None:
    """A store's life: until it is killed, or until there is nothing left to do. Tells what was acknowledged."""
    Counted.wanted, Counted.after = wanted, after
    mock.patch.object(Database, "reading", counted_reading).start()
    # Everything is worth moving, once.
    # A piece at a time, so that days are joined in between.
    rollups.PIECE_MINUTES = 100
    mock.patch.object(Database, "dead_bytes", return_value=(1 << 40, 0)).start()
    sealed.PIECE_ROWS = 150
    connect = opening.connect
    # The statements' arrays are in the frame above the one that counts.
    opening.connect = lambda path, config: connect(path, {**config, "python_scan_all_frames": "true"})
    with opened(directory, maintenance_ms=5, seal_delay_ms=0) as store:
        store.keep_pinned(lambda: [(0, LATER_MS)])
        second = first
        upkeep = store._upkeep  # pyright: ignore[reportPrivateUsage]
        while upkeep._moved_at is None or store._database.hot_rows()[0]:  # pyright: ignore[reportPrivateUsage]
            if second < first + 40:
                put(store, {(second % 5, START_MS + 3_600_000 + second * 1_000 + 500): second})
                os.write(acknowledged, second.to_bytes(4, "little"))
                second += 1
            threading.Event().wait(0.005)
        # Then the rest of the moves: closing waits for them.
        statements = Counted.seen
    os.write(acknowledged, (1 << 31 | statements).to_bytes(4, "little"))


def in_child(directory: Path, wanted: int, first: int, *, after: bool) -> tuple[bool, list[int], int]:
    """Whether it ended by itself; what was acknowledged; how many statements there were then."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            work(directory, write, wanted, first, after=after)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)  # noqa: T201 - for the test's output
            os._exit(1)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = np.frombuffer(pipe.read(), "<u4").tolist()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"a start failed: {os.WEXITSTATUS(status)}")
    return (
        not os.WIFSIGNALED(status),
        [number for number in told if not number >> 31],
        sum(number & ((1 << 31) - 1) for number in told if number >> 31),
    )


def main(directory: Path) -> None:
    """Kill at points spread over a whole life, twice each, then let it end and look."""
    chance = np.random.default_rng(11)
    model, hot = plain(chance, 500, 4), plain(chance, 150, 4)
    old = directory / "old"
    old_directory(old, model, hot)
    whole = directory / "whole"
    shutil.copytree(old, whole)
    _, _, statements = in_child(whole, 0, 0, after=False)
    kills = 0
    count = ROUNDS or 10
    for number in range(count):
        data = directory / "data"
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(old, data)
        expected: Samples = model | hot
        wanted = 1 + number * statements // count
        for attempt, point in enumerate((wanted, 1 + int(chance.integers(statements)), 0)):
            ended, told, _ = in_child(data, point, attempt * 100, after=bool((number + attempt) % 2))
            kills += not ended
            expected |= {(one % 5, START_MS + 3_600_000 + one * 1_000 + 500): one for one in told}
        check(data, expected)
    print(json.dumps({"kills": kills, "statements": statements, "rounds": count}))  # noqa: T201 - the answer


def check(data: Path, expected: Samples) -> None:
    """In a child, so that this process stays one that can be forked."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError("samples are lost, see above")
        return
    try:
        with opened(data) as store:
            found = everything(store)
            # Both levels tell the same after each kill.
            assert_same(*rollups_of(store))
        # What was not acknowledged may be there as well.
        wrong = {key: bits for key, bits in expected.items() if found.get(key) != bits}
        more = [key for key in found if key not in expected and key[1] % 1_000 != 500]
        print(f"{len(wrong)} wrong, {len(more)} more of {len(expected)}", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1 if wrong or more else 0)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)  # noqa: T201 - for the test's output
        os._exit(2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
