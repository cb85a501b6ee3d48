"""A pack proposed from a page of metrics: a panel for each family, and a resource where one is the limit of another."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from loadwatch_backend.catalogue.signals.model import METRIC

RUNTIME = ("go_", "process_", "python_", "promhttp_", "jvm_", "nodejs_")
"""What libraries tell of any program; other packs know it."""
_LIMIT = ("limit", "max", "maximum", "capacity", "quota")
_USED = ("use", "used", "open", "active", "acquired", "busy", "connected", "current", "usage")
"""The first that is there is taken."""
_SMALL = ("in", "total", "num", "count", "number")
_DEMAND = {
    **dict.fromkeys(("rejected", "refused", "dropped", "denied", "rejections"), "refused"),
    **dict.fromkeys(("waiting", "pending", "blocked", "waiters"), "waiting"),
    **dict.fromkeys(("waits", "waited"), "waits"),
    **dict.fromkeys(("timeouts", "timeout"), "timeouts"),
    **dict.fromkeys(("evicted", "evictions"), "evictions"),
    **dict.fromkeys(("errors", "failed", "failures"), "errors"),
}
_KINDS = {
    "pool": "pool", "connections": "connections", "conns": "connections", "clients": "connections", "cpu": "cpu",
    "memory": "memory", "heap": "memory", "disk": "storage", "storage": "storage", "queue": "queue",
    "messages": "queue", "backlog": "queue", "files": "files", "fds": "files", "ports": "ports",
}  # fmt: skip
_UNITS = {"seconds": "seconds", "bytes": "bytes", "ratio": "ratio"}
_RATES = {"bytes": "bytes_per_second", "seconds": "ratio"}
MOST_SERIES = 20
"""Of a family; the labels of one with more are summed up."""
MOST_ID = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of the page: `name` is that of its samples, `words` the parts of its name without their role."""

    name: str
    type: str
    help: str
    labels: Sequence[str]
    series: int

    @property
    def words(self) -> list[str]:
        return self.name.lower().split("_")

    @property
    def unit(self) -> str:
        """The base unit that the name ends in; count without one."""
        return next((_UNITS[one] for one in reversed(self.words) if one in _UNITS), "count")

    def stem(self, *roles: Collection[str]) -> frozenset[str]:
        return frozenset(
            one for one in self.words if one not in _UNITS and one not in _SMALL and not any(one in r for r in roles)
        )


def families_of(page: str) -> tuple[list[Family], list[str]]:
    """Families of a page in Prometheus' text format, and names of those left out.

    Raises:
        ValueError: it is no such page.
    """
    found: list[Family] = []
    left: list[str] = []
    for metric in text_string_to_metric_families(page):
        samples = [one for one in metric.samples if not one.name.endswith("_created")]
        is_info = metric.type == "info" or metric.name.endswith("_info")
        if not samples or is_info or metric.name.startswith(RUNTIME) or not METRIC.fullmatch(metric.name):
            left.append(metric.name)
        else:
            found.append(_family(metric))
    return found, left


def _family(metric: Metric) -> Family:
    samples = [one for one in metric.samples if not one.name.endswith("_created")]
    labels = {name for one in samples for name in one.labels if METRIC.fullmatch(name)} - {"le", "quantile"}
    kind, name = metric.type, metric.name
    if kind == "counter" or (kind == "unknown" and metric.name.endswith("_total")):
        kind, name = "counter", samples[0].name
    return Family(
        name=name,
        type=kind,
        help=" ".join(metric.documentation.split()),
        labels=sorted(labels),
        series=len({tuple(sorted((key, one.labels[key]) for key in labels if key in one.labels)) for one in samples}),
    )


def propose(name: str, page: str, known: Collection[str]) -> str:
    """The text of a `pack.yml`; what it is unsure of stands in comments. `known` are ids of other packs' signals.

    Raises:
        ValueError: the page is not Prometheus' text, or has nothing to show.
    """
    families, left = families_of(page)
    if not families:
        raise ValueError("the page has no metrics beside those of a runtime, which other packs know")
    resources = list(_resources(families))
    there = [resources[0][0]] if resources else families[:1]
    lines = [
        "# Proposed from a page of metrics. Read it, rename what people see, and remove what nobody needs.",
        *([f"# Left out: {', '.join(left)}"] if left else []),
        f"pack: {name}",
        f"title: {json.dumps(_title(name))}",
        f"there_when: [{', '.join(one.name for one in there)}]",
        "entity: {kind: app, by: [job, instance]}",
        "",
        "groups:",
        f"  - id: {name}",
        f"    title: {json.dumps(_title(name))}",
        "    panels:",
    ]
    taken = set(known)
    for family in families:
        lines += _panel(name, family, taken)
    if resources:
        lines += ["", "resources:"]
        for used, limit, others in resources:
            lines += _resource(name, used, limit, others, families)
    else:
        lines += ["# unsure: no pair of a limit and what is used of it was found, so there are no resources."]
    return "\n".join(lines) + "\n"


