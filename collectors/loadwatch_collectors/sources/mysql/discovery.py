"""The mysql collector on every instance of RDS and Aurora that is found: each on a thread of its own.

An instance that hangs holds up no other. All samples of one have its identifier as `instance`, and the labels `cluster`
and `role`; the role is what the server itself says, since that is known sooner than from AWS. Where several accounts or
regions are looked in, `account_id` and `region` tell instances of one name apart.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from loadwatch_collectors.collector import CollectFault, Collector, Labels, MissingPrivilege, Sample, kept
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect, regions_of
from loadwatch_collectors.sources.aws.discovery.discovery import DATABASES, BackgroundDiscovery, Discovery
from loadwatch_collectors.sources.aws.discovery.part import Selection
from loadwatch_collectors.sources.aws.model import PresetKind, Resource
from loadwatch_collectors.sources.aws.settings import AccountSettings, SelectSettings
from loadwatch_collectors.sources.mysql.iam import IamPassword
from loadwatch_collectors.transport.mysql_session import MySQLLogin

PATIENCE_SECONDS = 0.4
"""How long one tick waits for all instances; what comes later is sent at the next tick, with its own time."""
_FIRST_LOOK_SECONDS = 3.0
_ERROR_LENGTH = 200
_ROLE_METRIC = "mysql_server_role_info"
_PRESET = "mysql"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverSettings:
    engine: tuple[str, ...] = option(
        help="Engines, with * and ?.", default=("mysql", "mariadb", "aurora-mysql"), metavar="[aurora-mysql]"
    )
    names: tuple[str, ...] = option(help="Identifiers of instances or clusters, with * and ?.", default=())
    tags: dict[str, str] = option(
        help="Tags that must all be there; values with * and ?.", default_factory=dict, metavar="{service: api}"
    )
    role: str = option(help="writer or reader: only these; all without it.", default="")
    regions: tuple[str, ...] = option(help="Regions to look in; the environment's without it.", default=())
    accounts: tuple[AccountSettings, ...] = option(
        help="Accounts to look in; that of the credentials which botocore finds without it.", default=()
    )
    every: Seconds = option(help="Time between two looks for instances.", default=30.0)
    endpoint_url: str | None = option(help="Address of the AWS APIs instead of their own.", default=None)

    def __post_init__(self) -> None:
        if self.role not in ("", "writer", "reader"):
            raise ValueError(f"role must be writer or reader, not {self.role!r}")
        if self.every < 5:
            raise ValueError("every must be at least 5s")


Build = Callable[[str, int, IamPassword | None], Collector]
"""A collector for a host and port; with the password's maker where logins are by IAM."""


class Target(NamedTuple):
    identifier: str
    cluster: str
    role: str
    host: str
    port: int
    iam_login: bool
    """False where it is known to be off."""
    where: Labels = ()
    """Account and region, where more than one is looked in: identifiers are unique in one only."""


def target_of(resource: Resource) -> Target | None:
    """Return the target for a discovered instance; None until the instance has an address."""
    known = dict(resource.attributes)
    if not known.get("host") or not known.get("port"):
        return None
    return Target(
        identifier=known["identifier"],
        cluster=known.get("cluster", ""),
        role=known.get("role", ""),
        host=known["host"],
        port=int(known["port"]),
        iam_login=known.get("iam_login") != "false",
    )


