"""What packs are made of: signals, panels, groups, resources, settings and changes, as `pack.yml` writes them.

A text is a string, or `{en: …, ja: …}`. An expression is PromQL, a list of alternatives, or a number. `$window` in an
expression stands for the range that rates look back over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from loadwatch_backend.core.texts.words import SILENT, Words

_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return Words(value, value)
    if not isinstance(value, dict):
        return value
    languages = cast("dict[str, Any]", value)
    for name, text in languages.items():
        if name not in ("en", "ja") or text is None:
            raise ValueError(f"{name!r} is no language (en, ja) with a text; quote a text that has a comma")
    if "en" not in languages:
        raise ValueError("the text has no English: write en: …")
    return Words(languages["en"], languages.get("ja", languages["en"]))


def _milliseconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError("a duration is a number and ms, s, m, h or d, such as 15s")
    return int(found[1]) * _MILLISECONDS[found[2]]


def _alternatives(value: Any) -> Any:
    return [str(one) for one in cast("list[Any]", value)] if isinstance(value, list) else [str(value)]


def _limits(value: Any) -> Any:
    """By name; a limit without one has the empty name."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"": value}


def _demands(value: Any) -> Any:
    return [{"expr": one} if isinstance(one, str) else one for one in _list(value)]


def _list(value: Any) -> Any:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


Text = Annotated[Words, BeforeValidator(_text)]
Duration = Annotated[int, BeforeValidator(_milliseconds)]
"""Milliseconds."""
Alternatives = Annotated[tuple[str, ...], BeforeValidator(_alternatives), Field(min_length=1)]
"""Expressions of which the first that has samples in the window serves an entity."""
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]*$", max_length=80)]
Names = Annotated[tuple[str, ...], BeforeValidator(_list)]


