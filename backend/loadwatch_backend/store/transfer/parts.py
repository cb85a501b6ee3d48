"""The series of an hour in parts that are small enough for memory, each with a selector that finds exactly its series.

Pure. The same series with the same numbers of samples give the same parts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loadwatch_backend.store.port import Labels, Matcher, MatchOperator

PART_SAMPLES = 200_000
"""Of a part, where labels tell its series apart."""
_MOST_VALUES = 200
"""Values that one selector names."""
_NAME = "__name__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some series of an hour."""

    ids: Sequence[int]
    samples: int
    matchers: tuple[Matcher, ...]
    """What an engine is asked for them; other series of the engine may match, too."""


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    samples: int
    labels: Labels


def parts_of(
    ids: Sequence[int], counts: Sequence[int], labels: Callable[[int], Labels], most: int = PART_SAMPLES
) -> list[Part]:
    """Parts of at most so many samples, whole metrics as long as they fit; all series with the same labels together."""
    rows = [_Row(series, count, labels(series)) for series, count in zip(ids, counts, strict=True)]
    return list(_split(rows, _NAME, (), most)) if rows else []


def _split(rows: Sequence[_Row], label: str, outer: tuple[Matcher, ...], most: int) -> Iterator[Part]:
    """The rows by the values of a label; what is too much for one part by those of another label, too."""
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(row.labels.get(label, ""), []).append(row)
    names: list[str] = []
    taken: list[_Row] = []

    def part() -> Part:
        matchers = (*outer, _matcher(label, names))
        return Part(ids=sorted(row.id for row in taken), samples=_samples(taken), matchers=matchers)

    for value, group in sorted(groups.items()):
        size = _samples(group)
        # The empty value is that of series without the label, which not every engine finds by an alternative.
        alone = size > most or value == ""
        if names and (alone or _samples(taken) + size > most or len(names) == _MOST_VALUES):
            yield part()
            names, taken = [], []
        if not alone:
            names.append(value)
            taken += group
            continue
        inner = _matcher(label, [value])
        if size > most and (other := _telling(group, {one.label for one in (*outer, inner)}, most)) is not None:
            yield from _split(group, other, (*outer, inner), most)
        else:
            names, taken = [value], list(group)
            yield part()
            names, taken = [], []
    if names:
        yield part()


def _telling(rows: Sequence[_Row], used: set[str], most: int) -> str | None:
    """The label to split by: with the fewest values that are small enough each, else with the smallest largest one.

    Few large parts cost less than many small ones, on both sides. None where no label tells the rows apart.
    """
    total = _samples(rows)
    sizes: dict[str, dict[str, int]] = {}
    for row in rows:
        for name, value in row.labels.items():
            if name not in used:
                of_label = sizes.setdefault(name, {})
                of_label[value] = of_label.get(value, 0) + row.samples
    ranked: list[tuple[bool, int, str]] = []
    for name, of_label in sizes.items():
        without = total - sum(of_label.values())
        largest = max(*of_label.values(), without, 0)
        if len(of_label) + (without > 0) > 1:
            ranked.append((largest > most, largest if largest > most else len(of_label), name))
    return min(ranked)[2] if ranked else None


def _matcher(label: str, values: Sequence[str]) -> Matcher:
    if len(values) == 1:
        return Matcher(label, MatchOperator.EQUAL, values[0])
    return Matcher(label, MatchOperator.REGEX, "|".join(map(re.escape, values)))


def _samples(rows: Sequence[_Row]) -> int:
    return sum(row.samples for row in rows)
