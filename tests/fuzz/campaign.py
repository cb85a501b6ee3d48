"""One target after another, each in a child that is watched."""

import os
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.child import MOST_FAULTS, Board, ChildResult, Fault, feed, read_report, resident
from tests.fuzz.target import Target

BLOCKED_SECONDS = 120.0
"""By the clock, for one input that waits for something: much, because the machine may be busy."""
_LOOKS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True, kw_only=True)
class Result:
    """All that was found of one target."""

    target: str
    seconds: float = 0.0
    executions: int = 0
    outcomes: int = 0
    slowest_seconds: float = 0.0
    slowest_bytes: int = 0
    memory: int = 0
    ceiling: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])

    def add(self, outcome: ChildResult) -> None:
        """What one child of it did."""
        self.executions += outcome.executions
        self.outcomes = max(self.outcomes, outcome.outcomes)
        self.memory = max(self.memory, outcome.memory)
        if outcome.slowest_seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest_bytes = outcome.slowest_seconds, outcome.slowest_bytes
        self.faults += outcome.faults


def run_campaign(
    targets: Sequence[Target], seconds: float, seed: int, kept: Path, tell: Callable[[Result], None]
) -> list[Result]:
    """Share the time among the targets; inputs that did harm are kept as files.

    Must be called in a process with one thread: children are forks of it, so that the imports are done once.
    """
    results: list[Result] = []
    for target in targets:
        result = _run(target, seconds / len(targets), seed)
        for fault in result.faults:
            kept.mkdir(parents=True, exist_ok=True)
            (kept / f"{_slug(target.name)}-{zlib.crc32(fault.data):08x}.bin").write_bytes(fault.data)
        tell(result)
        results.append(result)
    return results


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _run(target: Target, seconds: float, seed: int) -> Result:
    result = Result(target=target.name, ceiling=target.memory)
    begin = time.monotonic()
    end, turn = begin + seconds, 0
    while (turn == 0 or time.monotonic() < end) and len(result.faults) < MOST_FAULTS:
        result.add(_child(target, seed * 1_000 + turn, max(end - time.monotonic(), 0)))
        turn += 1
    result.seconds = time.monotonic() - begin
    return result


def _child(target: Target, seed: int, seconds: float) -> ChildResult:
    board = Board(target.longest)
    with tempfile.TemporaryDirectory(prefix="fuzz-report-") as directory:
        report = Path(directory) / "report.json"
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _be_child(target, seed, seconds, board, report)
        fault = _watch(pid, target, board)
        _, status = os.waitpid(pid, 0)
        if fault is None and report.exists():
            outcome = read_report(report)
            if outcome.memory > target.memory:
                outcome.faults.append(Fault(kind="memory", detail=f"{outcome.memory >> 20} MiB", data=board.read()[4]))
            return outcome
        number, _, _, _, data = board.read()
        code = os.waitstatus_to_exitcode(status)
        ended = fault or Fault(kind="dead process", detail=f"exit {code}", data=data)
        return ChildResult(executions=number, memory=target.memory if ended.kind == "memory" else 0, faults=[ended])


def _be_child(target: Target, seed: int, seconds: float, board: Board, report: Path) -> None:
    # Never goes back into the parent's code, whatever happens.
    code = 1
    try:
        feed(target, seed, seconds, board, report)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _watch(pid: int, target: Target, board: Board) -> Fault | None:
    """Until the child ends: None, or why it was ended."""
    while True:
        try:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return None
            memory, used = resident(pid), _processor(pid)
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return None
        number, processor, clock, base, data = board.read()
        fault = None
        # Twice the time, as the child itself finds what ends in the end.
        if number and used - processor > 2 * target.stall:
            fault = Fault(kind="stall", detail=f"more than {2 * target.stall:g} s of processor time", data=data)
        elif number and time.monotonic() - clock > BLOCKED_SECONDS:
            fault = Fault(kind="stall", detail=f"nothing within {BLOCKED_SECONDS:g} s", data=data)
        elif number and memory - base > target.memory:
            fault = Fault(kind="memory", detail=f"{(memory - base) >> 20} MiB more than at first", data=data)
        if fault is not None and board.read()[0] == number:
            os.kill(pid, signal.SIGKILL)
            return fault
        time.sleep(_LOOKS)


def _processor(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
