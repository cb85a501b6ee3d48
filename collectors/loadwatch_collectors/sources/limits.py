"""Limits that nothing measures, as the user declares them: a network's cap, the cores of a service."""

import re
from dataclasses import dataclass

from loadwatch_collectors.collector import Collector, Sample, Source
from loadwatch_collectors.settings import Limit, option

MOST_LIMITS = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@ -]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSettings:
    declared: dict[str, Limit] = option(
        help="What is limited → how much: eth0: 100Mbit/s, redis: 1 core, disk: 3000 iops. A network's name is that of "
        "its interface; any other is yours.",
        rest="RESOURCE",
    )

    def __post_init__(self) -> None:
        if not 0 < len(self.declared) <= MOST_LIMITS:
            raise ValueError(f"give between 1 and {MOST_LIMITS} limits, such as eth0: 100Mbit/s")
        for name in self.declared:
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name[:80]!r} cannot be the name of a limit: letters, digits and _.:/@ -, 64 at most"
                )


class LimitsCollector(Collector):
    """Sends the declared limits at each tick, beside the metrics that they limit."""

    def __init__(self, settings: LimitsSettings) -> None:
        self._samples = [
            Sample("declared_limit", limit.value, (("resource", name), ("unit", limit.unit)))
            for name, limit in settings.declared.items()
        ]

    def collect(self) -> list[Sample]:
        return self._samples


LIMITS = Source(
    name="limits",
    help="Limits that cannot be measured, as you declare them: the cap of a network, the cores of a service. What is "
    "in bytes a second counts against the interface of that name on this host, cores against the target's process.",
    settings=LimitsSettings,
    build=LimitsCollector,
    packs=("host",),
    interval_seconds=5.0,
)
