"""Wall time and peak memory of a command and everything that it starts."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds, peak resident bytes of the process tree, and what it printed."""

    seconds: float
    peak_bytes: int
    output: str
    status: int


def measure(command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, timeout: float = 900) -> Measured:
    """Runs a command to its end; one that takes longer than `timeout` seconds is ended and has status -9."""
    began = time.perf_counter()
    peak = 0
    with log.open("wb") as target:
        process = subprocess.Popen(command, stdout=target, stderr=subprocess.STDOUT, env=env)
        try:
            while process.poll() is None and time.perf_counter() - began < timeout:
                peak = max(peak, _resident(process.pid))
                time.sleep(TICK)
            seconds = time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
    output = log.read_text(encoding="utf-8", errors="replace")
    return Measured(seconds=seconds, peak_bytes=peak, output=output, status=process.returncode)


def _resident(root: int) -> int:
    """Shared pages count for each process: the sum is rather too high than too low."""
    total = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (OSError, IndexError):
            continue
    return total
