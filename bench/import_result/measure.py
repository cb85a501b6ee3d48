"""Wall time and peak memory of a command and everything that it starts."""

import os
import resource
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Wall and processor seconds, peak resident bytes of the process tree, and what it printed."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str
    status: int


def measure(command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, timeout: float = 900) -> Measured:
    """Runs a command to its end; one that takes longer than `timeout` seconds is ended and has status -9."""
    began = time.perf_counter()
    peak = 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with log.open("wb") as target:
        process = subprocess.Popen(command, stdout=target, stderr=subprocess.STDOUT, env=env)
        try:
            while process.poll() is None and time.perf_counter() - began < timeout:
                peak = max(peak, resident_bytes(process.pid))
                time.sleep(TICK)
            seconds = time.perf_counter() - began
        finally:
            process.kill()
            process.wait()
    output = log.read_text(encoding="utf-8", errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(seconds=seconds, cpu_seconds=cpu, peak_bytes=peak, output=output, status=process.returncode)


class TreeMemory:
    """Watches a process and all that it starts while the block runs; `peak_bytes` is the most that was seen."""

    def __init__(self, root: int) -> None:
        self.peak_bytes = 0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(TICK):
            self.peak_bytes = max(self.peak_bytes, resident_bytes(self._root))


def resident_bytes(root: int) -> int:
    """Memory of a process and its descendants.

    Shared pages count for each process: the sum is rather too high than too low.
    """
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
