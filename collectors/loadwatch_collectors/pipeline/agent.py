"""The agent as a whole: collectors, spool and sender, from start to clean end."""

import errno
import hashlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import structlog
from loadwatch_formats.metrics.model import MetricInfo, metrics_of

from loadwatch_collectors.collector import Collector, Sample, Source, TargetIdentity
from loadwatch_collectors.config import AgentConfig, CollectorSettings
from loadwatch_collectors.errors import OtherAgentError
from loadwatch_collectors.pipeline.profiles import ProfileOrders
from loadwatch_collectors.pipeline.runner import Runner
from loadwatch_collectors.pipeline.sender import Sender, SenderCounts, ServerClock
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.series import SampleRow
from loadwatch_collectors.sources.process.collector import ProcessCollector
from loadwatch_collectors.sources.process.search import ProcessSettings
from loadwatch_collectors.transport.exposure import find_exposures, find_server_exposure

# Sees to it that one agent of this host sends to a server: two would write the same series.
#
# The claim is a socket with an abstract name (unix(7)): all users of a network namespace see it, no file is left
# behind, and it goes with its process, however that ends.

_PREFIX = b"\0loadwatch-agent/"
_LOOPBACK = ("localhost", "::1")
_CREDENTIALS = struct.Struct("3i")
_ASK_SECONDS = 1.0


class Holder(NamedTuple):
    """The process that has a claim; both are None where the kernel does not tell."""

    pid: int | None = None
    user: int | None = None

    def is_trusted(self) -> bool:
        """Whether the holder runs as this user or as root; no other user may block this agent."""
        return self.user in (0, os.geteuid())


class Claim:
    def __init__(self, held: socket.socket) -> None:
        self._held = held
        # Whoever asks for the holder connects; without an answer the queue of a long life would be full one day.
        threading.Thread(target=self._answer, name="claim", daemon=True).start()

    def close(self) -> None:
        self._held.shutdown(socket.SHUT_RDWR)
        self._held.close()

    def _answer(self) -> None:
        while True:
            try:
                self._held.accept()[0].close()
            except OSError as error:
                if error.errno != errno.ECONNABORTED:
                    return


def claim(url: str, labels: tuple[tuple[str, str], ...]) -> Claim | Holder | None:
    """Claim to be this host's agent that sends to `url` with `labels`; the holder where another process is.

    None where sockets of this kind do not work: then nothing is known.
    """
    address = _address(url, labels)
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(address)
        held.listen()
    except OSError as error:
        held.close()
        return _ask(address) if error.errno == errno.EADDRINUSE else None
    return Claim(held)


def _address(url: str, labels: tuple[tuple[str, str], ...]) -> bytes:
    parts = urlsplit(url)
    host = parts.hostname or ""
    here = host in _LOOPBACK or host.startswith("127.")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    name = repr(("loopback" if here else host, port, parts.path.rstrip("/"), sorted(labels)))
    return _PREFIX + hashlib.sha256(name.encode()).hexdigest().encode()


def _ask(address: bytes) -> Holder:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(_ASK_SECONDS)
        try:
            asking.connect(address)
            pid, user, _ = _CREDENTIALS.unpack(
                asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            )
        except OSError:
            return Holder()
    # 0 is a process that this one cannot see, in another container.
    return Holder(pid=pid or None, user=user)


JOB = "loadwatch-agent"


class SelfSettings(NamedTuple):
    """The parts of the running agent that are watched; not a block of the file."""

    spool: Spool
    counts: SenderCounts
    clock: ServerClock


class SelfCollector(Collector):
    def __init__(self, settings: SelfSettings) -> None:
        self._spool, self._counts, self._clock = settings
        self._process = ProcessCollector(ProcessSettings(pid=os.getpid()))

    def collect(self) -> list[Sample]:
        waiting_samples, waiting_bytes = self._spool.waiting()
        counts = self._counts
        samples = [
            Sample("agent_spool_bytes", float(waiting_bytes)),
            Sample("agent_spool_samples", float(waiting_samples)),
            Sample("agent_spool_dropped_samples_total", float(self._spool.dropped_samples)),
            Sample("agent_spool_writable", 0.0 if self._spool.disk_error else 1.0),
            Sample("agent_sent_samples_total", float(counts.sent_samples)),
            Sample("agent_refused_samples_total", float(counts.refused_samples)),
            Sample("agent_failed_requests_total", float(counts.failed_requests)),
            Sample("agent_clock_correction_seconds", self._clock.offset_seconds),
        ]
        if counts.clock_skew_seconds is not None:
            samples.append(Sample("agent_clock_skew_seconds", counts.clock_skew_seconds))
        return samples + self._process.collect()


SELF = Source(
    name="agent",
    help="The agent's own spool, sender and process.",
    settings=SelfSettings,
    build=SelfCollector,
    packs=("loadwatch",),
)


STOP_SECONDS = 3.0
"""How long the last samples may take to reach the server at the end; what is left stays in the spool."""

ASK_TIME_SECONDS = 2.0
"""How long the agent waits at its start for the server's time, without which it stamps by its own."""

STATE_FOLDER = "state"
"""Below the spool's folder, which is one agent's own: what collectors remember from one start to the next."""

