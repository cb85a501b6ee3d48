"""Reading for one question: narrowed by its filters, and each selection read once."""

import re
from collections.abc import Mapping, Sequence

from loadwatch_backend.store.port import Matcher, MatchOperator, Reading, Select, Selection

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
    read: dict[tuple[tuple[Matcher, ...], int, int], Selection] = {}
    kept = 0

    def narrow(matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /) -> Selection:
        # Signals of one page share many selectors.
        nonlocal kept
        key = (tuple(matchers), start_ms, end_ms)
        if key in read:
            return read[key]
        selection = select((*matchers, *conditions), start_ms, end_ms, reading)
        kept += len(selection.timestamps)
        if kept <= MOST_KEPT:
            read[key] = selection
        return selection

    return narrow
