"""A run under way: the command, its watchers, and what is written down of it.

Sources: /proc/stat (proc_stat(5)), /proc/net/snmp, /proc/<pid>/task/<tid>/children and stat, /proc/<pid>/status.
"""

import os
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from loadwatch_formats.metrics.loadtest import GENERATOR_CPU

from loadwatch_collectors.errors import SpoolError
from loadwatch_collectors.pipeline.sender import Sender
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.runs.delivery import Client, Journal, begin, make_sender, now_ms, open_spool, run_path
from loadwatch_collectors.runs.errors import RefusedError, ServerError
from loadwatch_collectors.runs.live_seconds import LiveFigures, LiveSeconds
from loadwatch_collectors.runs.own_figures import LineReader, Output
from loadwatch_collectors.runs.screen.status import Nearest, describe_progress, read_nearest
from loadwatch_collectors.runs.screen.terminal import StatusLine
from loadwatch_collectors.runs.streams import AnyReader, StreamError
from loadwatch_collectors.runs.supervisor import Ending, Streams, Supervisor
from loadwatch_collectors.runs.tools import Plan, Target
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, encode_labels

_PROC = Path("/proc")


class CpuTimes(NamedTuple):
    """Clock ticks of all cores together."""

    busy: int
    total: int


def parse_cpu(stat: str) -> CpuTimes:
    """The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user."""
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    idle = ticks[3] + (ticks[4] if len(ticks) > 4 else 0)
    return CpuTimes(sum(ticks) - idle, sum(ticks))


def parse_retransmits(snmp: str) -> int | None:
    """`RetransSegs` of the Tcp lines of /proc/net/snmp."""
    lines = [line.split() for line in snmp.splitlines() if line.startswith("Tcp:")]
    if len(lines) != 2 or "RetransSegs" not in lines[0]:
        return None
    return int(lines[1][lines[0].index("RetransSegs")])


def parse_resident(status: str) -> int:
    """`VmRSS` of /proc/<pid>/status in bytes; 0 for a process without memory."""
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def parse_ticks(stat: str) -> int:
    """`utime` and `stime` of /proc/<pid>/task/<tid>/stat; 0 for a thread that is gone. Names may hold anything."""
    return sum(int(word) for word in stat.rpartition(")")[2].split()[11:13])


