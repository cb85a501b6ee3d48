"""Load: `measuring-load`, under `loadwatch run` as any load test is.

`loadwatch run` follows the records while they are written, so that rates and response times are on the page each
second, and imports them at the end: the figures of the run's page are exact.
"""

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from loadwatch_collectors.runs.streams import RequestEvent, VegetaCsvReader

from examples.rig.application import LOAD_BINARY
from examples.rig.loadwatch import OWN_SETTINGS
from examples.rig.processes import ManagedProcess, RigError

_STOP_SECONDS = 60.0
"""A request under way has its timeout, and the records are imported."""

_DOCUMENT = re.compile(r"^\{$.*?^\}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the load tool sends: `workers` clients, each at most `rate_per_worker` requests a second.

    `tool` is `measuring-load`, or one that tells no figures of each second: `hey`, or `wrk`, which knows no rate.
    """

    workers: int
    rate_per_worker: float
    timeout_seconds: float = 3
    keep_alive: bool = True
    tool: Literal["measuring-load", "hey", "wrk"] = "measuring-load"

    @property
    def target_rate(self) -> float:
        """Requests a second that the load tool tries to send."""
        return self.workers * self.rate_per_worker


@dataclass(frozen=True, slots=True, kw_only=True)
class AsRun:
    """The Loadwatch that the load is told to as a run, and the options of `loadwatch run` that describe it."""

    server: str
    options: Sequence[str]


class LoadGenerator:
    """Sends a load from `__enter__` until its time is over, or to `__exit__`."""

    def __init__(
        self,
        *,
        load: Load,
        urls: Sequence[str],
        seconds: float,
        folder: Path,
        run: AsRun | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`folder` takes records and logs; clients take turns in `urls`; nobody is told without a `run`."""
        self._environment = environment
        self._records = folder / "load.csv"
        self._log = folder / "load.log"
        self._command = _load_command(load, urls=urls, seconds=seconds, records=self._records)
        if run is not None:
            records = self._records if load.tool == "measuring-load" else None
            told = _run_command(run, seconds=seconds, records=records, runs=folder / "runs")
            self._command = [*told, *self._command]
        self._process: ManagedProcess | None = None

    def __enter__(self) -> Self:
        self._records.unlink(missing_ok=True)
        self._log.unlink(missing_ok=True)
        self._process = ManagedProcess(
            "the load",
            self._command,
            log=self._log,
            environment=self._environment,
            drop_prefix=OWN_SETTINGS,
            stop_seconds=_STOP_SECONDS,
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            # The end that a user would bring about: what was sent so far is kept.
            self._process.interrupt(_STOP_SECONDS)
            self._process.stop()

    def ended(self) -> bool:
        """Whether the load's time is over, and its run is told.

        Raises:
            RigError: it ended with an error; with its own words.
        """
        if self._process is None or not self._process.ended():
            return False
        status = self._process.status()
        if status not in (0, -signal.SIGINT):
            raise RigError(f"the load ended with status {status}\n{self._process.last_lines()}")
        return True

    def by_outcome(self) -> dict[str, int]:
        """The requests that came to an end, most frequent outcome first."""
        if not self._records.exists():
            return {}
        events = VegetaCsvReader().feed(self._records.read_bytes())
        return dict(Counter(one.outcome for one in events if isinstance(one, RequestEvent)).most_common())

    def run(self) -> dict[str, Any] | None:
        """The run as Loadwatch has it after its end; None when it was not told."""
        found = _DOCUMENT.search(self._log.read_text(encoding="utf-8", errors="replace"))
        return None if found is None else json.loads(found[0])


def _load_command(load: Load, *, urls: Sequence[str], seconds: float, records: Path) -> list[str | Path]:
    if load.tool == "hey":
        timeout = f"-t={max(round(load.timeout_seconds), 1)}"
        return ["hey", f"-z={seconds:g}s", f"-c={load.workers}", f"-q={load.rate_per_worker:g}", timeout, urls[0]]
    if load.tool == "wrk":
        return ["wrk", "-t2", f"-c{load.workers}", f"-d{seconds:g}s", f"--timeout={load.timeout_seconds:g}s", urls[0]]
    return [
        LOAD_BINARY,
        f"-clients={load.workers}",
        f"-rate={load.rate_per_worker:g}",
        f"-timeout={load.timeout_seconds:g}s",
        f"-keep-alive={str(load.keep_alive).lower()}",
        f"-duration={seconds:g}s",
        f"-output={records}",
        *urls,
    ]


def _run_command(run: AsRun, *, seconds: float, records: Path | None, runs: Path) -> list[str | Path]:
    return [
        Path(sys.executable).with_name("loadwatch"),
        "run",
        f"--server={run.server}",
        f"--state-directory={runs}",
        *([] if records is None else [f"--result={records}"]),
        f"--duration={seconds:g}s",
        *run.options,
        "--no-gate",
        "--quiet",
        "--json",
        "--",
    ]
