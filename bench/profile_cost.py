"""What taking a profile costs the process that it is taken of, where it computes all the time.

`python -m bench.profile_cost`. A Go program does the same work in turn alone and with each kind of profile; beside it,
what recording waits costs all the time, since Go leaves it off.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.machine import describe_machine, write_result

SOURCE = Path(__file__).resolve().parent / "profile_cost" / "main.go"
TURNS = int(os.environ.get("TURNS", "25"))
GOAL = 0.01
Turns = Mapping[str, Sequence[float]]


def main() -> int:
    """Measures both ways and writes the result."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "profile-cost"
        subprocess.run(["go", "build", "-o", str(program), str(SOURCE)], check=True, cwd=folder)
        off, on = (_measure(program, waits) for waits in (False, True))
    rows = {kind or "alone": _row(values, off[""]) for kind, values in off.items() if kind in ("", "cpu")}
    rows["alone, waits are recorded"] = _row(on[""], off[""])
    rows |= {f"{kind}, waits are recorded": _row(values, on[""]) for kind, values in on.items() if kind}
    result = {"machine": describe_machine(), "turns": TURNS, "kinds": rows}
    write_result("profile-cost", "What a profile costs its process", _text(rows), result)
    return 0


def _measure(program: Path, waits: bool) -> Turns:
    command = [str(program), f"-turns={TURNS}", f"-waits={str(waits).lower()}"]
    done = subprocess.run(command, check=True, capture_output=True, timeout=1_800)
    found: Turns = json.loads(done.stdout)
    return found


def _row(values: Sequence[float], alone: Sequence[float]) -> Mapping[str, float]:
    """CPU seconds of a turn. What else the machine does only adds, so the least is nearest to what the work takes."""
    pairs = sorted(value / other - 1 for value, other in zip(values, alone, strict=True))
    quarter = len(pairs) // 4
    return {
        "least_seconds": min(values),
        "median_seconds": statistics.median(values),
        "added_least": min(values) / min(alone) - 1,
        "added_low": pairs[quarter],
        "added_high": pairs[-quarter - 1],
    }


def _text(rows: Mapping[str, Mapping[str, float]]) -> str:
    lines = "\n".join(
        f"| {kind} | {row['least_seconds']:.3f} | {row['median_seconds']:.3f} | {row['added_least']:+.1%} "
        f"| {row['added_low']:+.1%} to {row['added_high']:+.1%} |"
        for kind, row in rows.items()
    )
    return f"""
`python -m bench.profile_cost`: CPU time of one and the same work (sorting, JSON, SHA-256, a lock, on all cores),
{TURNS} times in turn alone and with a profile of each kind, which is written within the time. It computes all the
time, which no server does that waits for its database. Load average at the end {os.getloadavg()[0]:.1f}.

*Added* compares the least of each, since other work on the machine only adds; the spread is the middle half of the
single pairs, and says how far one pair can be trusted here. *Waits are recorded* is what
`SetMutexProfileFraction(100)` and `SetBlockProfileRate(1_000_000)` cost without anybody asking; the rows below it are
held against that.

| | least, CPU s | median, CPU s | added | middle half of the pairs |
| --- | --- | --- | --- | --- |
{lines}

The goal is at most {GOAL:.0%} of the process's CPU time for a CPU profile while it lasts: {_verdict(rows["cpu"])}.
"""


def _verdict(row: Mapping[str, float]) -> str:
    if row["added_high"] - row["added_low"] > 4 * GOAL:
        return f"the machine was too busy to tell; the least of each say {row['added_least']:+.1%}"
    return "reached" if row["added_least"] <= GOAL else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