class Machine:
    def __init__(self, proc: Path = _PROC) -> None:
        self._proc = proc
        self._first = self._last = self._cpu()
        self._cpu_max: float | None = None
        self._memory_max = 0
        self._thread_ticks: dict[Path, int] = {}
        self._busiest: list[float] = []
        self._retransmits = self._read_retransmits()
        self._child_seconds = _children_seconds()

    def sample(self, process: int | None) -> float | None:
        """Sample the host and a process with its descendants; return the CPU share since the last call."""
        share = None
        now = self._cpu()
        passed = 0 if now is None or self._last is None else now.total - self._last.total
        if now is not None and self._last is not None and passed > 0:
            share = (now.busy - self._last.busy) / passed
            self._cpu_max = max(self._cpu_max or 0.0, share)
        self._last = now
        if process is not None:
            threads = list(self._threads(process))
            resident = sum(parse_resident(_read(pid / "status")) for pid in {one.parent.parent for one in threads})
            self._memory_max = max(self._memory_max, resident)
            ticks = {thread: parse_ticks(_read(thread / "stat")) for thread in threads}
            used = [count - self._thread_ticks.get(thread, 0) for thread, count in ticks.items()]
            if used and passed > 0:
                self._busiest.append(max(used) * (os.cpu_count() or 1) / passed)
            self._thread_ticks = ticks
        return share

    def describe(self) -> dict[str, Any]:
        """The document `Generator` of the API; call it once the command's processes have been waited for."""
        now = self._cpu()
        mean = None
        if now is not None and self._first is not None and now.total > self._first.total:
            mean = (now.busy - self._first.busy) / (now.total - self._first.total)
        retransmits = self._read_retransmits()
        return {
            "cpu_cores": os.cpu_count(),
            "cpu_mean": mean,
            "cpu_max": self._cpu_max if self._cpu_max is not None else mean,
            "process_cpu_seconds": max(_children_seconds() - self._child_seconds, 0.0),
            "thread_cpu": statistics.fmean(self._busiest) if self._busiest else None,
            "memory_max_bytes": self._memory_max or None,
            "retransmits": None
            if retransmits is None or self._retransmits is None
            else max(retransmits - self._retransmits, 0),
        }

    def _threads(self, process: int) -> Iterator[Path]:
        waiting = [process]
        while waiting:
            for thread in (self._proc / str(waiting.pop()) / "task").glob("*"):
                yield thread
                waiting += [int(word) for word in _read(thread / "children").split()]

    def _cpu(self) -> CpuTimes | None:
        text = _read(self._proc / "stat")
        return parse_cpu(text) if text else None

    def _read_retransmits(self) -> int | None:
        return parse_retransmits(_read(self._proc / "net" / "snmp"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


_CHUNK = 256 * 1024
_MOST_PER_STEP = 16 * 1024 * 1024
_BACKLOG = 256 * 1024 * 1024


class Follower:
    """Reads the growth of one file at each step. Used by one thread at a time.

    A file that is replaced or cut short is no longer followed, and neither is one that grows much faster than it can
    be read: the view stops, the load generator keeps its CPU, and the import at the end has everything.
    """

    def __init__(self, seconds: LiveSeconds, find: Callable[[], Path | None]) -> None:
        self.problem = ""
        self._seconds = seconds
        self._find = find
        self._reader = AnyReader()
        self._file: BinaryIO | None = None
        self._read = 0

    @property
    def format(self) -> str | None:
        return self._reader.format

    def step(self, now_ms: int) -> Sequence[SampleRow]:
        self._advance(_MOST_PER_STEP)
        return self._seconds.publish(now_ms)

    def figures(self, now_ms: int) -> LiveFigures | None:
        return self._seconds.figures(now_ms) if self._seconds.requests else None

    def finish(self) -> Sequence[SampleRow]:
        self._advance(_BACKLOG)
        if self._file is not None:
            self._file.close()
            self._file = None
        return self._seconds.finish()

    def _advance(self, most: int) -> None:
        if self.problem:
            return
        try:
            if self._file is None:
                path = self._find()
                if path is None:
                    return
                self._file = path.open("rb")
            size = self._file.seek(0, 2)
            self._file.seek(self._read)
            if size < self._read:
                self.problem = "the result file was cut short or written anew"
            elif size - self._read > _BACKLOG:
                self.problem = "the result grows faster than it can be followed"
            end = min(size, self._read + most)
            while self._read < end and not self.problem:
                data = self._file.read(min(_CHUNK, end - self._read))
                if not data:
                    break
                self._read += len(data)
                self._seconds.add(self._reader.feed(data))
        except OSError as error:
            self.problem = f"the result file cannot be read: {error.strerror or error}"
        except StreamError as error:
            self.problem = str(error)
        except (ArithmeticError, LookupError, ValueError, TypeError) as error:
            # Damage that the format's reader did not foresee ends the view, never the run that is watched.
            self.problem = f"the result is damaged about byte {self._read} ({type(error).__name__}: {error})"


PROGRESS_SECONDS = 5.0
HEADROOM_SECONDS = 2.0


class Link:
    """One thread that may wait for the server as long as it likes."""

    def __init__(
        self,
        client: Client,
        journal: Journal,
        *,
        progress: Callable[[], dict[str, Any]],
        save: Callable[[], None],
        watch_headroom: bool,
    ) -> None:
        self.nearest: Nearest | None = None
        self.problem = "" if journal.created else "server away"
        self._client = client
        self._journal = journal
        self._progress = progress
        self._save = save
        self._watch_headroom = watch_headroom
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End; a request under way is left to itself after a moment."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        next_progress = time.monotonic() + (PROGRESS_SECONDS if self._journal.created else 0)
        next_headroom = 0.0
        while not self._stopping.is_set():
            now = time.monotonic()
            if now >= next_progress:
                next_progress = now + PROGRESS_SECONDS
                self._ask(self._tell)
            if self._watch_headroom and now >= next_headroom and self._journal.created:
                next_headroom = now + HEADROOM_SECONDS
                self._ask(self._look)
            self._stopping.wait(0.25)

    def _ask(self, step: Callable[[], None]) -> None:
        try:
            step()
            self.problem = ""
        except RefusedError:
            # What the server refuses for good is reported at the end, when the run is delivered.
            self.problem = "server refuses"
        except ServerError:
            self.problem = "server away"
            self.nearest = None

    def _tell(self) -> None:
        if not self._journal.created:
            begin(self._client, self._journal)
            self._save()
        self._client.send("POST", run_path(self._journal.id, "/progress"), self._progress())

    def _look(self) -> None:
        self.nearest = read_nearest(self._client.get("/api/headroom"))


_STEP_SECONDS = 1.0
_ALIVE_SECONDS = 2.0
_DRAIN_SECONDS = 5.0
_OWN_PRIORITY = 10
"""Niceness of this process: the load generator goes first."""


class Session:
    def __init__(
        self,
        *,
        client: Client,
        journal: Journal,
        target: Target,
        plan: Plan,
        line: StatusLine,
        offline: bool,
        stream: bool,
        watch_headroom: bool,
        output: Output | None,
        own: LineReader,
    ) -> None:
        self.line = line
        self._own = own
        self._readers = [*([] if output is None else [output.add]), *([own.add] if own.wanted else [])]
        self._client = client
        self._journal = journal
        self._target = target
        self._plan = plan
        self._offline = offline
        self._saving = threading.Lock()
        self._stopping = threading.Event()
        self._machine = Machine()
        self._cpu = Series(encode_labels({"__name__": GENERATOR_CPU, "run": journal.id}))
        self._pid: int | None = None
        self._began = time.monotonic()
        self._text = ""
        self._figures: LiveFigures | None = None
        self._link = Link(client, journal, progress=self._progress, save=self._save, watch_headroom=watch_headroom)
        self._stream = stream
        self._follower: Follower | None = None
        self._spool: Spool | None = None

    def run(self) -> Ending:
        """Run the command to its end. The journal then says how it ended and what the host saw."""
        supervisor = Supervisor(
            self._plan.command,
            {**os.environ, **self._plan.environment},
            Streams(
                capture=self._plan.capture,
                pass_output=self._plan.pass_output,
                keep_apart=self.line.takes_a_row,
                keep=self._keep if self._readers else None,
                keep_files=self._own.wanted,
            ),
        )
        self._began = time.monotonic()
        failed = supervisor.start()
        if failed is not None:
            self.line.close()
            self._write_end(failed)
            return failed
        self._pid = supervisor.pid
        os.setpriority(os.PRIO_PROCESS, 0, _OWN_PRIORITY)
        sender = self._open_stream()
        watcher = threading.Thread(target=self._watch, name="watcher", daemon=True)
        watcher.start()
        if not self._offline:
            self._link.start()
        try:
            ending = supervisor.run(self.line, lambda: self.line.show(self._text, time.monotonic() - self._began))
        finally:
            self.line.close()
            self._stopping.set()
            watcher.join()
            self._link.stop()
        self._close_stream(sender)
        self._write_end(ending)
        return ending

    def _keep(self, stream: int, data: bytes) -> None:
        for read in self._readers:
            read(stream, data)

    def _open_stream(self) -> Sender | None:
        if not self._stream:
            return None
        self._follower = Follower(LiveSeconds(self._journal.id, target_rate=self._target.rate), self._plan.result)
        try:
            self._spool = open_spool(self._journal)
        except SpoolError:
            return None  # a full disk must not end the load; figures are still shown
        if self._offline:
            return None
        sender = make_sender(self._client, self._spool)
        sender.start()
        return sender

    def _close_stream(self, sender: Sender | None) -> None:
        own = self._own.finish(self._journal.id)
        if self._follower is not None:
            rows = self._follower.finish()
            if self._spool is not None:
                self._spool.append([*rows, *own, SampleRow(now_ms(), [self._cpu], [STALE_NAN])])
            self._figures = self._follower.figures(now_ms())
        if sender is not None:
            sender.stop(_DRAIN_SECONDS if not self._link.problem else 0.5)
        if self._spool is not None:
            self._spool.close()

    def _watch(self) -> None:
        next_alive = self._began + _ALIVE_SECONDS
        while not self._stopping.wait(_STEP_SECONDS):
            share = self._machine.sample(self._pid)
            if self._spool is not None and share is not None:
                self._spool.append([SampleRow(now_ms(), [self._cpu], [share])])
            if self._follower is not None:
                rows = [*self._follower.step(now_ms()), *self._own.rows(self._journal.id)]
                if self._spool is not None and rows:
                    self._spool.append(rows)
                self._figures = self._follower.figures(now_ms())
            self._text = self._describe()
            if time.monotonic() >= next_alive:
                next_alive = time.monotonic() + _ALIVE_SECONDS
                found = self._plan.result()
                self._journal.expected = None if found is None else str(found.absolute())
                self._journal.alive_ms = now_ms()
                self._save()

    def _describe(self) -> str:
        follower = self._follower.problem if self._follower is not None else ""
        problems = [text for text in ("offline" if self._offline else self._link.problem, follower) if text]
        return describe_progress(
            run=self._journal.id,
            elapsed=time.monotonic() - self._began,
            target=self._target,
            figures=self._figures,
            nearest=self._link.nearest,
            problem=", ".join(problems),
        )

    def _progress(self) -> dict[str, Any]:
        figures = self._figures
        document: dict[str, Any] = {"at_ms": now_ms(), "elapsed_seconds": time.monotonic() - self._began}
        if figures is not None:
            document |= {"requests": figures.requests, "rate": figures.rate, "failures": figures.failures}
        return document

    def _save(self) -> None:
        """Save the journal; a disk that refuses now may accept it later, and the run goes on."""
        with self._saving:
            try:
                self._journal.save()
            except OSError:
                return

    def _write_end(self, ending: Ending) -> None:
        aborted = bool(ending.killed_by or ending.stopped_by)
        if ending.stopped_by:
            reason = f"stopped by {ending.stopped_by}"
        else:
            reason = f"killed by {ending.killed_by}" if ending.killed_by else ""
        journal = self._journal
        journal.alive_ms = now_ms()
        journal.finish = {
            "ended_ms": journal.alive_ms,
            "exit_code": ending.status,
            "aborted": aborted,
            "reason": reason,
            "generator": self._machine.describe(),
            **(self._own.report() if self._own.wanted else {}),
        }
        self._save()