def any_of(alternatives: Sequence[str]) -> str:
    return alternatives[0] if len(alternatives) == 1 else " or ".join(f"({one})" for one in alternatives)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class Form(BaseModel):
    """Something that is written in a pack; keys that it does not have are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Unit(StrEnum):
    """Base units only; the page scales them."""

    SECONDS = "seconds"
    BYTES = "bytes"
    RATIO = "ratio"
    COUNT = "count"
    PER_SECOND = "per_second"
    BYTES_PER_SECOND = "bytes_per_second"


class Orientation(StrEnum):
    """Whether a higher value is bad news."""

    MORE_IS_WORSE = "more_is_worse"
    MORE_IS_BETTER = "more_is_better"
    NEUTRAL = "neutral"


_BETTER = {"lower": Orientation.MORE_IS_WORSE, "higher": Orientation.MORE_IS_BETTER, "neutral": Orientation.NEUTRAL}


def _better(value: Any) -> Any:
    if value not in _BETTER:
        raise ValueError(f"better is one of {', '.join(_BETTER)}")
    return _BETTER[value]


class Cadence(Form):
    """How values come that are not measured by an agent of ours each second, but fetched from `source` later.

    A value at T covers the `period_ms` before T. It may come minutes after T, and may still be revised or filled in
    until `settled_ms` after T. Where how often values come is the user's to set, `period_ms` is the shortest period
    there is, and `usual_ms` the one that is taken as long as the values themselves tell nothing. `events`: a value is
    written only when something happened, and a zero comes once nothing can come any more; a gap before is no delay.
    """

    source: str
    period_ms: Duration = Field(alias="period")
    settled_ms: Duration = Field(14_400_000, alias="settled")
    usual_ms: Duration | None = Field(None, alias="usual")
    events: bool = False


class Total(StrEnum):
    """What several instances are together."""

    SUM = "sum"
    MEAN = "mean"
    HIGHEST = "highest"
    LOWEST = "lowest"


class InfoJoin(Form):
    """Labels taken over from an info series whose labels `on` are the same, as they were at each time."""

    info: str
    on: tuple[str, ...]
    take: tuple[str, ...]


class Entity(Form):
    """What a pack watches: its kind, and the labels `by` which one is told from another.

    `names` are info series whose labels `take` are further names of it, such as the address that an exporter reads.
    """

    kind: str
    by: tuple[str, ...] = ("job", "instance")
    names: tuple[InfoJoin, ...] = ()


class Signal(Form):
    """A named expression.

    `legend` names a series from its labels, as in `{{mysql_user}}`. Where the values have a `cadence`, `$window` is
    how far back a discovered number is looked for. `total` says what the series are together, None that nothing is.
    `layers` are labels by which one instance has several series, each a part of its whole. `resource` is what the
    signal shows the use of: where there is more of it, more in use is no bad news. `awaited` are counts by the start of
    requests that are told of when they end: the newest ones are short of those that still wait. A `limit` is the bound
    of the panel's other signals.
    """

    id: Id
    title: Text
    help: Text = SILENT
    unit: Unit
    orientation: Annotated[Orientation, BeforeValidator(_better)] = Field(Orientation.NEUTRAL, alias="better")
    alternatives: Alternatives = Field(alias="expr")
    legend: str
    cadence: Cadence | None = Field(None, alias="late")
    total: Total | None = None
    facts: InfoJoin | None = None
    layers: tuple[str, ...] = ()
    awaited: bool = False
    limit: bool = False
    resource: str = ""
    order: int = 500

    @property
    def expression(self) -> str:
        return any_of(self.alternatives)


class Panel(Form):
    """A chart: signals that share one unit and are read together.

    `split` is a label whose values stand side by side, each in a chart of its own, on one axis. In a stacked one
    the signals and their layers are put on top of each other, below their limits. A table is a stack that is read
    as rows: its layers by their mean over the range. One that another pack has, too, is extended.
    """

    id: Id
    title: Text = SILENT
    signals: tuple[Signal, ...] = ()
    split: str | None = None
    form: Literal["lines", "stacked", "table"] = "lines"
    order: int = 500

    @property
    def stacked(self) -> bool:
        return self.form != "lines"

    @property
    def table(self) -> bool:
        return self.form == "table"


class Group(Form):
    """A section of the page, with its panels from top to bottom. An `optional` one is not shown without data."""

    id: Id
    title: Text = SILENT
    order: int = 500
    panels: tuple[Panel, ...] = ()
    optional: bool = True


LEAST_FULL_MS = 5_000
LEAST_SAMPLES = 3
"""One sample at its limit may be an instant of a second; three of them at least are time in which something waited."""
NEAR = 0.8
"""Used share from which most resources are near their limit."""


class Demand(Form):
    """Where more of a resource is wanted than there is.

    `expr` is at least `at_least` in an instant, or its values add up to `total` over the time that it was full. `log`
    is a pattern of an error log: its lines that were written meanwhile count. With `full` it is what waits or is
    refused for want of this resource alone: where `expr` is above 0, it is full from `near` on, or with unknown use.
    """

    what: Literal[
        "wanted",
        "waits",
        "waiting",
        "queue",
        "refused",
        "errors",
        "timeouts",
        "slow",
        "evictions",
        "reclaiming",
        "swapped",
    ] = "wanted"
    alternatives: Alternatives | None = Field(None, alias="expr")
    log: str = ""
    unit: Unit | None = None
    at_least: float = 0.0
    total: float = 0.0
    full: bool = False


class Holder(Form):
    """Who has it: its use by the values of one label."""

    label: str
    alternatives: Alternatives = Field(alias="expr")
    unit: Unit = Unit.COUNT


class AlertOf(Form):
    """The alert of a resource: a `rule` of rules.yml, thresholds of one that is made, or `none` and why."""

    rule: str = ""
    none: str = ""
    warning: float | None = None
    critical: float | None = None
    for_ms: Duration = Field(5_000, alias="for")
    keep_firing_for_ms: Duration = Field(60_000, alias="keep_firing_for")
    runbook: str = ""


class Noun(Form):
    """A thing that is counted, one and many."""

    en: tuple[str, str]
    ja: str


class Source(Form):
    """A whole alternative of a resource: use, limit and demand that belong together."""

    name: str = ""
    use: Alternatives = Field(alias="used")
    limits: Annotated[Mapping[str, Alternatives], BeforeValidator(_limits)] = Field(alias="limit")
    demands: Annotated[tuple[Demand, ...], BeforeValidator(_demands)] = Field((), alias="demand")
    legend: str = ""


class Resource(Form):
    """Something that can run out. `used` and each limit are joined by the labels that both have.

    All limits hold at once: the lowest counts. `legend` names an entry from the labels of `used`. It is near its limit
    from the share `near` on, and full from `full` on, for `for_ms` at least. `harm`: with `demand`, that it is full is
    its purpose; with `full`, it is the harm. `silent`: whether it counts as full where nobody answers and whoever asks
    waits. `kind_causes` are findings that may be its cause. Its `late` and `entity` are those of its pack unless given.
    """

    id: Id
    title: Text
    help: Text = SILENT
    unit: Unit
    noun: Noun | None = None
    kind: Literal[
        "pool", "connections", "cpu", "memory", "storage", "io", "network", "queue", "files", "ports", "quota", "other"
    ] = "other"
    use: Alternatives = Field(("",), alias="used")
    limits: Annotated[Mapping[str, Alternatives], BeforeValidator(_limits)] = Field({"": ("1",)}, alias="limit")
    sources: tuple[Source, ...] = ()
    limit_is: Literal["hard", "advised"] = "hard"
    demands: Annotated[tuple[Demand, ...], BeforeValidator(_demands)] = Field((), alias="demand")
    near: float = NEAR
    full: float = 0.98
    for_ms: Duration = Field(0, alias="for")
    silent: Literal["unknown", "full"] = "unknown"
    harm: Literal["any", "demand", "full"] = "any"
    holders: tuple[Holder, ...] = ()
    causes: tuple[str, ...] = ()
    scope: Literal["program", "host", "shared"] = "program"
    alert: AlertOf | None = None
    finding: str = ""
    legend: str = ""
    panel: str = ""
    group: str = ""
    advice: Text = SILENT
    cadence: Cadence | None = Field(None, alias="late")
    entity: Entity | None = None
    order: int = 500

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = self.model_fields_set
        if not self.sources and "use" not in given:
            raise ValueError("a resource needs used, or sources")
        if not self.sources and "limits" not in given and self.unit is not Unit.RATIO:
            raise ValueError("a resource needs a limit, unless its unit is ratio")
        return self

    @property
    def each(self) -> "Sequence[Resource]":
        if not self.sources:
            return [self]
        return [
            self.model_copy(
                update={
                    "sources": (),
                    "use": one.use,
                    "limits": one.limits,
                    "demands": one.demands,
                    "legend": one.legend or self.legend,
                }
            )
            for one in self.sources
        ]

    @property
    def used(self) -> str:
        return any_of(self.use)

    @property
    def limit(self) -> str:
        """All limits as one expression: the lowest of those of one label set."""
        texts = [any_of(one) for one in self.limits.values()]
        numbers = sorted((one for one in texts if is_number(one)), key=float)[:1]
        others = [one for one in texts if not is_number(one)]
        if len(numbers) + len(others) == 1:
            return (numbers + others)[0]
        named = [f'label_replace({one}, "limit_", "{place}", "", "")' for place, one in enumerate(others)]
        lowest = f"min without (limit_) ({any_of(named)})"
        for one in numbers:
            lowest = f"clamp_max({lowest}, {one}) or vector({one})"
        return lowest

    @property
    def demand(self) -> str:
        """What is above zero where somebody wants more of it; empty where nothing tells."""
        texts = [
            f"({any_of(one.alternatives)}) >= {one.at_least:g} > 0" if one.at_least else any_of(one.alternatives)
            for one in self.demands
            if one.alternatives is not None
        ]
        return any_of(texts) if texts else ""

    @property
    def rule(self) -> str:
        return "" if self.alert is None else self.alert.rule

    @property
    def alert_name(self) -> str:
        return self.rule or "".join(word.capitalize() for word in re.split("[-._]", self.id)) + "High"

    @property
    def finding_id(self) -> str:
        """The id of the finding that reports its exhaustion; empty where it has a detector of its own."""
        return "" if self.finding == "none" else self.finding or f"{self.id.replace('_', '-')}-exhausted"


@dataclass(slots=True, kw_only=True)
class Sighting:
    """What one source sees of a thing that can run out.

    Attributes:
        labels: of the target.
        interval_ms: how often samples come; 0 where nothing tells.
        sparse: whether most of its samples are missing, or the newest ones.
        names: what else the target is called, by the info series of its pack; `places` all its names as host and port.
    """

    resource: Resource
    labels: Mapping[str, str]
    interval_ms: int = 0
    sparse: bool = False
    names: Sequence[str] = ()
    places: frozenset[tuple[str, str]] = frozenset()


class Section(StrEnum):
    """Parts of a configuration, in the order in which they are shown."""

    POOL = "pool"
    DATABASE = "database"
    PROCESS = "process"
    KERNEL = "kernel"
    HOST = "host"
    CLOUD = "cloud"
    INSTANCES = "instances"
    VERSIONS = "versions"
    CACHE = "cache"
    TABLES = "tables"


class Setting(Form):
    """What a snapshot records: each series of `expr` is one setting of the target of its labels `job` and `instance`.

    `key` is what it is called: `{label}` stands for a label of the series, `{name}` for the metric's name. `family`, in
    place of `expr`, is what the names of metrics begin with, without those of `except`; `{name}` is what follows. The
    value is that of the sample, as a `time` where it is one, or the labels `text`. Important ones are shown at once,
    and nobody sets those that drift: all, none, or the keys that are listed. `flags` are keys that are on or off,
    `units` the keys of a unit other than `unit`.
    """

    section: Section
    key: str = "{name}"
    expr: str = ""
    family: str = ""
    without: tuple[str, ...] = Field(default=(), alias="except")
    form: Literal["number", "time"] = "number"
    text: tuple[str, ...] = ()
    unit: str = ""
    units: Mapping[str, frozenset[str]] = {}
    flags: frozenset[str] = frozenset()
    important: bool | frozenset[str] = True
    drifts: bool | frozenset[str] = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.expr) == bool(self.family):
            raise ValueError("a setting has either expr or family")
        return self

    @property
    def expression(self) -> str:
        without = "".join(f', __name__!="{one}"' for one in self.without)
        return self.expr or f'{{__name__=~"{self.family}.+"{without}}}'

    def is_important(self, key: str) -> bool:
        return self.important if isinstance(self.important, bool) else key in self.important

    def has_drift(self, key: str) -> bool:
        return self.drifts if isinstance(self.drifts, bool) else key in self.drifts

    def unit_of(self, key: str) -> str:
        return next((unit for unit, keys in self.units.items() if key in keys), self.unit)


class ChangedField(Form):
    """A value whose change is told: `words` is what it is called in a sentence, `tag` that of the annotation.

    `fall_tag` is in its place when a number falls. With `only_to`, only a change to this value is told: of two that
    swap, one is enough. `unless` is a label whose presence says that the change is told elsewhere. A `time` in seconds
    since the epoch changes only to a later one, and that is when the change is told to have been.
    """

    words: str
    tag: str
    fall_tag: str = ""
    only_to: str = ""
    unless: str = ""
    form: Literal["number", "time"] = "number"


class Presence(Form):
    """Coming and going is told, but where the label `unless` is there; where `scales` is, it is scaling out and in."""

    scales: str = ""
    unless: str = ""


class Watch(Form):
    """A series whose labels or value become annotations when they change.

    The agents that find its resources list them in full: `listed_by` is their `kind` in `aws_discovered_resources`, and
    what is not among them is gone. A series without it comes each second from its program. `noun` is what one and
    several are called. The labels `name` name a resource for people; those of `key` tell it from others, beside
    account, region and the label `name`.
    """

    series: Annotated[str, Field(pattern=METRIC)]
    listed_by: str = ""
    noun: Annotated[Names, Field(min_length=1, max_length=2)]
    name: tuple[str, ...]
    key: tuple[str, ...] = ()
    presence: Presence | None = None
    labels: Mapping[str, ChangedField] = {}
    value: ChangedField | None = None

    @property
    def fields(self) -> Mapping[str, ChangedField]:
        """What is compared, by label; the value has the empty one."""
        return {**self.labels, "": self.value} if self.value else self.labels

    @property
    def origin(self) -> str:
        """Who tells it, as author and tag of the annotation."""
        return "aws" if self.listed_by else "app"


class Metric(Form):
    """A metric that we send ourselves; type and unit follow from its name where they are not given."""

    help: str
    type: Literal["counter", "gauge", "histogram", "summary", "info", "unknown", ""] = ""
    unit: str = ""


class Detect(Form):
    """How a technology is recognised that sends nothing itself."""

    processes: Names = ()
    ports: Annotated[tuple[int, ...], BeforeValidator(_list)] = ()
    libraries: Names = ()
    schemes: Names = ()
    routes: Names = ()
    logs: Names = ()


class Pack(Form):
    """What is known of one technology."""

    id: Id = Field(alias="pack")
    title: Text
    there_when: Annotated[
        tuple[Annotated[str, Field(pattern=METRIC)], ...], BeforeValidator(_list), Field(min_length=1)
    ]
    detect: Detect = Detect()
    watch_with: str = ""
    entity: Entity | None = None
    groups: tuple[Group, ...] = ()
    resources: tuple[Resource, ...] = ()
    settings: tuple[Setting, ...] = ()
    changes: tuple[Watch, ...] = ()
    metrics: Mapping[str, Mapping[str, str | Metric]] = {}
    """What our senders bring: by sender (a collector, say) and name, its help or what else is known of it."""
    cadence: Cadence | None = Field(None, alias="late")
    level: Literal["basic", "complete", "tested"] | None = None

    def signals(self) -> Iterator[tuple[tuple[str | int, ...], Signal]]:
        for g, group in enumerate(self.groups):
            for p, panel in enumerate(group.panels):
                for s, signal in enumerate(panel.signals):
                    yield ("groups", g, "panels", p, "signals", s), signal


LABEL = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\|\s*percentile\s*)?\}\}")
"""With `| percentile` the label is a quantile of 0 to 1, told as a percentile."""


def render_legend(template: str, labels: Mapping[str, str]) -> str:
    """The name of a series; a missing label leaves nothing behind, not even a second space."""

    def shown(found: re.Match[str]) -> str:
        value = labels.get(found[1], "")
        return percentile_name(value) if "|" in found[0] else value

    return " ".join(LABEL.sub(shown, template).split())


def percentile_name(quantile: str) -> str:
    """`p99.9` of `0.999`, `max` of `1`; what is no quantile stays as it is."""
    try:
        share = Decimal(quantile)
    except InvalidOperation:
        return quantile
    if not 0 <= share <= 1:
        return quantile
    return {Decimal(0): "min", Decimal(1): "max"}.get(share, f"p{(share * 100).normalize():f}")


def name_series(title: str, template: str, labels: Mapping[str, str], *, shared: bool) -> str:
    rendered = render_legend(template, labels)
    if not rendered:
        return title
    return f"{title} · {rendered}" if shared else rendered
