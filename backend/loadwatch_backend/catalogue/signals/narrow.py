"""Reading for one question: narrowed by its filters, and each selection read once."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from loadwatch_backend.series.store.levels import Level
from loadwatch_backend.series.store.port import LevelledSelect, Matcher, MatchOperator, Reading, Select, Selection

MOST_KEPT = 1_000_000
"""Samples that are kept for the other signals of a question: 16 MB."""


def matchers_of(filters: Mapping[str, Sequence[str]]) -> list[Matcher]:
    """Conditions for filters; a label without values filters nothing."""
    found: list[Matcher] = []
    for label, values in sorted(filters.items()):
        if len(values) == 1:
            found.append(Matcher(label, MatchOperator.EQUAL, values[0]))
        elif values:
            found.append(Matcher(label, MatchOperator.REGEX, "|".join(re.escape(value) for value in values)))
    return found


def narrowed(select: Select, filters: Mapping[str, Sequence[str]]) -> Select:
    """`select` whose selections also meet the filters. For one request and one thread."""
    conditions = matchers_of(filters)
    read: dict[tuple[tuple[Matcher, ...], int, int, tuple[Level, ...]], Selection] = {}
    kept = 0
    # Asked for a level only where the store has some.
    levelled = cast("LevelledSelect", select)

    def narrow(
        matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /, *level: Level
    ) -> Selection:
        # Signals of one page share many selectors.
        nonlocal kept
        key = (tuple(matchers), start_ms, end_ms, level)
        if key in read:
            return read[key]
        selection = levelled((*matchers, *conditions), start_ms, end_ms, reading, *level)
        kept += len(selection.timestamps)
        if kept <= MOST_KEPT:
            read[key] = selection
        return selection

    return narrow
