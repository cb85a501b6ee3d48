"""Which series there are, and which of them match: label sets to ids, and postings from label values to ids.

Ids rise in order of arrival and are never given twice. About 0.5 kB a series: label sets are flat tuples of shared
strings, postings are arrays of ids.
"""

import sys
import threading
import time
from array import array
from collections.abc import Container, Iterable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.errors import (
    LabelBytesLimitError,
    NewSeriesLimitError,
    PatternError,
    SeriesLimitError,
)
from loadwatch_backend.series.store.patterns import MATCHING_SECONDS, value_test
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator

Ids = npt.NDArray[np.uint32]
FlatLabels = tuple[str, ...]
"""Name, value, name, value, ... in the order of the names."""

NO_IDS: Ids = np.empty(0, np.uint32)
_CACHED_MATCHES = 512
_CACHED_IDS = 8_000_000
"""Ids in all the answers that are kept, 4 bytes each."""
_CACHED_LABELS = 20_000
"""Label sets kept as dictionaries, about 1 kB each: rules and pages ask for the same series each second."""
_EVER = np.iinfo(np.int64)


def flatten(labels: Labels) -> FlatLabels:
    """The canonical form of a label set; strings are interned because names and values repeat between series."""
    intern = sys.intern
    return tuple(intern(text) for pair in sorted(labels.items()) for text in pair)


def unflatten(flat: FlatLabels) -> dict[str, str]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _size(flat: FlatLabels) -> int:
    """Bytes of a label set; nearly all are ASCII, whose characters are bytes."""
    return sum(len(text) if text.isascii() else len(text.encode()) for text in flat)


