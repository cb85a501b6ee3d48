"""A view of the store for one question: narrowed by filters, and each selection read once."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt

from loadwatch_backend.store.port import (
    Batch,
    Labels,
    Matcher,
    MatchOperator,
    MetricMetadata,
    Reading,
    SampleStore,
    Selection,
)

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


class NarrowedStore:
    """`SampleStore` whose selections also meet `matchers`. Lives for one request and is used by one thread."""

    def __init__(self, store: SampleStore, matchers: Sequence[Matcher]) -> None:
        self._store = store
        self._matchers = tuple(matchers)
        self._read: dict[tuple[tuple[Matcher, ...], int, int], Selection] = {}
        self._kept = 0

    def select(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> Selection:
        """Narrowed; signals of one page share many selectors."""
        key = (tuple(matchers), start_ms, end_ms)
        if key in self._read:
            return self._read[key]
        selection = self._store.select((*matchers, *self._matchers), start_ms, end_ms, reading)
        self._kept += len(selection.timestamps)
        if self._kept <= MOST_KEPT:
            self._read[key] = selection
        return selection

    def resolve(self, series: Sequence[Labels], *, most_new: int | None = None) -> npt.NDArray[np.uint32]:
        """As the store."""
        return self._store.resolve(series, most_new=most_new)

    def generation(self) -> int:
        """As the store."""
        return self._store.generation()

    def append(self, batch: Batch) -> "Future[None]":
        """As the store."""
        return self._store.append(batch)

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        """As the store."""
        return self._store.series(matchers, start_ms, end_ms)

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """As the store."""
        return self._store.label_names(matchers, start_ms, end_ms)

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """As the store."""
        return self._store.label_values(name, matchers, start_ms, end_ms)

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """As the store."""
        self._store.put_metadata(metadata)

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """As the store."""
        return self._store.metadata()

    def newest_ms(self) -> int | None:
        """As the store."""
        return self._store.newest_ms()
