"""The stacks of a profile as functions by name, in columns: what everything else is folded from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.profiles.model import Function, Ints, Profile

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
