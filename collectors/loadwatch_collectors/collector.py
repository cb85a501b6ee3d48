"""What a source has to provide, and what it returns.

A source is one module in `sources/`: a frozen settings dataclass, pure parsers, a collector class, and one `Source`
constant that is listed in `registry.py`. Collectors raise; only the runner logs, times and reports.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from loadwatch_formats.metrics.model import MetricInfo, metrics_of

Labels = tuple[tuple[str, str], ...]
"""Label pairs of one sample, without `__name__`; no duplicate names, and in the same order at each tick.

`job` and `instance` come from the target; a sample has them only where its source was told to honour a page's own.
"""


KEPT = -1
"""As a sample's `timestamp_ms`: the value was read at an earlier tick and still stands.

A collector that reads dear details less often repeats them with this mark. Nothing is sent (a value is never repeated
at a time at which it was not read), and the series is not taken for one that vanished.
"""


class Sample(NamedTuple):
    """One value of one series, taken at the tick that called the collector.

    `name` is the metric's name, in base units with `_total` for counters. `timestamp_ms` is given only where the
    source itself knows a time other than the tick (for example a scraped page with explicit times), or as `KEPT`.
    """

    name: str
    value: float
    labels: Labels = ()
    timestamp_ms: int | None = None


def kept(samples: Iterable[Sample]) -> list[Sample]:
    """The samples of an earlier tick, which still stand."""
    return [sample._replace(timestamp_ms=KEPT) for sample in samples]


class MissingPrivilege(NamedTuple):
    """A permission that the collector lacks: what is lost without it, and how to grant it."""

    permission: str
    lost: str
    remedy: str


class CollectFault(NamedTuple):
    """What was wrong with the last `collect`, though it returned samples.

    `total` means that nothing could be read from the source itself, so that `up` is 0; else other parts of it were.
    """

    text: str
    total: bool = False


class Collector(Protocol):
    """Reads one target. Used by one thread at a time; keeps its connections open between calls.

    A class that is derived from this says only what it has to say, and takes only what it goes by.
    """

    def collect(self) -> Iterable[Sample]:
        """Read the source once.

        Raises:
            CollectorError: the source could not be read; the text names what, where, and what to do.
        """
        ...

    def fault(self) -> CollectFault | None:
        """What was wrong with the last `collect`, of many parts, which returned what it had; None when all was well."""
        return None

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """What the last `collect` could not see for lack of permission; nothing where everybody may see all."""
        return ()

    def metadata(self) -> Sequence[MetricInfo]:
        """Type, help and unit of the metrics of the last `collect`, learnt beside those in `Source.metrics`."""
        return ()

    def explain(self) -> Sequence[str]:
        """Lines about the last `collect` when a user asks for a check: what was found, what it costs."""
        return ()

    def set_pace(self, interval_seconds: float, timeout_seconds: float) -> None:
        """How often it is called and how long it may take; called once, before the first `collect`."""

    def set_state_file(self, path: Path) -> None:
        """Go on after a restart where it stopped; called once, before the first `collect`, by the agent alone.

        The file is this collector's own. Its folder need not be there.
        """

    def close(self) -> None:
        """Release connections and files, if any; may be called from another thread to end a hanging `collect`."""


class TargetIdentity(NamedTuple):
    """The labels that name a target on all its samples."""

    job: str
    instance: str
    labels: Labels = ()


@runtime_checkable
class AsksServer(Protocol):
    """Settings of a source that reads one server: by its address, targets of one program are known."""

    @property
    def address(self) -> str:
        """As `address_of` makes it; empty where it is not one server, or it has no port."""
        ...


def address_of(host: str, port: int) -> str:
    """Host and port as one text, the same for all names of this host."""
    own, host = socket.gethostname().lower(), host.lower().strip("[]").rstrip(".")
    local = host in ("localhost", "::1", "::", "0.0.0.0") or host.startswith("127.")
    if local or host.partition(".")[0] == own.partition(".")[0]:
        host = own
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def target_info(collector: str, address: str) -> Sample:
    """What is sent of an address; with this host, since a private name may be another program for another host."""
    labels = (("collector", collector), ("agent_host", socket.gethostname()), ("address", address))
    return Sample("collector_target_info", 1.0, labels)


class Borrow(NamedTuple):
    """Keys that a block takes from another block of the same target.

    Attributes:
        block: the block that lends.
        groups: keys that belong together. Where the borrower gives one of the first group, it borrows nothing at all;
            of another group, nothing of that group.
        into: the key of the borrower below which they go; empty for the block itself.
        unknown_with: a key of the lender with which its values are not known beforehand.
    """

    block: str
    groups: Sequence[tuple[str, ...]]
    into: str = ""
    unknown_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of source, as the registry lists it.

    `settings` is a frozen keyword-only dataclass whose fields are the keys allowed in the target's block of
    loadwatch.yml; their metadata (`help`) makes the reference. `build` makes a collector from it.
    `timeout_seconds` is the default for one `collect`.
    """

    name: str
    help: str
    settings: type[Any]
    build: Callable[[Any], Collector]
    timeout_seconds: float = 5.0
    privileges: Sequence[MissingPrivilege] = field(default_factory=tuple)
    """All permissions that the source can make use of, for the reference."""
    interval_seconds: float = 0.0
    """The least interval of a target that gives none of its own; 0 for sources that may be read at any."""
    own_times: bool = False
    """Samples with times of their own come late and now and then: their series are never marked stale."""
    borrow: Borrow | None = None
    """What its block need not repeat of another one."""
    packs: Sequence[str] = ()
    """Those that say what its metrics mean."""

    @property
    def metrics(self) -> list[MetricInfo]:
        """What its samples mean, as far as that is known beforehand."""
        return [one for pack in self.packs for one in metrics_of(pack)[self.name]]


# Details that are dear to read: at a slower period of their own.


class Periodic:
    """Samples that are read anew when their period has passed, and kept until then."""

    def __init__(self, read: Callable[[], list[Sample]], every: float) -> None:
        """`every` is in seconds."""
        self._read = read
        self._every = every
        self._due = 0.0
        self._kept: list[Sample] = []

    def forget(self) -> None:
        """Read anew at the next `read`."""
        self._due = 0.0

    def read(self, now: float) -> list[Sample]:
        """The samples; `now` by `time.monotonic()`."""
        if now < self._due:
            return self._kept
        # Set before the reading: one that fails must not fail every tick from now on.
        self._due = now + self._every
        self._kept = []
        samples = self._read()
        self._kept = kept(samples)
        return samples
