"""The one ordered list of parts, as `services.yml` has them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission
from loadwatch_collectors.sources.aws.discovery.rds import read_databases, read_rds
from loadwatch_collectors.sources.aws.discovery.readers import (
    Kind,
    read_ecs,
    read_elasticache,
    read_elb,
    read_lists,
    read_proxies,
    read_services,
)

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
