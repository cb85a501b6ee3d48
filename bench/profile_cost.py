"""What taking a profile costs the process that it is taken of, where it computes all the time.

`python -m bench.profile_cost`. Two processes do the same work at the same time, one of them with a profile, then the
other: whatever else the machine does meets both alike, and what makes one of them dearer meets both sides.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bench.machine import describe_machine, write_result

SOURCE = Path(__file__).resolve().parent / "profile_cost" / "main.go"
PAIRS = int(os.environ.get("PAIRS", "20"))
SECONDS = float(os.environ.get("SECONDS_A_TURN", "10"))
"""Of CPU time, as long as the agent's profiles last."""
MINUTES = float(os.environ.get("MINUTES", "30"))
"""After this no pair is begun: on a busy machine there are fewer of them, and the interval says so."""
LEAST_PAIRS = 6
"""With fewer there is no interval, and the row is left out."""
SHORT_SECONDS = 1.0
"""Of what is written in a moment: the dearer it is of a shorter turn."""
GOAL = 0.01
Row = Mapping[str, float | list[float]]
_WARM_ROUNDS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """How a turn is done: whether waits are recorded meanwhile, and with which profile."""

    waits: bool
    kind: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is held against what."""

    title: str
    with_it: Side
    without: Side
    seconds: float


COMPARISONS = (
    Comparison(title="cpu", with_it=Side(waits=False, kind="cpu"), without=Side(waits=False), seconds=SECONDS),
    Comparison(title="waits are recorded", with_it=Side(waits=True), without=Side(waits=False), seconds=SECONDS),
    *(
        Comparison(title=kind, with_it=Side(waits=True, kind=kind), without=Side(waits=True), seconds=SHORT_SECONDS)
        for kind in ("mutex", "block", "heap", "goroutine", "allocs")
    ),
)


class Process:
    """One that works when it is told to."""

    def __init__(self, program: Path) -> None:
        # One processor each: two processes that want all of them would hinder each other by chance.
        self._process = subprocess.Popen(
            [str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "GOMAXPROCS": "1"},
        )

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def begin(self, side: Side, rounds: int) -> None:
        """Begin a turn."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{str(side.waits).lower()} {side.kind} {rounds}\n")

    def cpu_seconds(self) -> float:
        """Of the turn that was begun, when it is over."""
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())


def main() -> int:
    """Measures and writes the result."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        program = Path(folder) / "profile-cost"
        subprocess.run(["go", "build", "-o", str(program), str(SOURCE)], check=True, cwd=folder)
        one, other = (stack.enter_context(Process(program)) for _ in range(2))
        one.begin(Side(waits=False), _WARM_ROUNDS)
        one.cpu_seconds()
        warm = _both(one, other, Side(waits=False), Side(waits=False), _WARM_ROUNDS)
        each = sum(warm) / 2 / _WARM_ROUNDS
        until = time.monotonic() + MINUTES * 60
        measured = {compared.title: _compare(one, other, compared, each, until) for compared in COMPARISONS}
    rows = {title: row for title, row in measured.items() if row is not None}
    result = {"machine": describe_machine(), "kinds": rows}
    write_result("profile-cost", "What a profile costs its process", _text(rows), result)
    return 0


def _both(one: Process, other: Process, side: Side, other_side: Side, rounds: int) -> tuple[float, float]:
    one.begin(side, rounds)
    other.begin(other_side, rounds)
    return one.cpu_seconds(), other.cpu_seconds()


def _compare(one: Process, other: Process, compared: Comparison, each: float, until: float) -> Row | None:
    """Pairs of turns, in the second of which the processes change sides; None when there was time for too few."""
    rounds = round(compared.seconds / each)
    added: list[float] = []
    while len(added) < PAIRS and time.monotonic() < until:
        with_it, without = _both(one, other, compared.with_it, compared.without, rounds)
        without_2, with_it_2 = _both(one, other, compared.without, compared.with_it, rounds)
        added.append(math.sqrt(with_it / without * with_it_2 / without_2) - 1)
        print(f"{compared.title}: {added[-1]:+.2%}", file=sys.stderr, flush=True)
    if len(added) < LEAST_PAIRS:
        return None
    low, middle, high = median_with_interval(added)
    return {"rounds": rounds, "seconds": compared.seconds, "low": low, "median": middle, "high": high, "added": added}


def median_with_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median between two values that it lies between in at least 95 of 100 cases, whatever their distribution.

    By the order statistics: how many of n values lie below the median is binomial (n, 1/2). With fewer than six values
    no interval is that certain; then it is all of them.
    """
    ordered, count = sorted(values), len(values)
    outside, place = 0.0, 0
    while place < count // 2 and (outside := outside + math.comb(count, place) / 2**count) <= 0.025:
        place += 1
    below = max(place - 1, 0)
    half = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return ordered[below], half, ordered[count - 1 - below]


def _text(rows: Mapping[str, Row]) -> str:
    lines = "\n".join(_line(title, row) for title, row in rows.items())
    return f"""
`python -m bench.profile_cost`: CPU time of one and the same work (sorting, JSON, SHA-256, a lock, four goroutines on
one processor), with a profile, which is written within the time, and without. It computes all the time, which no server
does that waits for its database. Two processes do the work at the same time, one with and one without, then the other
way round: such a pair of turns gives one figure, in which whatever else the machine does has met both sides alike. Of
these figures the median, and the interval in which it lies with 95 % certainty. Load average at the end
{os.getloadavg()[0]:.1f}.

*Waits are recorded* is what `SetMutexProfileFraction(100)` and `SetBlockProfileRate(1_000_000)` cost without anybody
asking; in the rows below it both sides record them. The figures of profiles that are written in a moment are of one in
so many seconds.

| | CPU s a turn | figures | added, median | 95 % interval |
| --- | --- | --- | --- | --- |
{lines}

The goal is at most {GOAL:.0%} of the process's CPU time for a CPU profile while it lasts: {_verdict(rows.get("cpu"))}.
"""


def _line(title: str, row: Row) -> str:
    added = cast("list[float]", row["added"])
    interval = f"{row['low']:+.2%} to {row['high']:+.2%}"
    return f"| {title} | {row['seconds']:g} | {len(added)} | {row['median']:+.2%} | {interval} |"


def _verdict(row: Row | None) -> str:
    if row is None:
        return "not measured"
    if cast("float", row["high"]) <= GOAL:
        return "reached"
    return "MISSED" if cast("float", row["low"]) > GOAL else "cannot be told: the interval holds it"


if __name__ == "__main__":
    sys.exit(main())
