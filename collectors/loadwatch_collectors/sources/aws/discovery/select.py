"""Which of the things that are there are watched: by names with wildcards, and by tags."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from loadwatch_collectors.sources.aws.model import Pairs, Preset
from loadwatch_collectors.sources.aws.settings import SelectSettings


def matches_names(patterns: Sequence[str], names: Iterable[str]) -> bool:
    """Whether any of the names matches any of the patterns; no pattern matches everything."""
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def matches_tags(wanted: Mapping[str, str], tags: Pairs) -> bool:
    """Whether all wanted tags are there; their values may have wildcards."""
    there = dict(tags)
    return all(key in there and fnmatchcase(there[key], pattern) for key, pattern in wanted.items())


def has_wildcard(pattern: str) -> bool:
    """Whether a pattern stands for more than itself."""
    return any(sign in pattern for sign in "*?[")


class Selection:
    """Which presets read a resource, by `presets` and `select` of the configuration."""

    def __init__(self, presets: Iterable[Preset], select: Mapping[str, SelectSettings]) -> None:
        self._by_kind: dict[str, list[tuple[str, SelectSettings]]] = {}
        self._own: set[str] = set()
        for preset in presets:
            own = preset.name in select and preset.name != preset.group
            chosen = select.get(preset.name if own else preset.group) or select.get(preset.name) or SelectSettings()
            self._by_kind.setdefault(preset.kind, []).append((preset.name, chosen))
            if own:
                self._own.add(preset.kind)

    def wants(self, kind: str) -> bool:
        """Whether any preset reads resources of this kind."""
        return kind in self._by_kind

    def has_own(self, kind: str) -> bool:
        """Whether the configuration chooses by a preset of this kind itself, and not only by its group."""
        return kind in self._own

    def tag_filters(self, kind: str) -> list[dict[str, str]]:
        """The sets of tags that are asked for, for which a resource's tags must be known."""
        return [dict(chosen.tags) for _, chosen in self._by_kind.get(kind, ()) if chosen.tags]

    def presets_of(self, kind: str, names: Sequence[str], tags: Pairs) -> tuple[str, ...]:
        """The presets that read a resource with these names and tags; empty when none does."""
        return tuple(
            preset
            for preset, chosen in self._by_kind.get(kind, ())
            if matches_names(chosen.names, names) and matches_tags(chosen.tags, tags)
        )
