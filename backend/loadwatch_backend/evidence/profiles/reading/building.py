"""Profiles made of frames by name: for formats that have no tables of their own."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.evidence.profiles.errors import UnreadableProfileError
from loadwatch_backend.evidence.profiles.model import Function, Locations, Profile, SampleType
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits, bound

Frame = tuple[str, str, int]
"""Name, file (perhaps empty), line (perhaps 0)."""

_WORK = 5
"""Times the frames that are kept, for stacks that come again and again."""


class Builder:
    """Gathers stacks; the same stack again adds to its values."""

    def __init__(self, limits: ProfileLimits) -> None:
        self._limits = limits
        self._functions: dict[tuple[str, str], int] = {}
        self._frames: dict[Frame, int] = {}
        self._function_of: list[int] = []
        self._rows: dict[tuple[int, ...], int] = {}
        self._values: list[list[int]] = []
        self._total = 0
        self._work = 0
        self._sum = 0

    def frame(self, frame: Frame) -> int:
        """The number of a frame."""
        place = self._frames.get(frame)
        if place is None:
            place = self._frames[frame] = len(self._frames)
            bound(place + 1, self._limits.places, "different frames")
            self._function_of.append(self._functions.setdefault(frame[:2], len(self._functions)))
        return place

    def add(self, stack: Sequence[int], values: Sequence[int]) -> None:
        """A stack of numbers of frames, the leaf first."""
        key = tuple(stack)
        self._work += len(key)
        bound(self._work, _WORK * self._limits.frames, "frames in the events")
        row = self._rows.get(key)
        self._sum += max(map(abs, values), default=0)
        if self._sum >= 1 << 62:
            raise UnreadableProfileError("The values of the profile add up to more than any measurement gives.")
        if row is not None:
            self._values[row] = [old + new for old, new in zip(self._values[row], values, strict=True)]
            return
        self._total += len(key)
        bound(self._total, self._limits.frames, "frames")
        self._rows[key] = len(self._values)
        bound(len(self._values), self._limits.samples, "different stacks")
        self._values.append(list(values))

    def profile(
        self, format: str, types: Sequence[SampleType], notes: Sequence[str], default: int | None = None
    ) -> Profile:
        """What was gathered."""
        count = len(self._frames)
        lengths = [len(stack) for stack in self._rows]
        return Profile(
            format=format,
            types=tuple(types),
            default=len(types) - 1 if default is None else default,
            functions=tuple(Function(name=name, file=file) for name, file in self._functions),
            locations=Locations(
                offsets=np.arange(count + 1, dtype=np.int64),
                function=np.array(self._function_of, np.int64),
                line=np.array([line for _, _, line in self._frames], np.int64),
                address=np.zeros(count, np.int64),
                binary=np.full(count, -1, np.int64),
            ),
            values=np.array(self._values, np.int64).reshape(-1, len(types)),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            stack=np.array([frame for stack in self._rows for frame in stack], np.int64),
            labels=np.zeros(len(lengths), np.int64),
            notes=tuple(notes),
        )
