"""Several profiles as one, as pprof merges them; and one less another, as with its `-base`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loadwatch_backend.evidence.profiles.model import (
    Binary,
    Function,
    Ints,
    LabelSet,
    Locations,
    Profile,
    ProfilesDifferError,
    SampleType,
)

_PAGE = 0x1000


def merge(profiles: Sequence[Profile]) -> Profile:
    """The sum of the profiles. Samples with the same stack and labels become one; those that come to nothing go.

    Of types that not all of them have, none is kept.

    Raises:
        ProfilesDifferError: they have no type in common, or count it in different units.
    """
    if len(profiles) == 1:
        return profiles[0]
    types, profiles = _common(profiles)
    merger = _Merger(len(types))
    for one in profiles:
        merger.add(one)
    first = profiles[0]
    notes = tuple(dict.fromkeys(note for one in profiles for note in one.notes))
    return replace(
        merger.profile(first.format if len({one.format for one in profiles}) == 1 else "several"),
        types=types,
        default=first.default,
        started_ns=min((one.started_ns for one in profiles if one.started_ns), default=0),
        duration_ns=sum(one.duration_ns for one in profiles),
        period=max(one.period for one in profiles),
        notes=notes,
    )


def subtract(profile: Profile, base: Profile) -> Profile:
    """What is in the profile beyond the base, stack by stack: for two moments of what a process counts from its start.

    Raises:
        ProfilesDifferError: they measure different things.
    """
    return merge([profile, replace(base, values=-base.values)])


def _common(profiles: Sequence[Profile]) -> tuple[tuple[SampleType, ...], Sequence[Profile]]:
    first = profiles[0]
    names = [
        one.name for one in first.types if all(any(one.name == of.name for of in other.types) for other in profiles)
    ]
    if not names:
        have = " and ".join(sorted({", ".join(one.name for one in profile.types) for profile in profiles}))
        raise ProfilesDifferError(f"The profiles measure different things ({have}). Give profiles of one kind.")
    aligned: list[Profile] = []
    for one in profiles:
        columns = [next(place for place, of in enumerate(one.types) if of.name == name) for name in names]
        types = tuple(one.types[column] for column in columns)
        for mine, its in zip((next(of for of in first.types if of.name == name) for name in names), types, strict=True):
            if mine.unit != its.unit:
                raise ProfilesDifferError(
                    f"The profiles count {mine.name} in {mine.unit} and in {its.unit}. Give profiles of one tool."
                )
        meant = one.types[one.default].name
        default = names.index(meant) if meant in names else 0
        aligned.append(replace(one, types=types, default=default, values=one.values[:, columns]))
    return aligned[0].types, aligned


class _Merger:
    """Tables that several profiles share, found again by what they say and not by their numbers."""

    def __init__(self, types: int) -> None:
        self._types = types
        self._functions: dict[Function, int] = {}
        self._binaries: dict[tuple[int, int, str], int] = {}
        self._kept_binaries: list[Binary] = []
        self._places: dict[tuple[object, ...], int] = {}
        self._frames: list[tuple[Ints, Ints]] = []
        self._where: list[tuple[int, int]] = []
        self._sets: dict[LabelSet, int] = {(): 0}
        self._rows: dict[tuple[bytes, int], int] = {}
        self._stacks: list[Ints] = []
        self._labels: list[int] = []
        self._values: list[Ints] = []

    def add(self, profile: Profile) -> None:
        locations = self._locations(profile)
        sets = [self._sets.setdefault(one, len(self._sets)) for one in profile.label_sets]
        stack = locations[profile.stack]
        for row in range(len(profile)):
            labels = int(profile.labels[row])
            values = profile.values[row]
            if not values.any():
                continue
            part = stack[profile.offsets[row] : profile.offsets[row + 1]]
            key = (part.tobytes(), sets[labels])
            place = self._rows.setdefault(key, len(self._values))
            if place == len(self._values):
                self._stacks.append(part)
                self._labels.append(sets[labels])
                self._values.append(values.copy())
            else:
                self._values[place] += values

    def _locations(self, profile: Profile) -> Ints:
        functions = np.array([self._functions.setdefault(one, len(self._functions)) for one in profile.functions])
        binaries = [self._binary(one) for one in profile.binaries]
        found = profile.locations
        function = functions[found.function] if len(functions) else found.function
        numbers = np.zeros(len(found), np.int64)
        for place in range(len(found)):
            frames = slice(found.offsets[place], found.offsets[place + 1])
            binary = int(found.binary[place])
            address = int(found.address[place])
            if binary >= 0:
                # Where the code lies in memory changes from start to start.
                address = _wrapped(address - profile.binaries[binary].start)
                binary = binaries[binary]
            key = (address, binary, function[frames].tobytes(), found.line[frames].tobytes())
            number = self._places.setdefault(key, len(self._where))
            if number == len(self._where):
                self._frames.append((function[frames], found.line[frames]))
                self._where.append((address, binary))
            numbers[place] = number
        return numbers

    def _binary(self, one: Binary) -> int:
        size = -(-(one.limit - one.start) // _PAGE)
        place = self._binaries.setdefault((size, one.offset, one.build_id or one.file), len(self._kept_binaries))
        if place == len(self._kept_binaries):
            # Addresses of merged profiles are counted from where the code begins.
            self._kept_binaries.append(replace(one, start=0, limit=one.limit - one.start))
        return place

    def profile(self, format: str) -> Profile:
        some = [row for row, values in enumerate(self._values) if values.any()]
        stacks = [self._stacks[row] for row in some]
        return Profile(
            format=format,
            types=(),
            default=0,
            functions=tuple(self._functions),
            binaries=tuple(self._kept_binaries),
            locations=Locations(
                offsets=_offsets([len(lines) for _, lines in self._frames]),
                function=_concatenated([functions for functions, _ in self._frames]),
                line=_concatenated([lines for _, lines in self._frames]),
                address=np.array([address for address, _ in self._where], np.int64),
                binary=np.array([binary for _, binary in self._where], np.int64),
            ),
            values=np.array([self._values[row] for row in some], np.int64).reshape(-1, self._types),
            offsets=_offsets([len(one) for one in stacks]),
            stack=_concatenated(stacks),
            labels=np.array([self._labels[row] for row in some], np.int64),
            label_sets=tuple(self._sets),
        )


def _wrapped(value: int) -> int:
    """As 64 bits with a sign: a file may say of an address whatever it likes."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _offsets(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _concatenated(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
