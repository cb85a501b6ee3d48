"""CloudWatch's series of databases: a value each minute, of the minute before it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import largest, longest_episode
from loadwatch_backend.findings.window import BoolArray, Episode, Window

PERIOD_MS = 60_000
DATABASE = "dimension_DBInstanceIdentifier"
_IDENTITY = (DATABASE, "region", "account_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudDatabase:
    """An instance of RDS or Aurora. `key` tells its series, `labels` are those of a finding about it."""

    key: Mapping[str, str]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.key[DATABASE]

    def values(self, window: Window, metric: str) -> FloatArray:
        """[instant]: a metric of it; NaN where unknown."""
        return window[metric].where(**{name: self.key.get(name, "") for name in _IDENTITY}).max

    def fact(self, window: Window, metric: str) -> float:
        """What discovery has found, anywhere in the window; NaN where it found nothing."""
        return largest(self.values(window, metric), slice(None))


def cloud_databases(window: Window, metric: str) -> Iterator[CloudDatabase]:
    for key, _ in window[metric].by(*_IDENTITY):
        if DATABASE in key:
            region = {"region": key["region"]} if "region" in key else {}
            yield CloudDatabase(key=key, labels={"instance": key[DATABASE], **region})


def for_minutes(window: Window, holds: BoolArray) -> Episode | None:
    """Where something held for three values of CloudWatch on end, from the first to the last of them."""
    return longest_episode(window, holds, PERIOD_MS, gap=2)