class SeriesIndex:
    """All series in memory; safe to use from any thread."""

    def __init__(self, series_limit: int, label_bytes: int = 256 << 20) -> None:
        self._limit = series_limit
        self._most_label_bytes = label_bytes
        self._label_bytes = 0
        self._lock = threading.RLock()
        self._ids: dict[FlatLabels, int] = {}
        self._labels: dict[int, FlatLabels] = {}
        self._postings: dict[str, dict[str, array[int]]] = {}
        self._all: array[int] = array("I")
        self._pending: list[int] = []
        self._matches: dict[tuple[Matcher, ...], Ids] = {}
        self._matches_size = 0
        self._changes = 0
        self._shown: dict[int, Labels] = {}
        self._removed: dict[int, FlatLabels] = {}
        self._next_id = 1
        self.generation = 0
        self._first = np.full(1024, _EVER.max, np.int64)
        self._last = np.full(1024, _EVER.min, np.int64)
        self._metric_numbers: dict[str, int] = {}
        self._metric_names: list[str] = []
        self._metric_of: array[int] = array("I", (0,))

    def __len__(self) -> int:
        return len(self._ids)

    def load(self, rows: Iterable[tuple[int, FlatLabels]]) -> None:
        """Take over what the disk holds; `rows` in rising order of ids, with interned texts."""
        with self._lock:
            for series_id, flat in rows:
                self._insert(series_id, flat)
                self._next_id = series_id + 1
            self._pending.clear()

    def resolve(self, series: Sequence[Labels], most_new: int | None = None) -> Ids:
        """Ids of the label sets, all or none: with too many new ones nothing is added.

        Raises:
            SeriesLimitError: the limit would be passed.
            NewSeriesLimitError: more than `most_new` are new.
        """
        flats = [flatten(labels) for labels in series]
        with self._lock:
            known = self._ids
            fresh = {flat for flat in flats if flat not in known}
            if most_new is not None and len(fresh) > most_new:
                raise NewSeriesLimitError(
                    f"{len(fresh)} new series in one request; at most {most_new} are allowed:"
                    " send them in smaller requests, or remove labels that change often"
                )
            if len(known) + len(fresh) > self._limit:
                raise SeriesLimitError(
                    f"{len(fresh)} new series would make {len(known) + len(fresh)}, and the store holds at most"
                    f" {self._limit}; remove labels that change often, or raise LOADWATCH_STORE_SERIES_LIMIT"
                )
            if fresh and self._label_bytes + sum(map(_size, fresh)) > self._most_label_bytes:
                raise LabelBytesLimitError(
                    f"the labels of {len(fresh)} new series would make more than {self._most_label_bytes} bytes of"
                    " labels, the most that the store holds; shorten labels or remove those that change often, or raise"
                    " LOADWATCH_STORE_SERIES_LIMIT"
                )
            for flat in flats:
                if flat not in known:
                    self._insert(self._next_id, flat)
                    self._next_id += 1
            return np.fromiter((known[flat] for flat in flats), np.uint32, len(flats))

    def find(self, series: Sequence[Labels]) -> npt.NDArray[np.int64]:
        """Ids of the label sets, -1 of those that are not there."""
        flats = [flatten(labels) for labels in series]
        with self._lock:
            return np.fromiter((self._ids.get(flat, -1) for flat in flats), np.int64, len(flats))

    def take_pending(self) -> list[tuple[int, FlatLabels]]:
        """Series that are not on disk yet; the caller writes them or gives them back."""
        with self._lock:
            pending, self._pending = self._pending, []
            return [(series_id, self._labels[series_id]) for series_id in pending if series_id in self._labels]

    def give_back(self, rows: Sequence[tuple[int, FlatLabels]]) -> None:
        with self._lock:
            self._pending = [series_id for series_id, _ in rows] + self._pending

    def settle(self, stored: Container[int]) -> None:
        """What is on disk is not pending any more: a commit that failed may be there."""
        with self._lock:
            self._pending = [series_id for series_id in self._pending if series_id not in stored]

    def touch(self, series: Ids, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> None:
        """Samples of these series have arrived; `series` has no repeats."""
        with self._lock:
            highest = int(series.max(initial=0))
            if highest >= len(self._first):
                room = max(highest + 1, 2 * len(self._first)) - len(self._first)
                self._first = np.concatenate([self._first, np.full(room, _EVER.max, np.int64)])
                self._last = np.concatenate([self._last, np.full(room, _EVER.min, np.int64)])
            self._first[series] = np.minimum(self._first[series], first)
            self._last[series] = np.maximum(self._last[series], last)

    def labels(self, ids: Iterable[int]) -> list[Labels]:
        with self._lock:
            shown = self._shown
            result: list[Labels] = []
            for series_id in ids:
                labels = shown.get(series_id)
                if labels is None:
                    if len(shown) >= _CACHED_LABELS:
                        shown.clear()
                    labels = shown[series_id] = unflatten(self._labels[series_id])
                result.append(labels)
            return result

    def match(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Ids:
        """Ids, rising, of the series that meet all conditions and may have a sample in the span."""
        key = tuple(matchers)
        with self._lock:
            ids, changes = self._matches.get(key), self._changes
        if ids is None:
            ids = self._match(key)
        with self._lock:
            if changes == self._changes:
                self._keep(key, ids)
            known = ids[ids < len(self._first)]
            return known[(self._first[known] <= end_ms) & (self._last[known] >= start_ms)]

    def last_ms(self, matchers: Sequence[Matcher]) -> int | None:
        """Time of the newest sample of the series that meet all conditions; None without any."""
        with self._lock:
            last = int(self._last[self.match(matchers, _EVER.min, _EVER.max)].max(initial=_EVER.min))
        return last if last > _EVER.min else None

    def _keep(self, key: tuple[Matcher, ...], ids: Ids) -> None:
        if key in self._matches or len(ids) > _CACHED_IDS:
            return
        if len(self._matches) >= _CACHED_MATCHES or self._matches_size + len(ids) > _CACHED_IDS:
            self._forget_matches()
        self._matches[key] = ids
        self._matches_size += len(ids)

    def _forget_matches(self) -> None:
        self._matches.clear()
        self._matches_size = 0
        self._changes += 1

    def match_any(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> Ids:
        """Ids that meet any of the lists; no list at all means every series."""
        found = [self.match(group, start_ms, end_ms) for group in (matchers or [()])]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def label_names(self, ids: Ids) -> list[str]:
        with self._lock:
            names: set[str] = set()
            for series_id in ids.tolist():
                names.update(self._labels[series_id][::2])
        return sorted(names)

    def postings(self, name: str) -> dict[str, Ids]:
        """Ids of the series by their value of a label; the empty value is that of series without it."""
        with self._lock:
            found = {value: _ids(posting) for value, posting in self._postings.get(name, {}).items()}
            everything = _ids(self._all)
        without = np.setdiff1d(everything, np.concatenate([NO_IDS, *found.values()]))
        return {**found, "": without} if len(without) else found

    def value_counts(self) -> dict[str, int]:
        with self._lock:
            return {name: len(values) for name, values in self._postings.items()}

    def label_values(self, name: str, ids: Ids) -> list[str]:
        with self._lock:
            values = self._postings.get(name, {})
            if len(ids) == len(self._all):
                return sorted(values)
            if len(ids) < len(values):
                return sorted(
                    {value for flat in map(self._labels.__getitem__, ids.tolist()) if (value := _get(flat, name))}
                )
            return sorted(value for value, posting in values.items() if _contained(_ids(posting), ids).any())

    def remove(self, ids: Iterable[int]) -> None:
        """Forget series; their ids are not given again."""
        with self._lock:
            doomed = {series_id for series_id in ids if series_id in self._labels}
            if not doomed:
                return
            self._removed = {series_id: self._labels[series_id] for series_id in doomed}
            self.generation += 1
            touched: set[tuple[str, str]] = set()
            for series_id in doomed:
                flat = self._labels.pop(series_id)
                self._shown.pop(series_id, None)
                del self._ids[flat]
                self._label_bytes -= _size(flat)
                touched.update(zip(flat[::2], flat[1::2], strict=True))
            for name, value in touched:
                values = self._postings[name]
                values[value] = array("I", (kept for kept in values[value] if kept not in doomed))
                if not values[value]:
                    del values[value]
                    if not values:
                        del self._postings[name]
            self._all = array("I", (kept for kept in self._all if kept not in doomed))
            self._pending = [kept for kept in self._pending if kept not in doomed]
            self._forget_matches()

    def metrics(self, ids: Ids) -> frozenset[str]:
        with self._lock:
            # A view, for as long as the lock is held: the array cannot grow meanwhile.
            view = np.frombuffer(self._metric_of, np.uint32)
            numbers: list[int] = np.unique(view[ids[ids < len(view)]]).tolist()
            del view
            return frozenset(self._metric_names[number] for number in numbers)

    def silent_since(self, cutoff_ms: int, pinned: Sequence[tuple[int, int]] = ()) -> list[int]:
        """Ids of series that ended before the cut-off and have none in a pinned span, the longest silent first."""
        with self._lock:
            ids = _ids(self._all)
            ids = ids[ids < len(self._last)]
            first, last = self._first[ids], self._last[ids]
            silent = (last < cutoff_ms) & (last > _EVER.min)
            for start_ms, end_ms in pinned:
                silent &= (last < start_ms) | (first > end_ms)
            return ids[silent][np.argsort(last[silent], kind="stable")].tolist()

    def revive(self, ids: Ids) -> Ids:
        """The ids, with those of series that were removed meanwhile replaced by valid ones."""
        with self._lock:
            if not self._removed or not np.isin(ids, np.fromiter(self._removed, np.uint32)).any():
                return ids
            renewed = {
                old: int(self.resolve([unflatten(flat)])[0])
                for old, flat in self._removed.items()
                if (ids == old).any()
            }
        return np.array([renewed.get(series_id, series_id) for series_id in ids.tolist()], np.uint32)

    def _insert(self, series_id: int, flat: FlatLabels) -> None:
        self._ids[flat] = series_id
        self._label_bytes += _size(flat)
        self._labels[series_id] = flat
        self._all.append(series_id)
        self._pending.append(series_id)
        metric = _get(flat, "__name__")
        number = self._metric_numbers.setdefault(metric, len(self._metric_names))
        if number == len(self._metric_names):
            self._metric_names.append(metric)
        # Ids that were given out before the last start and are gone leave holes.
        self._metric_of.extend(repeat(0, series_id - len(self._metric_of)))
        self._metric_of.append(number)
        for name, value in zip(flat[::2], flat[1::2], strict=True):
            posting = self._postings.setdefault(name, {}).get(value)
            if posting is None:
                self._postings[name][value] = array("I", (series_id,))
            else:
                posting.append(series_id)
        self._forget_matches()

    def _match(self, matchers: tuple[Matcher, ...]) -> Ids:
        equal = [m for m in matchers if m.operator is MatchOperator.EQUAL and m.value]
        with self._lock:
            postings = [self._postings.get(m.label, {}).get(m.value) for m in equal]
            present = [posting for posting in postings if posting is not None]
            if len(present) < len(postings):
                return NO_IDS
            present.sort(key=len)
            found = _ids(present[0]) if present else _ids(self._all)
            for posting in present[1:]:
                found = found[_contained(found, _ids(posting))]
        for matcher in matchers:
            if len(found) and matcher not in equal:
                found = self._filter(found, matcher)
        return found

    def _filter(self, ids: Ids, matcher: Matcher) -> Ids:
        """Those of the ids whose label meets a condition that may hold for several values, or for none.

        The condition is tried without the lock, because a regular expression may take seconds, for which what comes in
        would wait. Series that come and go meanwhile are not looked for.
        """
        with self._lock:
            values = self._postings.get(matcher.label, {})
            by_series = len(ids) < len(values)
            if by_series:
                labels = self._labels
                candidates = [_get(labels.get(series_id, ()), matcher.label) for series_id in ids.tolist()]
            else:
                candidates = list(values)
        test = value_test(matcher)
        met: list[bool] = []
        end = time.monotonic() + MATCHING_SECONDS
        for value in candidates:
            if time.monotonic() > end:
                raise PatternError(
                    f"the regular expression {matcher.value[:200]!r} takes more than {MATCHING_SECONDS:g} s for the"
                    f" {len(candidates)} values of the label {matcher.label!r}: make it simpler, or add matchers with ="
                )
            met.append(test(value))
        if by_series:
            return ids[np.fromiter(met, np.bool_, len(ids))]
        with_empty = test("")
        with self._lock:
            chosen = (value for value, holds in zip(candidates, met, strict=True) if holds != with_empty)
            union = _union(posting for value in chosen if (posting := values.get(value)) is not None)
        contained = _contained(ids, union)
        return ids[~contained if with_empty else contained]


def _get(flat: FlatLabels, name: str) -> str:
    for place in range(0, len(flat), 2):
        if flat[place] == name:
            return flat[place + 1]
    return ""


def _ids(posting: "array[int]") -> Ids:
    # A copy: as long as numpy looks into an array it cannot grow.
    return np.array(posting, np.uint32)


def _union(postings: Iterable["array[int]"]) -> Ids:
    parts = [_ids(posting) for posting in postings]
    if not parts:
        return NO_IDS
    # One label has one value per series, so the parts have nothing in common.
    return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))


def _contained(ids: Ids, among: Ids) -> npt.NDArray[np.bool_]:
    """Which of the rising `ids` are in the rising `among`."""
    if not len(among):
        return np.zeros(len(ids), np.bool_)
    place = np.searchsorted(among, ids)
    place[place == len(among)] = 0
    return among[place] == ids
