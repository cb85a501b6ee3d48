"""A run under way: the command, its watchers, and what is written down of it."""

import os
import threading
import time
from typing import Any

from loadwatch_formats.metrics.loadtest import GENERATOR_CPU

from loadwatch_collectors.errors import SpoolError
from loadwatch_collectors.pipeline.sender import Sender
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.runs.delivery.client import Client
from loadwatch_collectors.runs.delivery.delivery import make_sender, now_ms, open_spool
from loadwatch_collectors.runs.delivery.journal import Journal
from loadwatch_collectors.runs.delivery.link import Link
from loadwatch_collectors.runs.facts.machine import Machine
from loadwatch_collectors.runs.output import Output
from loadwatch_collectors.runs.own_figures import LineReader
from loadwatch_collectors.runs.screen.status import describe_progress
from loadwatch_collectors.runs.screen.terminal import StatusLine
from loadwatch_collectors.runs.streams.follower import Follower
from loadwatch_collectors.runs.streams.live_seconds import LiveFigures, LiveSeconds
from loadwatch_collectors.runs.supervisor import Ending, Streams, Supervisor
from loadwatch_collectors.runs.tools.tool import Plan, Target
from loadwatch_collectors.series import STALE_NAN, SampleRow, Series, encode_labels

_STEP_SECONDS = 1.0
_ALIVE_SECONDS = 2.0
_DRAIN_SECONDS = 5.0
_OWN_PRIORITY = 10
"""Niceness of this process: the load generator goes first."""


class Session:
    """Watches one command from its start to its end."""

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
        self._readers = [
            *([] if output is None else [output.add]),
            *([own.add] if own.wanted else []),
        ]
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
            ending = supervisor.run(self.line, self._tick)
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

    def _tick(self) -> None:
        self.line.show(self._text, time.monotonic() - self._began)

    def _open_stream(self) -> Sender | None:
        """What sends the samples; None offline, when they only go to the disk."""
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
        """Once a second: the host, the result, the text of the status line; now and then a sign of life on disk."""
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
        """A disk that refuses now may take it later; the run goes on."""
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
