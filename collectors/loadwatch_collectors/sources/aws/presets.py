"""What is read of each kind of AWS resource, as the files `presets/` of the packs say.

Pure but for reading them; what is wrong in one is a `ConfigError` with file and line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from loadwatch_formats.metrics.model import MetricInfo
from loadwatch_packs import FOLDER

from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.settings_loader import load_text
from loadwatch_collectors.sources.aws.model import ABSENT, MAX_STATISTICS, Pairs

_SEPARATORS = frozenset(" ,\t/\\.-:=@<>()“")
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


def snake_case(text: str) -> str:
    """A word of CloudWatch in YACE's snake case: `CPUUtilization` is `cpuutilization`, `5XX` is `5_xx`.

    An underscore comes between a small letter or digit and a capital, never between two capitals. Signs that no name
    may have become underscores; `%` becomes `_percent`. (YACE's `promutil.PromString`.)
    """
    parts: list[str] = []
    before = ""
    for sign in text:
        if sign in _SEPARATORS:
            parts.append("_")
        elif sign == "%":
            parts.append("_percent")
        else:
            if sign.isupper() and (before.islower() or before.isdecimal()):
                parts.append("_")
            parts.append(sign.lower())
        before = sign
    return _NOT_A_NAME.sub("_", "".join(parts))


@cache
def series_name(namespace: str, metric: str, statistic: str = "") -> str:
    """The name of a series: `aws_<namespace>_<metric>_<statistic>`, as YACE's `promutil.BuildMetricName` makes it.

    A metric whose name repeats its namespace loses the repetition (`Glue`'s `glue.driver...`).
    """
    space = snake_case(namespace.removeprefix("/").lower())
    word = snake_case(metric)
    skip = 0
    for part in space.split("_"):
        if part and word.startswith(part, skip):
            skip = len(part)
    word = word[skip:].removeprefix("_")
    prefix = "" if space.startswith("aws") else "aws_"
    return f"{prefix}{space}_{word}" + (f"_{snake_case(statistic)}" if statistic else "")


def dimension_label(dimension: str) -> str:
    """The label of a dimension: `dimension_<Name>`, its capitals kept, as YACE does unless told otherwise."""
    return "dimension_" + _NOT_A_NAME.sub("_", dimension.replace("%", "_percent"))


# Whether a preset is meant for a resource, by what is known of the resource. Pure.


def fits(only: Mapping[str, tuple[str, ...]], attributes: Pairs) -> bool:
    """Whether a resource has all that a preset asks for: `engine` matches `aurora*`, or does not match `!aurora*`.

    An attribute that is not known excludes nothing: a metric too many costs a little, one too few is missed.
    """
    known = dict(attributes)
    return all(_matches(known[name], patterns) for name, patterns in only.items() if known.get(name))


def _matches(value: str, patterns: Sequence[str]) -> bool:
    refused = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    accepted = [pattern for pattern in patterns if not pattern.startswith("!")]
    if any(fnmatchcase(value, pattern) for pattern in refused):
        return False
    return not accepted or any(fnmatchcase(value, pattern) for pattern in accepted)


# Reads the files in `presets/` of the packs; what is wrong in one is a `ConfigError` with file and line.


ORIENTATIONS = ("", "more_is_worse", "more_is_better")
UNITS = tuple("bytes bytes_per_second count mebibytes microseconds milliseconds per_second percent seconds".split())
READERS = ("metrics", "insights", "enhanced")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEntry:
    name: str = option(help="CloudWatch's name.")
    statistics: tuple[str, ...] = option(help="One to five, as CloudWatch writes them.")
    unit: str = option(help="What a value is in.")
    help: str = option(help="What it means, in a sentence.")
    period: Seconds | None = option(help="Length of a point, where it differs from the file's.", default=None)
    absent: str = option(help="gap, or zero-when-delivered.", default="gap")
    orientation: str = option(help="more_is_worse, more_is_better, or nothing.", default="")
    priority: int = option(help="0 headroom, 1 usual, 2 the first to be read less often.", default=1)
    only: dict[str, tuple[str, ...]] = option(help="Facts that the resource must have, too.", default_factory=dict)
    period_series: str = option(help="Series of each point's period, where resources differ in it.", default="")
    namespace: str = option(help="CloudWatch's namespace: that of the file.", default="")

    def __post_init__(self) -> None:
        check_words(unit=self.unit, orientation=self.orientation)
        if not 1 <= len(self.statistics) <= MAX_STATISTICS:
            raise ValueError(f"{self.name}: one to five statistics, not {len(self.statistics)}")
        if self.absent not in ABSENT:
            raise ValueError(f"{self.name}: absent is one of {', '.join(ABSENT)}")
        if self.priority not in (0, 1, 2):
            raise ValueError(f"{self.name}: priority is 0, 1 or 2")

    @property
    def names(self) -> tuple[str, ...]:
        """Our series' names, one for each statistic, as YACE writes them."""
        return tuple(series_name(self.namespace, self.name, statistic) for statistic in self.statistics)

    @property
    def period_seconds(self) -> int:
        return int(self.period or 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsQuery:
    """One question of Performance Insights. `series` is made of `metric` where it is not given.

    With `group` there is a series for each of its `limit` greatest members, `labels` naming their dimensions, and
    one without these labels for their total.
    """

    metric: str = option(help="Performance Insights' name, with the statistic at its end.")
    unit: str = option(help="What a value is in.")
    help: str = option(help="What it means, in a sentence.")
    series: str = option(help="Our name.", default="")
    group: str = option(help="What it is split by.", default="")
    labels: dict[str, str] = option(help="Labels by the dimension's name.", default_factory=dict)
    limit: int = option(help="How many members of the group, at most 25.", default=10)
    orientation: str = option(help="more_is_worse, more_is_better, or nothing.", default="")

    def __post_init__(self) -> None:
        check_words(unit=self.unit, orientation=self.orientation)
        if not 1 <= self.limit <= 25:
            raise ValueError(f"{self.metric}: limit is 1 to 25")

    @property
    def series_name(self) -> str:
        """`aws_rds_insights_` and the metric's name, its statistic written out."""
        if self.series:
            return self.series
        words, _, statistic = self.metric.rpartition(".")
        ending = {"avg": "average", "min": "minimum", "max": "maximum"}.get(statistic, statistic)
        return f"aws_rds_insights_{snake_case(words)}_{ending}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnhancedValue:
    """One number in Enhanced Monitoring's document.

    `path` is `memory.free`; `tasks.*` for all numbers of an object, their names in `label`; or `network[interface].rx`
    for one number of each object in a list, told apart by its member `interface`.
    """

    path: str = option(help="Where it is in the document.")
    series: str = option(help="Our name.")
    unit: str = option(help="What a value is in, after scaling.")
    help: str = option(help="What it means, in a sentence.")
    label: str = option(help="Label that tells the numbers of an object or a list apart.", default="")
    scale: float = option(help="What a number is multiplied with.", default=1.0)
    orientation: str = option(help="more_is_worse, more_is_better, or nothing.", default="")

    def __post_init__(self) -> None:
        check_words(unit=self.unit, orientation=self.orientation)
        if bool(self.label) != ("*" in self.path or "[" in self.path):
            raise ValueError(f"{self.path}: a path with * or [...] needs a label, and no other has one")


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetFile:
    name: str = option(help="The file's own.", default="")
    title: str = option(help="What it reads, in words.")
    source: str = option(help="AWS's own page of these metrics.")
    group: str = option(help="Name that stands for several presets in the configuration.")
    kind: str = option(help="Kind of resource.")
    permissions: tuple[str, ...] = option(help="Actions that a policy must allow.")
    reader: str = option(help="metrics (GetMetricData), insights, or enhanced.", default="metrics")
    namespace: str = option(help="CloudWatch's namespace.", default="")
    dimensions: tuple[str, ...] = option(help="Names of the dimensions.", default=())
    period: Seconds = option(help="Length of a point.", default=60.0)
    only: dict[str, tuple[str, ...]] = option(
        help="Facts that the resource must have: patterns, ! for not.", default_factory=dict
    )
    default: bool = option(help="Whether it is used without being named.", default=True)
    metrics: tuple[MetricEntry, ...] = option(help="For the reader metrics.", default=())
    metrics_of: str = option(help="Another preset whose metrics these are.", default="")
    queries: tuple[InsightsQuery, ...] = option(help="For the reader insights.", default=())
    priority: int = option(help="For other readers than metrics, as a metric's.", default=1)
    log_group: str = option(help="For the reader enhanced.", default="")
    values: tuple[EnhancedValue, ...] = option(help="For the reader enhanced.", default=())

    def __post_init__(self) -> None:
        if self.reader not in READERS:
            raise ValueError(f"reader is one of {', '.join(READERS)}")
        if self.reader == "metrics":
            if not (self.namespace and self.dimensions and bool(self.metrics) != bool(self.metrics_of)):
                raise ValueError("the reader metrics needs namespace, dimensions, and either metrics or metrics_of")
        elif self.namespace or self.dimensions or self.metrics or self.metrics_of:
            raise ValueError(f"the reader {self.reader} has no namespace, dimensions or metrics")
        if (self.reader == "insights") != bool(self.queries):
            raise ValueError("queries belong to the reader insights, and it needs them")
        if {bool(self.values), bool(self.log_group)} != {self.reader == "enhanced"}:
            raise ValueError("log_group and values belong to the reader enhanced, and it needs them")
        names = [item.name for item in self.metrics]
        if len(set(names)) < len(names):
            raise ValueError("a metric is there twice")


def check_words(*, unit: str, orientation: str) -> None:
    """Check words that come from fixed lists.

    Raises:
        ValueError: one is not in its list.
    """
    if unit not in UNITS:
        raise ValueError(f"unit is one of {', '.join(UNITS)}, not {unit!r}")
    if orientation not in ORIENTATIONS:
        raise ValueError(f"orientation is one of {', '.join(filter(None, ORIENTATIONS))}, not {orientation!r}")


@cache
def preset_paths() -> Mapping[str, Path]:
    """The file of each preset by its name, in the order of packs; of one, those first that bear its name.

    Where two read one series, the first says what it means.
    """

    def place(path: Path) -> tuple[str, bool, str]:
        pack = path.parts[-3]
        return pack, not path.stem.startswith(pack.removeprefix("aws-")), path.stem

    return {path.stem: path for path in sorted(FOLDER.glob("aws-*/presets/*.yml"), key=place)}


@cache
def read_preset_file(name: str) -> PresetFile:
    """A preset's file, with the metrics of the preset that it refers to.

    Raises:
        KeyError: there is none of this name.
        ConfigError: the file is wrong.
    """
    found = _parse(name)
    metrics = _parse(found.metrics_of).metrics if found.metrics_of else found.metrics
    whole = (
        replace(one, namespace=found.namespace, period=found.period if one.period is None else one.period)
        for one in metrics
    )
    return replace(found, name=name, metrics=tuple(whole), metrics_of="")


def _parse(name: str) -> PresetFile:
    path = preset_paths()[name]
    return parse_preset_file(path.read_text(encoding="utf-8"), path.name)


def parse_preset_file(text: str, name: str) -> PresetFile:
    """The text of a preset's file; `name` is what errors call it.

    Raises:
        ConfigError: it is wrong; the text names file and line.
    """
    return load_text(text, name, PresetFile, "the preset")


# What is read of each kind of AWS resource, as the files `presets/` of the packs say.


def preset_files() -> Mapping[str, PresetFile]:
    """Every preset's file, by name, in order.

    Raises:
        ConfigError: one of them is wrong.
    """
    return {name: read_preset_file(name) for name in preset_paths()}


def load_presets(configured: Sequence[str] | None = None) -> dict[str, PresetFile]:
    """The presets that a configuration means, by name and in order; see `choose_presets`.

    Raises:
        ValueError: a name is not known.
    """
    return {name: read_preset_file(name) for name in choose_presets(configured)}


def choose_presets(configured: Sequence[str] | None) -> tuple[str, ...]:
    """The presets that a configuration means: names, or groups (`rds` is all that is known of RDS and Aurora).

    A name that is both stands for the group. None is everything that is used by default.

    Raises:
        ValueError: a name is neither; the text has those that there are.
    """
    sources = preset_files()
    if configured is None:
        return tuple(name for name, source in sources.items() if source.default)
    chosen: set[str] = set()
    groups = {source.group for source in sources.values()}
    for word in configured:
        found = {name for name, source in sources.items() if source.group == word and (source.default or name == word)}
        if not found and word not in sources:
            known = ", ".join(sorted(groups | set(sources)))
            raise ValueError(f"{word!r} is not a preset; there are {known}")
        chosen |= found | ({word} if word in sources else set())
    return tuple(name for name in sources if name in chosen)


def preset_metrics() -> tuple[MetricInfo, ...]:
    found: dict[str, MetricInfo] = {}
    for source in preset_files().values():
        for series, unit, text in _series(source):
            found.setdefault(series, MetricInfo(name=series, type="gauge", help=text, unit=unit))
    return tuple(found.values())


def _series(source: PresetFile) -> Iterable[tuple[str, str, str]]:
    for metric in source.metrics:
        for series, statistic in zip(metric.names, metric.statistics, strict=True):
            counted = "count" if statistic == "SampleCount" else metric.unit
            yield series, counted, f"{metric.help} {statistic} of {_duration(metric.period_seconds)}."
        if metric.period_series:
            yield metric.period_series, "seconds", "The period that each sum of this resource is of."
    for query in source.queries:
        yield query.series_name, query.unit, query.help
    for value in source.values:
        yield value.series, value.unit, value.help


def _duration(seconds: int) -> str:
    return "a minute" if seconds == 60 else f"{seconds // 60} minutes" if seconds % 60 == 0 else f"{seconds} seconds"
