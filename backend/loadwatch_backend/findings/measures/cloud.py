"""CloudWatch's series of databases: a value each minute, of the minute before it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import focused, largest
from loadwatch_backend.findings.window import BoolArray, Episode, Table, Window, episodes, least_instants

PERIOD_MS = 60_000
SWITCHED_ON_BY = "cloudwatch:\n  regions: [ap-northeast-1]\n  presets: [rds]"
DATABASE = "dimension_DBInstanceIdentifier"
_IDENTITY = (DATABASE, "region", "account_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudDatabase:
    """An instance of RDS or Aurora. `key` tells its series, `labels` are those of a finding about it."""

    key: Mapping[str, str]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its identifier."""
        return self.key[DATABASE]

    def values(self, window: Window, metric: str) -> FloatArray:
        """[instant]: a metric of it; NaN where unknown."""
        return _of(window, metric, self.key).max

    def fact(self, window: Window, metric: str) -> float:
        """What discovery has found, anywhere in the window; NaN where it found nothing."""
        return largest(self.values(window, metric), slice(None))


def cloud_databases(window: Window, metric: str) -> Iterator[CloudDatabase]:
    """All instances that this metric is known of."""
    for key, _ in window[metric].by(*_IDENTITY):
        if DATABASE in key:
            region = {"region": key["region"]} if "region" in key else {}
            yield CloudDatabase(key=key, labels={"instance": key[DATABASE], **region})


def for_minutes(window: Window, holds: BoolArray, *, samples: int = 3) -> Episode | None:
    """Where something held for so many values of CloudWatch on end, from the first to the last of them."""
    inside = focused(window, holds)
    least = least_instants(window.grid, PERIOD_MS, samples=samples)
    found = episodes(inside, least=least, gap=2)
    return window.one_of(found) if found else None


def _of(window: Window, metric: str, key: Mapping[str, str]) -> Table:
    return window[metric].where(**{name: key.get(name, "") for name in _IDENTITY})
