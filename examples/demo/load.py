"""The load: hey in short slices, their counts on a page that the agent scrapes.

hey (a Debian package) was chosen because it is one small binary that is bounded by time, limits its rate, can leave
keep-alive off, and names every kind of failure. It tells its counts only when it ends, so it runs in slices of a few
seconds, in four lanes a second apart: the counts move each second, and the load does not stop.
"""

import http.server
import math
import shutil
import threading
import time
from pathlib import Path
from typing import Self

from examples.demo.hey_summary import OUTCOMES, parse_summary
from examples.demo.processes import DemoError, ManagedProcess
from examples.demo.stages import Load

SLICE_SECONDS = 4.0
LANES = 4
_SHORTEST_SLICE_SECONDS = 1.0


def slice_seconds(elapsed: float, lane: int) -> float:
    """How long the slice that begins now should be, so that this lane's counts come at its own second of each period.

    Slices take somewhat longer than they are told to, by the requests under way; left alone, the lanes would drift
    together, and the rate of requests would look like a saw.
    """
    phase = lane * SLICE_SECONDS / LANES
    periods = math.floor((elapsed + _SHORTEST_SLICE_SECONDS - phase) / SLICE_SECONDS) + 1
    return periods * SLICE_SECONDS + phase - elapsed


class LoadCounters:
    """Requests by run and outcome, since the demo began; safe to use from several threads."""

    def __init__(self) -> None:
        """All counts are zero."""
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str], int] = {}
        self._running: tuple[str, Load] | None = None

    def begin(self, run: str, load: Load) -> None:
        """Load `load` is about to be sent as `run`; its counts are on the page from the first second, as zeros."""
        with self._lock:
            self._running = (run, load)
            for outcome in OUTCOMES:
                self._requests.setdefault((run, outcome), 0)

    def end(self) -> None:
        """No load is sent any more."""
        with self._lock:
            self._running = None

    def add(self, run: str, outcomes: dict[str, int]) -> None:
        """Count the requests of one slice."""
        with self._lock:
            for outcome, count in outcomes.items():
                self._requests[run, outcome] = self._requests.get((run, outcome), 0) + count

    def by_outcome(self, run: str) -> dict[str, int]:
        """The requests of `run` so far, without the outcomes that did not occur."""
        with self._lock:
            return {outcome: n for (of, outcome), n in self._requests.items() if of == run and n}

    def exposition(self) -> str:
        """The counts in Prometheus' text format."""
        with self._lock:
            requests, running = dict(self._requests), self._running
        lines = [
            "# HELP loadtest_requests_total Requests of the load tool that came to an end, by outcome.",
            "# TYPE loadtest_requests_total counter",
            *(f'loadtest_requests_total{{run="{run}",outcome="{o}"}} {n}' for (run, o), n in sorted(requests.items())),
        ]
        if running is not None:
            run, load = running
            lines += [
                "# HELP loadtest_target_rate Requests a second that the load tool tries to send.",
                "# TYPE loadtest_target_rate gauge",
                f'loadtest_target_rate{{run="{run}"}} {load.target_rate}',
                "# HELP loadtest_active_users Clients of the load tool.",
                "# TYPE loadtest_active_users gauge",
                f'loadtest_active_users{{run="{run}"}} {load.workers}',
            ]
        return "\n".join(lines) + "\n"


class LoadPage:
    """`/metrics` of the load, on a free port of the loopback address; `with` ends it."""

    def __init__(self, counters: LoadCounters) -> None:
        """Listen now; answer from `__enter__` on."""

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = self.path.split("?")[0] == "/metrics"
                body = counters.exposition().encode() if found else b"see /metrics\n"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """One line a second of one's own agent is no news."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="load-page", daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/metrics"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class LoadGenerator:
    """Sends one stage's load from `__enter__` to `__exit__`."""

    def __init__(self, *, url: str, run: str, load: Load, counters: LoadCounters, folder: Path) -> None:
        """`folder` takes hey's output; `run` names the load in the counts.

        Raises:
            DemoError: hey is not installed.
        """
        hey = shutil.which("hey")
        if hey is None:
            raise DemoError(
                "hey is not installed: `make demo` installs Debian's package of that name, as root or with sudo"
            )
        self._hey, self._url, self._run, self._load = hey, url, run, load
        self._counters, self._folder = counters, folder
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._problems: list[str] = []
        self._lanes = [threading.Thread(target=self._send, args=(i,), name=f"load-{i}") for i in range(LANES)]

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._counters.begin(self._run, self._load)
        for lane in self._lanes:
            lane.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for lane in self._lanes:
            lane.join()
        self._counters.end()

    def check(self) -> None:
        """Raise when a lane has ended by itself.

        Raises:
            DemoError: with hey's own words.
        """
        if self._problems:
            raise DemoError(self._problems[0])

    def _command(self, seconds: float) -> list[str]:
        load = self._load
        return [
            self._hey,
            f"-z={seconds:.3f}s",
            f"-c={load.workers // LANES}",
            f"-q={load.rate_per_worker}",
            f"-t={load.timeout_seconds}",
            "-cpus=1",
            *([] if load.keep_alive else ["-disable-keepalive"]),
            self._url,
        ]

    def _send(self, lane: int) -> None:
        log = self._folder / f"hey-{lane}.log"
        while not self._stop.is_set():
            log.unlink(missing_ok=True)
            seconds = slice_seconds(time.monotonic() - self._began, lane)
            with ManagedProcess("hey", self._command(seconds), log=log) as process:
                while not process.ended() and not self._stop.wait(0.05):
                    pass
                if self._stop.is_set():
                    # hey reports what it has when it is interrupted; what is cut off here is the stage's last slice.
                    process.interrupt()
            try:
                summary = parse_summary(log.read_text(encoding="utf-8", errors="replace"))
            except ValueError as error:
                if not self._stop.is_set():
                    self._problems.append(f"hey ended with status {process.status()}: {error}\n{process.last_lines()}")
                return
            self._counters.add(self._run, summary.outcomes)
