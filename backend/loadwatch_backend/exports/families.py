"""From names of metrics to OpenMetrics' families. Pure.

OpenMetrics names the family, and samples add a suffix that its type fixes: `orders` is a counter with `orders_total`,
`answer_seconds` a histogram with `answer_seconds_bucket`. The store knows names of samples, and metadata under either.
Source: the OpenMetrics 1.0 specification, "Metric Types".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loadwatch_backend.store.port import MetricMetadata

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "counter": ("_total",),
    "info": ("_info",),
    "histogram": ("_bucket", "_count", "_sum"),
    "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
    "summary": ("", "_count", "_sum"),
}
"""By type, in the order in which a point's samples are written."""
_PLAIN = ("gauge", "stateset")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family: its samples belong to these `metrics`, in this order."""

    name: str
    type: str
    help: str
    unit: str
    metrics: tuple[str, ...]

    @property
    def point_label(self) -> str:
        """The label by which the samples of one point differ; none for most types."""
        return {"histogram": "le", "gaugehistogram": "le", "summary": "quantile"}.get(self.type, "")


def plan_families(names: Iterable[str], metadata: Mapping[str, MetricMetadata]) -> list[Family]:
    """All families of the metrics, by name, each metric in one of them.

    A type that the name does not bear out (a counter without `_total`), or two that want one family's name, become
    `unknown` under their full names: nothing is left out for it.
    """
    wanted = sorted(set(names))
    known = set(wanted)
    typed: dict[str, set[str]] = defaultdict(set)
    found = {name: _family_of(name, metadata) for name in wanted}
    for base, kind in found.values():
        typed[base].add(kind)
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, (base, kind) in found.items():
        clashes = len(typed[base]) > 1 or (base != name and base in known and kind != "summary")
        members[(name, kind if kind in _PLAIN else UNKNOWN) if clashes else (base, kind)].append(name)
    return [_family(base, kind, tuple(metrics), metadata) for (base, kind), metrics in sorted(members.items())]


def _family_of(name: str, metadata: Mapping[str, MetricMetadata]) -> tuple[str, str]:
    for kind, suffixes in SUFFIXES.items():
        for suffix in suffixes:
            base = name.removesuffix(suffix)
            if base + suffix == name and base and (suffix or kind == "summary"):
                # Senders of the older text format name the samples, those of OpenMetrics the family.
                for said in (name, base):
                    if (entry := metadata.get(said)) is not None and entry.type == kind:
                        return base, kind
    entry = metadata.get(name)
    return name, entry.type if entry is not None and entry.type in _PLAIN else UNKNOWN


def _family(name: str, kind: str, metrics: tuple[str, ...], metadata: Mapping[str, MetricMetadata]) -> Family:
    said = next((entry for one in (name, *metrics) if (entry := metadata.get(one)) is not None), None)
    unit = said.unit if said is not None else ""
    return Family(
        name=name,
        type=kind,
        help=said.help if said is not None else "",
        # The specification wants the unit at the end of the name; a reader may refuse it elsewhere.
        unit=unit if unit and name.endswith(f"_{unit}") else "",
        metrics=metrics,
    )
