"""The stacks of a profile as functions by name, in columns: what everything else is folded from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.profiles.model import Function, Ints, Kind, Profile, ProfilesDifferError


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSums:
    """One column of a profile by the values of one label.

    Attributes:
        key: of the label.
        by_value: the sum of each value; several values of the same key on one sample are one, joined by a comma.
        without: the sum of the samples that do not have the label.
    """

    key: str
    by_value: Mapping[str, int]
    without: int


def label_keys(profile: Profile) -> Sequence[str]:
    """Keys of the labels with texts, those on most samples first. Numbers, such as sizes of blocks, are none."""
    counts = Counter[str]()
    sizes = add_up(profile.labels, profile.values[:, :1] * 0 + 1, len(profile.label_sets))[:, 0]
    for one, size in zip(profile.label_sets, sizes, strict=True):
        for key in {label.key for label in one if label.text}:
            counts[key] += int(size)
    return [key for key, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def sums_by_label(profile: Profile, key: str, column: int) -> LabelSums:
    """The sums of one column by the texts of a label."""
    sums = add_up(profile.labels, profile.values[:, column : column + 1], len(profile.label_sets))[:, 0]
    by_value = Counter[str]()
    without = 0
    for one, value in zip(profile.label_sets, sums, strict=True):
        texts = [label.text for label in one if label.key == key and label.text]
        if texts:
            by_value[", ".join(texts)] += int(value)
        else:
            without += int(value)
    return LabelSums(
        key=key, by_value=dict(sorted(by_value.items(), key=lambda item: (-item[1], item[0]))), without=without
    )


_PART = 22
"""Bits that are added at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """Frames of all samples one after another, the leaf first.

    Functions are one by their name, as with pprof's granularity `functions`: of two files the first is kept.

    Attributes:
        functions: by number.
        frames: of each frame its function.
        offsets: sample i has `frames[offsets[i]:offsets[i + 1]]`.
        values: (samples, columns).
    """

    functions: tuple[Function, ...]
    frames: Ints
    offsets: Ints
    values: Ints

    @property
    def sample_of(self) -> Ints:
        """Of each frame its sample."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int64), np.diff(self.offsets))


def stacks_of(profile: Profile, columns: Sequence[int] | None = None) -> Stacks:
    """A profile's stacks with some of its columns of values, or all."""
    functions, number = _by_name(profile.functions)
    location_sizes = np.diff(profile.locations.offsets)
    sizes = location_sizes[profile.stack]
    begins = profile.locations.offsets[:-1][profile.stack]
    frames = number[profile.locations.function[spread(begins, sizes)]]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = profile.values if columns is None else profile.values[:, list(columns)]
    return Stacks(functions=functions, frames=frames, offsets=ends[profile.offsets], values=values)


def joined(left: Stacks, right: Stacks) -> Stacks:
    """Both, with the columns of the left before those of the right, which are 0 for each other's samples."""
    functions, number = _by_name((*left.functions, *right.functions))
    width = left.values.shape[1] + right.values.shape[1]
    values = np.zeros((len(left.values) + len(right.values), width), np.int64)
    values[: len(left.values), : left.values.shape[1]] = left.values
    values[len(left.values) :, left.values.shape[1] :] = right.values
    return Stacks(
        functions=functions,
        frames=np.concatenate([number[left.frames], number[len(left.functions) + right.frames]]),
        offsets=np.concatenate([left.offsets, left.offsets[-1] + right.offsets[1:]]),
        values=values,
    )


def spread(begins: Ints, sizes: Ints) -> Ints:
    """`begins[i], begins[i] + 1, … ` of length `sizes[i]`, for each i, one after another."""
    total = int(sizes.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes
    return np.arange(total, dtype=np.int64) + np.repeat(begins - starts, sizes)


def add_up(places: Ints, values: Ints, size: int) -> Ints:
    """(size, columns): the sum of the rows of `values` for each place; exact in 64 bits."""
    sums = np.zeros((size, values.shape[1]), np.int64)
    for column in range(values.shape[1]):
        rest = values[:, column]
        # bincount adds doubles, which are exact up to 53 bits: it is given parts of 22, for up to two thousand million
        # rows, and needs no sorting. The last part has the sign.
        for part in (0, 1, 2):
            bits = rest >> (_PART * part)
            bits = bits if part == 2 else bits & ((1 << _PART) - 1)
            sums[:, column] += np.bincount(places, weights=bits, minlength=size).astype(np.int64) << (_PART * part)
    return sums


def _by_name(functions: Sequence[Function]) -> tuple[tuple[Function, ...], Ints]:
    """Functions with different names, and the new number of each old one."""
    number: dict[str, int] = {}
    kept: list[Function] = []
    places: list[int] = []
    for function in functions:
        place = number.setdefault(function.name, len(kept))
        if place == len(kept):
            kept.append(function)
        elif function.file and not kept[place].file:
            kept[place] = function
        places.append(place)
    return tuple(kept), np.array(places, np.int64)


_UNLOCKS = ("sync.(*Mutex).Unlock", "sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock", "runtime.unlock")
"""Where Go's mutex profile books a wait: where the lock is given back. Its block profile books it where one waits."""
_BY_DEFAULT = {
    "inuse_space": Kind.HEAP,
    "alloc_space": Kind.ALLOCS,
    "goroutine": Kind.GOROUTINE,
    "cpu": Kind.CPU,
    "threadcreate": Kind.THREADS,
}


def kind_of(profile: Profile) -> Kind:
    """What the profile is of. Go's block and mutex profiles have the same types and are told apart by their leaves."""
    name = profile.types[profile.default].name
    if name == "delay" and profile.types[0].name == "contentions":
        stacks = stacks_of(profile, [profile.default])
        deep = np.flatnonzero(np.diff(stacks.offsets) > 0)
        leaves = stacks.frames[stacks.offsets[deep]]
        unlock = np.array([one.name.startswith(_UNLOCKS) for one in stacks.functions], bool)
        return Kind.MUTEX if len(leaves) and int(unlock[leaves].sum()) * 2 > len(leaves) else Kind.BLOCK
    return _BY_DEFAULT.get(name, Kind.OTHER)


def column_of(profile: Profile, name: str | None) -> int:
    """The column that a name means, as pprof's `-sample_index`: a name, a number, or none for the default.

    Raises:
        ProfilesDifferError: there is none; says which there are.
    """
    if not name:
        return profile.default
    if name.isdecimal() and len(name) < 4 and int(name) < len(profile.types):
        return int(name)
    # Heap profiles of before have the types `space` and `objects`.
    wanted = (name, name.removeprefix("inuse_"))
    for place, one in enumerate(profile.types):
        if one.name in wanted:
            return place
    have = ", ".join(one.name for one in profile.types)
    raise ProfilesDifferError(f"The profile has no sample type {name!r}; it has {have}.")
