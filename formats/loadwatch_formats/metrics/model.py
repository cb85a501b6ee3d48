"""What is known of a metric: `metrics:` of the packs, by who sends it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from loadwatch_packs import FOLDER

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """What a metric means; sent as remote-write metadata and listed in the reference.

    `type` is counter, gauge, histogram, summary, info or unknown, as in OpenMetrics. `unit` is a base unit.
    """

    name: str
    type: str
    help: str
    unit: str = ""


@cache
def metrics_of(pack: str) -> Mapping[str, Sequence[MetricInfo]]:
    """What each of our senders brings of what a pack knows, by the sender's name. `metrics:` is the file's last key."""
    # The rest is the server's: an agent starts without having read it.
    text = (FOLDER / pack / "pack.yml").read_text("utf-8").partition("\nmetrics:\n")[2]
    return {
        sender: [metric_info(name, about) for name, about in metrics.items()]
        for sender, metrics in yaml.load(text, _LOADER).items()
    }


def metric_info(name: str, about: str | Mapping[str, str]) -> MetricInfo:
    """A metric of its help, or of a mapping. Type and unit follow from the name where they are not given.

    That is how Prometheus names metrics: `_total` is a counter, anything else a gauge; the unit stands at the end.
    """
    given = {"help": about} if isinstance(about, str) else about
    last = name.removesuffix("_total").rpartition("_")[2]
    known = {
        "type": "counter" if name.endswith("_total") else "gauge",
        "unit": last if last in ("seconds", "bytes") else "",
    }
    return MetricInfo(**{"name": name, **known, **given})
