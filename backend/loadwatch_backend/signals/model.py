"""What a signal, a panel and a resource are; the catalogue is made of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from loadwatch_backend.texts.words import Words


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """How values come that are not measured by an agent of ours each second, but fetched from `source` later.

    A value at T covers the `period_ms` before T. It may come minutes after T, and may still be revised or filled in
    until `settled_ms` after T. Where how often values come is the user's to set, `period_ms` is the shortest period
    there is, and `usual_ms` the one that is taken as long as the values themselves tell nothing. `events`: a value is
    written only when something happened, and a zero comes once nothing can come any more; a gap before is no delay.
    """

    source: str
    period_ms: int
    settled_ms: int = 14_400_000
    usual_ms: int | None = None
    events: bool = False


class Total(StrEnum):
    """What several instances are together."""

    SUM = "sum"
    MEAN = "mean"
    HIGHEST = "highest"
    LOWEST = "lowest"


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoJoin:
    """Labels taken over from an info series whose labels `on` are the same, as they were at each time."""

    info: str
    on: Sequence[str]
    take: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A named PromQL expression. `$window` in it stands for the range that rates look back over.

    `legend` names a series from its labels, as in `{{mysql_user}}`. Where the values have a `cadence`, `$window` is
    how far back a discovered number is looked for. `total` says what the series are together, None that nothing is.
    `layers` are labels by which one instance has several series, each a part of its whole. `resource` is what the
    signal shows the use of: where there is more of it, more in use is no bad news. `awaited` are counts by the start of
    requests that are told of when they end: the newest ones are short of those that still wait. A `limit` is the bound
    of the panel's other signals.
    """

    id: str
    title: Words
    help: Words
    unit: Unit
    orientation: Orientation
    expression: str
    legend: str
    cadence: Cadence | None = None
    total: Total | None = None
    facts: InfoJoin | None = None
    layers: Sequence[str] = ()
    awaited: bool = False
    limit: bool = False
    resource: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A chart: signals that share one unit and are read together.

    `split` is a label whose values stand side by side, each in a chart of its own, on one axis. In a `stacked` one
    the signals and their layers are put on top of each other, below their limits. A `table` is a stack that is read
    as rows: its layers by their mean over the range.
    """

    id: str
    title: Words
    signals: Sequence[Signal]
    split: str | None = None
    stacked: bool = False
    table: bool = False


NEAR = 0.8
"""Used share from which most resources are near their limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something that can run out. `used` and `limit` are joined by the labels that both have.

    `legend` names one of its entries from the labels of `used`. `rule` is the default rule that warns before it has run
    out; where there is none, `no_rule` says why. `near` is the used share from which it is near its limit: higher for
    what is filled on purpose. `demand` is above zero where somebody waits for more of it or is refused; empty where
    nothing tells.
    """

    id: str
    title: Words
    help: Words
    unit: Unit
    used: str
    limit: str
    legend: str
    group: str
    cadence: Cadence | None = None
    rule: str = ""
    no_rule: str = ""
    near: float = NEAR
    demand: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A section of the page, with its panels from top to bottom. An `optional` one is not shown without data."""

    id: str
    title: Words
    panels: Sequence[Panel]
    optional: bool = False
