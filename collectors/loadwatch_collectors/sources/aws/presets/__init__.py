"""What is read of each kind of AWS resource, as the files `presets/` of the packs say."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.sources.aws.model import Preset
from loadwatch_collectors.sources.aws.presets.files import PresetFile, make_preset, preset_paths, read_preset_file


def preset_files() -> Mapping[str, PresetFile]:
    """Every preset's file, by name, in order.

    Raises:
        ConfigError: one of them is wrong.
    """
    return {name: read_preset_file(name) for name in preset_paths()}


@cache
def find_preset(name: str) -> Preset:
    """A preset by its name.

    Raises:
        KeyError: there is none of this name.
    """
    return make_preset(name, read_preset_file(name))


def load_presets(configured: Sequence[str] | None = None) -> dict[str, Preset]:
    """The presets that a configuration means, by name and in order; see `choose_presets`.

    Raises:
        ValueError: a name is not known.
    """
    return {name: find_preset(name) for name in choose_presets(configured)}


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
    """What the series of all presets mean, for the reference and as metadata."""
    found: dict[str, MetricInfo] = {}
    for name, source in preset_files().items():
        for series, unit, text in _series(name, source):
            found.setdefault(series, MetricInfo(name=series, type="gauge", help=text, unit=unit))
    return tuple(found.values())


def _series(name: str, source: PresetFile) -> Iterable[tuple[str, str, str]]:
    if source.reader == "metrics":
        for metric in find_preset(name).metrics:
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