def _panel(pack: str, family: Family, taken: set[str]) -> Iterator[str]:
    base = re.sub(r"[^a-z0-9_]", "_", family.name.lower())
    id = (base if base.startswith(pack.replace("-", "_")) else f"{pack.replace('-', '_')}_{base}")[:MOST_ID]
    number = 2
    while id in taken:
        id, number = f"{id[: MOST_ID - 4]}_{number}", number + 1
    taken.add(id)
    labels = ["job", "instance", *(family.labels if family.series <= MOST_SERIES else ())]
    by, name, unit = ", ".join(labels), family.name, family.unit
    expression, note = name, ""
    if family.type == "counter":
        expression, unit = f"sum by ({by}) (rate({name}[$window]))", _RATES.get(unit, "per_second")
    elif family.type == "histogram":
        expression = f"histogram_quantile(0.95, sum by ({by}, le) (rate({name}_bucket[$window])))"
    elif family.type == "summary":
        expression = f"sum by ({by}) (rate({name}_sum[$window])) / sum by ({by}) (rate({name}_count[$window]))"
        note = "a summary is shown by its mean"
    elif family.series > MOST_SERIES:
        expression = f"sum by ({by}) ({name})"
    if family.type == "unknown":
        note = "the page does not say what type it is; a gauge is shown as it is"
    if family.series > MOST_SERIES:
        note = f"{family.series} series are summed up; keep the labels that matter of {', '.join(family.labels)}"
    if note:
        yield f"      # unsure: {note}"
    yield f"      - id: {id.replace('_', '-')}"
    yield f"        title: {json.dumps(_title(family.name))}"
    yield "        signals:"
    yield f"          - id: {id}"
    yield f"            title: {json.dumps('p95' if family.type == 'histogram' else _title(family.name))}"
    if family.help:
        yield f"            help: {json.dumps(family.help, ensure_ascii=False)}"
    yield f"            unit: {unit}"
    yield f"            expr: '{expression}'"
    yield f"            legend: '{_legend(labels)}'"


def _resources(families: Sequence[Family]) -> Iterator[tuple[Family, Family, Sequence[Family]]]:
    gauges = [one for one in families if one.type in ("gauge", "unknown")]
    for limit in gauges:
        if not set(limit.words) & set(_LIMIT):
            continue
        same = [
            one
            for one in gauges
            if one is not limit
            and not set(one.words) & {*_LIMIT, *_DEMAND}
            and one.unit == limit.unit
            and one.stem(_USED) == limit.stem(_LIMIT)
        ]
        same.sort(key=lambda one: next((place for place, word in enumerate(_USED) if word in one.words), len(_USED)))
        if same:
            yield same[0], limit, same[1:]


def _resource(
    pack: str, used: Family, limit: Family, others: Sequence[Family], families: Sequence[Family]
) -> Iterator[str]:
    words = [one for one in used.words if one not in _UNITS and one not in _SMALL and one not in _USED]
    own = pack.replace("-", "_")
    id = re.sub(r"[^a-z0-9_]", "_", "_".join(words))
    id = (id if id.startswith(own) else f"{own}_{id}")[:MOST_ID]
    common = [one for one in used.labels if one in limit.labels]
    by = ", ".join(["job", "instance", *common])
    if others:
        yield f"  # unsure: {used.name} was taken; what is in use might be {' or '.join(one.name for one in others)}"
    yield f"  - id: {id}"
    yield f"    title: {json.dumps(_title(id))}"
    yield f"    kind: {next((_KINDS[one] for one in reversed(words) if one in _KINDS), 'other')}"
    yield f"    unit: {used.unit}"
    yield f"    used: 'sum by ({by}) ({used.name})'"
    yield f"    limit: 'sum by ({by}) ({limit.name})'"
    demands = list(_demands(used, families))
    if demands:
        yield "    demand:"
    else:
        yield "    # unsure: nothing was found that tells who waits for it or is refused: write it as demand"
    for what, family in demands:
        if family.stem(_DEMAND) != used.stem(_USED):
            yield f"      # unsure: whether {family.name} has to do with {used.name}"
        inner = ", ".join(["job", "instance", *(one for one in common if one in family.labels)])
        value = f"rate({family.name}[$window])" if family.type == "counter" else family.name
        yield f"      - {{what: {what}, expr: 'sum by ({inner}) ({value})'}}"
    yield f"    legend: '{_legend(['instance', *common])}'"


def _demands(used: Family, families: Sequence[Family]) -> Iterator[tuple[str, Family]]:
    """For each kind of demand the family whose name has most words in common with what is used.

    Words that all families have tell nothing; a family without others may be about anything.
    """
    stem = used.stem(_USED)
    common = frozenset[str].intersection(*(one.stem(_USED, _LIMIT, _DEMAND) for one in families))
    best: dict[str, tuple[int, Family]] = {}
    for family in families:
        what = next((_DEMAND[one] for one in family.words if one in _DEMAND), None)
        if what is None or family.type not in ("counter", "gauge", "unknown"):
            continue
        if what == "waiting" and family.type == "counter":
            what = "waits"
        own = family.stem(_DEMAND)
        alike = len(stem & own)
        if (own <= common or own & stem - common) and alike > best.get(what, (-1, family))[0]:
            best[what] = (alike, family)
    yield from ((what, family) for what, (_, family) in best.items())


def _legend(labels: Sequence[str]) -> str:
    return " ".join(f"{{{{{one}}}}}" for one in labels if one != "job")


def _title(name: str) -> str:
    words = [one for one in re.split(r"[_:-]+", name) if one != "total"]
    text = " ".join(words)
    return text[:1].upper() + text[1:]