_log: Any = structlog.get_logger("loadwatch.agent")


def run_agent(config: AgentConfig, stop: threading.Event) -> None:
    """Run until `stop` is set.

    Raises:
        ConfigError: the token or a source's settings cannot work.
        SpoolError: the spool's folder cannot be used.
        OtherAgentError: another agent of this host sends the same series.
    """
    token = config.server.token()
    claimed = _claim(config)
    try:
        _run(config, token, stop)
    finally:
        if claimed is not None:
            claimed.close()


def _claim(config: AgentConfig) -> Claim | None:
    """Claim the server for this host's only agent; None where another user's process holds it."""
    found = claim(config.server.write_url, config.labels)
    if not isinstance(found, Holder):
        return found
    who = "another process" if found.pid is None else f"the process {found.pid}"
    if not found.is_trusted():
        _log.warning(
            "another user's agent on this host sends the same series", holder=who, server=config.server.write_url
        )
        return None
    raise OtherAgentError(
        f"{who} is this host's agent for {config.server.write_url} already, and the two would write the same series; "
        "stop it, or give it this configuration: an agent takes one file (`loadwatch up --config FILE` in place of "
        "`make up`). For two agents on purpose give one of them `labels:` of its own."
    )


def _run(config: AgentConfig, token: str | None, stop: threading.Event) -> None:
    spool = Spool(Path(config.spool.directory), max_bytes=config.spool.max_bytes, max_age_seconds=config.spool.max_age)
    wall = _process_clock()
    clock = ServerClock(wall)
    try:
        sender = Sender(
            spool,
            url=config.server.write_url,
            token=token,
            timeout_seconds=config.server.timeout,
            metrics=lambda: [*collect_metrics(config), *runner.metadata()],
            ca_file=config.server.ca_file,
            wall=wall,
            clock=clock,
        )
        own = CollectorSettings(
            source=SELF,
            settings=SelfSettings(spool, sender.counts, clock),
            identity=TargetIdentity(JOB, socket.gethostname(), config.labels),
            interval_seconds=config.interval_seconds,
            timeout_seconds=SELF.timeout_seconds,
            where="the agent itself",
        )
        # By these two agents that watch the same thing are told apart.
        started = datetime.fromtimestamp(clock.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        identity = (("agent_host", socket.gethostname()), ("agent_pid", str(os.getpid())), ("agent_started", started))
        profiles = ProfileOrders(config)
        state = Path(config.spool.directory) / STATE_FOLDER
        collectors = [item.keeping_state(state) for item in config.collectors]
        runner = Runner([*collectors, own], _Writer(spool).write, clock.wall, identity)
        waiting_samples, waiting_bytes = spool.waiting()
        _log.info(
            "the agent runs",
            server=config.server.write_url,
            collectors=len(config.collectors),
            spool=config.spool.directory,
            waiting_samples=waiting_samples,
            waiting_bytes=waiting_bytes,
            **dict(identity),
        )
        exposed = find_server_exposure(config.server.write_url, token is not None)
        for text in dict.fromkeys([*exposed, *(t for c in config.collectors for t in find_exposures(c.settings))]):
            _log.warning("a connection shows what should stay between agent and server", what=text)
        sender.ask_time(min(config.server.timeout, ASK_TIME_SECONDS))
        sender.start()
        profiles.start()
        try:
            runner.run(stop)
        finally:
            profiles.stop()
            sender.stop(STOP_SECONDS)
        held = spool.held_samples
        if held:
            _log.error(
                "samples are lost: the spool's disk refused them, and the server did not take them", samples=held
            )
        _log.info("the agent ends", waiting_samples=spool.waiting()[0] - held)
    finally:
        spool.close()


def _process_clock() -> Callable[[], float]:
    """The host's clock. Tests set it as an administrator would: the variable names a file with milliseconds to add."""
    offset_file = os.environ.get("LOADWATCH_AGENT_CLOCK_OFFSET_FILE")
    if offset_file is None:
        return time.time
    path = Path(offset_file)
    return lambda: time.time() + int(path.read_text("ascii") or 0) / 1000


def collect_metrics(config: AgentConfig) -> list[MetricInfo]:
    listed: Iterable[Sequence[MetricInfo]] = (
        metrics_of("loadwatch")["collectors"],
        SELF.metrics,
        *(item.source.metrics for item in config.collectors),
    )
    by_name: dict[str, MetricInfo] = {}
    for metric in chain.from_iterable(listed):
        by_name.setdefault(metric.name, metric)
    return list(by_name.values())


class _Writer:
    """Puts batches into the spool; tells once when the disk refuses and once when it works again."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._failed = False
        self._dropped = spool.dropped_samples

    def write(self, rows: Sequence[SampleRow]) -> None:
        self._spool.append(rows)
        error = self._spool.disk_error
        if error and not self._failed:
            _log.error("the spool cannot be written; samples are held in memory", reason=error)
        elif self._failed and not error:
            _log.info("the spool can be written again")
        self._failed = error is not None
        dropped = self._spool.dropped_samples
        if dropped and not self._dropped:
            _log.error("samples are dropped, the spool is at its limit or damaged", samples=dropped)
        self._dropped = dropped