class _Member:
    def __init__(self, target: Target, collector: Collector, deadline: float) -> None:
        self.target = target
        self._collector = collector
        self._deadline = deadline
        self._wake = threading.Semaphore(0)
        self._done = threading.Event()
        self._done.set()
        self._began = 0.0
        self._began_ms = 0
        self._seconds = 0.0
        self._was_read = False
        self._fresh = False
        self._samples: Sequence[Sample] = ()
        self._error = ""
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"mysql-{target.identifier}", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Start a reading, unless one is under way or its result was not taken yet."""
        if self._done.is_set() and not self._fresh:
            self._done.clear()
            self._began, self._began_ms = time.monotonic(), time.time_ns() // 1_000_000
            self._wake.release()

    def take(self, until: float, tick: float) -> list[Sample]:
        """Samples for this tick: those of a reading that has ended by `until`, else what stands from before."""
        done = self._done.wait(max(until - time.monotonic(), 0.0))
        if not done and (hung := self._hung()):
            return self._health(hung)
        if not done or not self._fresh:
            return kept(self._shown())
        self._fresh = False
        if self._began >= tick:
            return self._shown()
        return [
            sample if sample.timestamp_ms is not None else sample._replace(timestamp_ms=self._began_ms)
            for sample in self._shown()
        ]

    @property
    def error(self) -> str:
        """Why it cannot be read now; empty when it can, or was not yet."""
        return self._hung() or self._error

    def missing_privileges(self) -> list[MissingPrivilege]:
        return list(self._collector.missing_privileges())

    def close(self) -> None:
        self._closed = True
        self._wake.release()
        self._collector.close()

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            if self._closed:
                return
            samples: Sequence[Sample] = ()
            error = ""
            try:
                samples = self._label(list(self._collector.collect()))
            except CollectorError as failed:
                error = str(failed)
            except Exception as failed:
                error = f"internal error: {type(failed).__name__}: {failed}"
            self._samples, self._error, self._was_read = samples, error, True
            self._seconds = time.monotonic() - self._began
            self._fresh = True
            self._done.set()

    def _hung(self) -> str:
        if self._done.is_set() or time.monotonic() - self._began <= self._deadline + 1.0:
            return ""
        return f"no answer within {self._deadline:g} s; the server hangs or is overloaded"

    def _shown(self) -> list[Sample]:
        # Before the first reading has ended it is not known whether the instance is up.
        return [*self._samples, *self._health(self._error)] if self._was_read else []

    def _label(self, samples: Sequence[Sample]) -> list[Sample]:
        said = (dict(sample.labels).get("role", "") for sample in samples if sample.name == _ROLE_METRIC)
        role = next(said, "") or self.target.role
        own: Labels = (*self._identity(), *((("role", role),) if role else ()))
        without_role = self._identity()
        return [
            sample._replace(labels=sample.labels + (without_role if sample.name == _ROLE_METRIC else own))
            for sample in samples
        ]

    def _identity(self) -> Labels:
        cluster = self.target.cluster
        return (("instance", self.target.identifier), *((("cluster", cluster),) if cluster else ()), *self.target.where)

    def _health(self, error: str) -> list[Sample]:
        labels: Labels = (*self._identity(), ("collector", "mysql"))
        health = [
            Sample("up", 0.0 if error else 1.0, labels),
            Sample("scrape_duration_seconds", self._seconds, labels),
            Sample("scrape_samples_scraped", float(len(self._samples)), labels),
        ]
        if error:
            text = " ".join(error.split())[:_ERROR_LENGTH]
            health.append(Sample("collector_error_info", 1.0, (*labels, ("error", text))))
        return health


class _Refused(Collector):
    """The collector of an instance that cannot be logged in to, for a reason that AWS already tells."""

    def __init__(self, text: str) -> None:
        self._text = text

    def collect(self) -> Sequence[Sample]:
        raise CollectorError(self._text)


class MySQLFleet(Collector):
    """Follows what is found: an instance that comes is watched, one that goes is let go."""

    def __init__(self, settings: DiscoverSettings, login: MySQLLogin, build: Build) -> None:
        """Nothing is asked for yet.

        Raises:
            ConfigError: boto3 is not installed, or no region is known.
        """
        self._settings = settings
        self._login = login
        self._build = build
        self._members: dict[str, _Member] = {}
        self._places = [(client, self._discovery(client)) for client in self._clients()]
        self._first = True
        self._closed = False

    def collect(self) -> Sequence[Sample]:
        """Read all instances; those that are slow are not waited for.

        Raises:
            CollectorError: no instance is known, since AWS could not be asked.
        """
        wait, self._first = min(_FIRST_LOOK_SECONDS, self._login.deadline * 0.75) if self._first else 0.0, False
        found = [(client, discovery.found(wait)) for client, discovery in self._places]
        resources = [
            (client, resource) for client, seen in found for resource in seen.resources if self._wants(resource)
        ]
        errors = [error for _, discovery in self._places for _, error in discovery.errors()]
        if errors and not resources:
            raise errors[0]
        self._follow(resources)
        tick = time.monotonic()
        for member in self._members.values():
            member.begin()
        samples = [Sample("mysql_discovered_instances", float(len(self._members)))]
        for member in list(self._members.values()):
            samples += member.take(tick + PATIENCE_SECONDS, tick)
        return samples

    def fault(self) -> CollectFault | None:
        members = list(self._members.values())
        failed = [f"{member.target.identifier}: {member.error}" for member in members if member.error]
        return CollectFault(text="; ".join(failed), total=len(failed) == len(members)) if failed else None

    def explain(self) -> list[str]:
        lines: list[str] = []
        for one in (member.target for member in self._members.values()):
            what = " of ".join(part for part in (one.role, one.cluster) if part) or "single"
            lines.append(f"{one.identifier} ({what}) at {one.host}:{one.port}")
        places = ", ".join(str(client.place) for client, _ in self._places) if not lines else ""
        return lines or [f"no instance of MySQL or MariaDB with these names and tags is in {places}"]

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        found = {one.permission: one for _, discovery in self._places for one in discovery.found().missing}
        for member in self._members.values():
            for one in member.missing_privileges():
                found.setdefault(f"{one.permission} at {member.target.identifier}", one)
        return tuple(found.values())

    def close(self) -> None:
        self._closed = True
        for client, discovery in self._places:
            discovery.close()
            client.close()
        for member in list(self._members.values()):
            member.close()

    def _clients(self) -> list[AwsClient]:
        settings = self._settings
        accounts = [one.account() for one in settings.accounts] or [Account()]
        places = [(account, region) for account in accounts for region in settings.regions or regions_of(account)]
        if not places:
            raise ConfigError("discover: no region is known; give `regions`, or set AWS_DEFAULT_REGION")
        options = ConnectOptions(endpoint_url=settings.endpoint_url)
        return [connect(account, region, options, lambda _call, _seconds: None) for account, region in places]

    def _discovery(self, client: AwsClient) -> BackgroundDiscovery:
        settings = self._settings
        selection = Selection(
            [PresetKind(_PRESET, "rds")], {_PRESET: SelectSettings(names=settings.names, tags=settings.tags)}
        )
        discovery = Discovery(client, selection, interval_seconds=settings.every, parts=(DATABASES,))
        return BackgroundDiscovery(discovery, name="mysql-discovery")

    def _follow(self, resources: "Sequence[tuple[AwsClient, Resource]]") -> None:
        wanted: dict[str, tuple[AwsClient, Target]] = {}
        for client, resource in resources:
            target = target_of(resource)
            if target is not None:
                if len(self._places) > 1:
                    place = resource.place
                    target = target._replace(where=(("account_id", place.account_id), ("region", place.region)))
                wanted[resource.name] = (client, target)
        for name in list(self._members):
            if name not in wanted or _address(self._members[name].target) != _address(wanted[name][1]):
                self._members.pop(name).close()
        for name, (client, target) in wanted.items():
            if self._closed:
                return
            if name in self._members:
                self._members[name].target = target
            else:
                self._members[name] = _Member(target, self._make(client, target), self._login.deadline)

    def _wants(self, resource: Resource) -> bool:
        """Whether engine and role are asked for; names and tags are the discovery's business."""
        known, role = dict(resource.attributes), self._settings.role
        engine = known.get("engine", "")
        return any(fnmatchcase(engine, one) for one in self._settings.engine) and role in ("", known.get("role", ""))

    def _make(self, client: AwsClient, target: Target) -> Collector:
        if not self._login.iam_auth:
            return self._build(target.host, target.port, None)
        if not target.iam_login:
            what = f"the cluster {target.cluster}" if target.cluster else target.identifier
            return _Refused(f"IAM database authentication is off for {what}; turn it on in RDS, or give password_file")
        password = IamPassword(client, host=target.host, port=target.port, user=self._login.user)
        return self._build(target.host, target.port, password)


def _address(target: Target) -> tuple[str, int, bool]:
    return target.host, target.port, target.iam_login
