"""Feeds one target in a process that may die; tells what it does in memory that it shares with its parent."""

import json
import mmap
import os
import re
import resource
import struct
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.mutate import Mutator
from tests.fuzz.target import Target

MOST_FAULTS = 5
"""After as many the target ends."""
_HARD_MEMORY = 6 << 30
"""Address space, so that a fault here does not take the machine's memory; most of it is mapped and never used."""
_HEAD = struct.Struct("<QddQI")
_DIGITS = re.compile(r"[0-9]+|'[^']*'|\"[^\"]*\"")


@dataclass(slots=True, kw_only=True)
class Fault:
    """What must not happen, with the input that did it."""

    kind: str
    detail: str
    data: bytes


@dataclass(slots=True, kw_only=True)
class ChildResult:
    """What one child did."""

    executions: int = 0
    outcomes: int = 0
    slowest_seconds: float = 0.0
    slowest_bytes: int = 0
    memory: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])


class Board:
    """Shared with the parent: how many inputs, processor time at the start of this one, memory at first, the input."""

    def __init__(self, longest: int) -> None:
        self._map = mmap.mmap(-1, _HEAD.size + longest)

    def begin(self, number: int, base: int, data: bytes) -> None:
        """Another input begins."""
        self._map[: _HEAD.size] = _HEAD.pack(number, time.process_time(), time.monotonic(), base, len(data))
        self._map[_HEAD.size : _HEAD.size + len(data)] = data

    def read(self) -> tuple[int, float, float, int, bytes]:
        """Number, processor time and clock at its start, memory at first, and the input."""
        number, processor, clock, base, length = _HEAD.unpack(self._map[: _HEAD.size])
        return number, processor, clock, base, self._map[_HEAD.size : _HEAD.size + length]


def resident(pid: int | None = None) -> int:
    """Bytes of memory that a process has."""
    pages = Path(f"/proc/{pid or 'self'}/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def feed(target: Target, seed: int, seconds: float, board: Board, report: Path) -> None:
    """Run inputs until the time is over; the report is a document for `read_report`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_HARD_MEMORY, _HARD_MEMORY))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as directory:
        os.chdir(directory)
        tempfile.tempdir = directory
        outcome = _feed(target, seed, time.monotonic() + seconds, board)
        os.chdir("/")
    document = asdict(outcome)
    for fault in document["faults"]:
        fault["data"] = fault["data"].hex()
    report.write_text(json.dumps(document))


def _feed(target: Target, seed: int, end: float, board: Board) -> ChildResult:
    run = target.open()
    mutator = Mutator(seed, target.corpus(), target.words, target.longest, target.generate)
    outcome, seen, base = ChildResult(), set[str](), resident()
    while (outcome.executions == 0 or time.monotonic() < end) and len(outcome.faults) < MOST_FAULTS:
        data = mutator.next()
        board.begin(outcome.executions + 1, base, data)
        before = time.process_time()
        result = "whole"
        try:
            run(data)
        except target.expected as error:
            result = f"{type(error).__name__} {_DIGITS.sub('', str(error))[:60]}"
        except Exception as error:
            result = f"{type(error).__name__} {traceback.extract_tb(error.__traceback__)[-1]}"
            if result not in seen:
                outcome.faults.append(
                    Fault(kind=type(error).__name__, detail=traceback.format_exc()[-3000:], data=data)
                )
        taken = time.process_time() - before
        outcome.executions += 1
        if taken > outcome.slowest_seconds:
            outcome.slowest_seconds, outcome.slowest_bytes = taken, len(data)
        if taken > target.stall:
            outcome.faults.append(Fault(kind="stall", detail=f"{taken:.1f} s of processor time", data=data))
        if result not in seen:
            seen.add(result)
            mutator.keep(data)
    outcome.outcomes = len(seen)
    outcome.memory = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base, 0)
    return outcome


def read_report(path: Path) -> ChildResult:
    """What a child wrote at its end."""
    document: dict[str, Any] = json.loads(path.read_text())
    faults: list[dict[str, str]] = document.pop("faults")
    return ChildResult(
        **document,
        faults=[Fault(kind=one["kind"], detail=one["detail"], data=bytes.fromhex(one["data"])) for one in faults],
    )
