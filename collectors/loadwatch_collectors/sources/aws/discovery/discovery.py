"""Looks for resources in one account and region, part by part (of `services.yml`), and keeps what it has found."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from loadwatch_collectors.collector import MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient
from loadwatch_collectors.sources.aws.client.errors import ASSUME_ROLE, AwsError, ForbiddenError
from loadwatch_collectors.sources.aws.discovery.part import (
    Item,
    Kept,
    Look,
    Part,
    Permission,
    Selection,
    has_wildcard,
    tag_pairs,
)
from loadwatch_collectors.sources.aws.discovery.readers import (
    Kind,
    read_databases,
    read_ecs,
    read_elasticache,
    read_elb,
    read_lists,
    read_proxies,
    read_rds,
    read_services,
)
from loadwatch_collectors.sources.aws.model import Found, Pairs

TAGGED = Permission(
    action="tag:GetResources",
    lost="what is chosen by tags among load balancers, target groups, ECS clusters, RDS proxies, ElastiCache, Lambda "
    "and SQS",
)

_TYPES = {
    "alb": ("elasticloadbalancing:loadbalancer",),
    "nlb": ("elasticloadbalancing:loadbalancer",),
    "target_group": ("elasticloadbalancing:targetgroup",),
    "ecs_cluster": ("ecs:cluster",),
    "rds_proxy": ("rds:db-proxy",),
    "elasticache": ("elasticache:cluster",),
    "lambda": ("lambda:function",),
    "sqs": ("sqs",),
}
"""Resource types of the Resource Groups Tagging API by kind."""
LOOKED_UP = frozenset(_TYPES) - {"ecs_cluster"}
"""Kinds whose tags are read by it. Of clusters it is asked only where they may not be described."""


def tag_filters(wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """`TagFilters` that find at least what is wanted; wildcards are matched afterwards."""
    return [
        {"Key": key} if has_wildcard(value) else {"Key": key, "Values": [value]}
        for key, value in sorted(wanted.items())
    ]


class TagLookup:
    """Tags by ARN, asked for once in a look for each kind and set of tags."""

    def __init__(self, client: AwsClient, deadline: float) -> None:
        self._client = client
        self._deadline = deadline
        self._found: dict[str, Mapping[str, Pairs]] = {}

    def __call__(self, kind: str, wanted: Sequence[Mapping[str, str]]) -> Mapping[str, Pairs]:
        """The tags of resources of a kind that have any of the wanted sets.

        Raises:
            AwsError: they cannot be read.
        """
        if kind not in self._found:
            found: dict[str, Pairs] = {}
            for tags in wanted:
                parameters = {
                    "ResourceTypeFilters": list(_TYPES[kind]),
                    "TagFilters": tag_filters(tags),
                    "ResourcesPerPage": 100,
                }
                pages = self._client.pages(
                    "resourcegroupstaggingapi", "get_resources", parameters, deadline=self._deadline
                )
                for page in pages:
                    for row in page.get("ResourceTagMappingList") or ():
                        found[row["ResourceARN"]] = tag_pairs(row.get("Tags"))
            self._found[kind] = found
        return self._found[kind]


# The one ordered list of parts, as `services.yml` has them.


_READERS: Mapping[str, Callable[[Look, Mapping[str, Kind]], Iterable[Item]]] = {
    "rds": read_rds,
    "databases": read_databases,
    "rds_proxies": read_proxies,
    "elb": read_elb,
    "ecs": read_ecs,
    "elasticache": read_elasticache,
}


def _part(name: str, service: Mapping[str, Any]) -> Part:
    read, kinds = _READERS.get(name, read_lists), service["kinds"]
    return Part(
        name=name,
        kinds=tuple(kinds),
        read=lambda look: read(look, kinds),
        permissions=tuple(Permission(action=action, lost=lost) for action, lost in service["permissions"].items()),
        often=service.get("often", False),
    )


_parts = {name: _part(name, service) for name, service in read_services().items()}
DATABASES = _parts.pop("databases")
"""For collectors that log in; not among what `cloudwatch` reads."""
PARTS: tuple[Part, ...] = tuple(_parts.values())


# Looks for resources in one account and region, part by part, and keeps what it has found.


OFTEN_SECONDS = 30.0
"""Parts with roles and counts look this often, so that a failover is seen within a minute."""
FRESH_SECONDS = 15.0
"""Age beyond which these parts are read anew for whoever asks for the current state."""
LOOK_SECONDS = 120.0
"""Limit of one look at one part; expensive details not read by then are left to the next look."""
_ASKED_SECONDS = 2.0
"""Longest wait, for whoever asks, for parts that are read anew."""
_SHARE = 20.0
"""A look that took long is not repeated before so many times its length: at most a twentieth of the time is spent."""
_FIRST_BACKOFF = 15.0
_LONGEST_BACKOFF = 600.0
_log: Any = structlog.get_logger("loadwatch.aws")


@dataclass(slots=True)
class _State:
    due: float = 0.0
    asked_due: float = 0.0
    """When it is due for somebody who asks: sooner than by itself, for parts that are read often."""
    read: float | None = None
    failures: int = 0
    items: Sequence[Item] = ()
    error: AwsError | None = None
    missing: tuple[MissingPrivilege, ...] = ()
    kept: dict[str, Kept] = field(default_factory=dict[str, Kept])


class Discovery:
    """What is there in one place. `look` is called by one thread; `found` by any."""

    def __init__(
        self,
        client: AwsClient,
        selection: Selection,
        *,
        interval_seconds: float = 300.0,
        parts: Sequence[Part] = PARTS,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._selection = selection
        self._interval = interval_seconds
        self._monotonic = monotonic
        self._jitter = jitter
        self._parts = {part: _State() for part in parts if any(selection.wants(kind) for kind in part.kinds)}
        self._lock = threading.Lock()

    def look(self, *, asked: bool = False) -> float:
        """Read the parts that are due, or due for somebody who asks; seconds until the next is due by itself.

        A part that fails keeps what it knew, and is tried again later and later; the others go on.
        """
        for part, state in self._parts.items():
            if self._monotonic() >= (state.asked_due if asked else state.due):
                self._read(part, state)
        return max(
            min((state.due for state in self._parts.values()), default=self._monotonic() + 60) - self._monotonic(), 0.0
        )

    def found(self) -> Found:
        with self._lock:
            states = list(self._parts.values())
            items = [item for state in states for item in state.items]
            missing = {one.permission: one for state in states for one in state.missing}
            health = self._health()
        return Found(
            resources=tuple(item.resource for item in items),
            facts=(*(fact for item in items for fact in item.facts), *health),
            missing=tuple(missing.values()),
        )

    def errors(self) -> Sequence[tuple[str, AwsError]]:
        with self._lock:
            return [(part.name, state.error) for part, state in self._parts.items() if state.error is not None]

    def is_fresh(self) -> bool:
        with self._lock:
            return all(self._monotonic() < state.asked_due for state in self._parts.values())

    def is_complete(self) -> bool:
        """Whether every part was looked at, with or without success."""
        with self._lock:
            return all(state.read is not None or state.failures for state in self._parts.values())

    def _read(self, part: Part, state: _State) -> None:
        began = self._monotonic()
        interval = min(OFTEN_SECONDS, self._interval) if part.often else self._interval
        fresh = min(FRESH_SECONDS, self._interval / 4)
        error: AwsError | None = None
        items: Sequence[Item] = state.items
        look: Look | None = None
        try:
            look = self._make_look(part, state, began)
            items = list(part.read(look))
            look.forget_unused()
        except AwsError as failed:
            error = failed
            if look is not None and isinstance(failed, ForbiddenError):
                look.note(failed.action)
        except Exception as failed:  # A fault of one part must not cost the others, which come after it.
            error = AwsError(f"discovery of {part.name} has a fault of its own: {type(failed).__name__}: {failed}")
            if state.error is None:
                _log.exception("discovery has a fault of its own", part=part.name)
        took = self._monotonic() - began
        self._note(part, state, error)
        with self._lock:
            state.items = items
            if look is not None:
                state.missing = tuple(look.missing.values())
            state.error = error
            if error is None:
                state.read = began
                state.failures = 0
                state.due = began + max(interval, _SHARE * took)
                state.asked_due = began + max(fresh, _SHARE * took) if part.often else state.due
            else:
                state.failures += 1
                wait = min(_FIRST_BACKOFF * 2 ** (state.failures - 1), _LONGEST_BACKOFF)
                state.due = began + took + max(wait, interval) * (0.75 + 0.5 * self._jitter())
                state.asked_due = state.due

    def _make_look(self, part: Part, state: _State, now: float) -> Look:
        deadline = time.monotonic() + LOOK_SECONDS
        return Look(
            client=self._client,
            selection=self._selection,
            place=self._client.place,
            now=now,
            deadline=deadline,
            kept=state.kept,
            keep_seconds=self._interval,
            lost={permission.action: permission.lost for permission in (*part.permissions, TAGGED)}
            | {ASSUME_ROLE: f"everything of {self._client.place}"},
            tags=TagLookup(self._client, deadline),
        )

    def _note(self, part: Part, state: _State, error: AwsError | None) -> None:
        if error is not None and state.error is None:
            _log.warning("discovery fails; what was known is kept", part=part.name, error=str(error))
        elif error is None and state.error is not None:
            _log.info("discovery works again", part=part.name)

    def _health(self) -> list[Sample]:
        now = self._monotonic()
        samples: list[Sample] = []
        for part, state in self._parts.items():
            if state.read is None:
                continue
            place = state.items[0].resource.place if state.items else self._client.place
            where = (("account_id", place.account_id), ("region", place.region))
            samples.append(Sample("aws_discovery_age_seconds", now - state.read, (*where, ("part", part.name))))
            counts = dict.fromkeys((kind for kind in part.kinds if self._selection.wants(kind)), 0)
            for item in state.items:
                counts[item.resource.kind] = counts.get(item.resource.kind, 0) + 1
            samples += [
                Sample("aws_discovered_resources", float(count), (*where, ("kind", kind)))
                for kind, count in counts.items()
                if count or not state.missing  # none were found, or they may not be listed
            ]
        return samples


class BackgroundDiscovery:
    """Looks in a thread of its own, so that no poll waits for thousands of resources to be listed."""

    def __init__(self, discovery: Discovery, name: str = "aws-discovery") -> None:
        self._discovery = discovery
        self._stopping = threading.Event()
        self._first = threading.Event()
        self._asked = threading.Event()
        self._answered = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._started = False

    def found(self, wait_seconds: float = 0.0) -> Found:
        """What is known now; starts the looking. Before the first look has ended it waits up to `wait_seconds`.

        Later it waits for roles and counts that are read anew, but never long: with 0 seconds not at all.
        """
        if not self._started:
            self._started = True
            self._thread.start()
        if self._first.is_set() and wait_seconds > 0 and not self._discovery.is_fresh():
            self._answered.clear()
            self._asked.set()
            self._answered.wait(min(wait_seconds, _ASKED_SECONDS))
        else:
            self._first.wait(wait_seconds)
        return self._discovery.found()

    def errors(self) -> Sequence[tuple[str, AwsError]]:
        return self._discovery.errors()

    def is_complete(self) -> bool:
        return self._discovery.is_complete()

    def close(self) -> None:
        """Look no more; a request under way ends by itself."""
        self._stopping.set()
        self._asked.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            asked = self._asked.is_set()
            self._asked.clear()
            try:
                wait = self._discovery.look(asked=asked)
            except Exception:
                _log.exception("discovery has a fault of its own")
                wait = 60.0
            self._first.set()
            self._answered.set()
            if not self._stopping.is_set():
                self._asked.wait(min(max(wait, 1.0), 60.0))
