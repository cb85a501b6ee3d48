"""Collapsed stacks, a line each: `main;handle;encode 42`, the root first.

perf with stackcollapse-perf.pl, async-profiler (`-o collapsed`), py-spy (`-f raw`) and most tracers write them. The
values have no unit of their own: they are counts, of samples as a rule.
"""

import re
from collections.abc import Sequence

import numpy as np

from loadwatch_backend.evidence.profiles.model import Function, Locations, Profile, SampleType, UnreadableProfileError
from loadwatch_backend.evidence.profiles.reading.limits import Names, ProfileLimits, bound, cut_notes

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


_LINE = re.compile(rb"(?P<stack>.*\S)[ \t]+(?P<count>\d{1,18})")
_PYTHON = re.compile(r"(?P<name>[^()]+) \((?P<file>[^()]+):(?P<line>\d{1,9})\)")
"""A frame of py-spy."""
_LOOK_AT = 50
_LINE_BYTES = 1 << 20
_MOST_WRONG = 0.5
"""Share of malformed lines from which a file is taken for another format."""


def is_collapsed(data: bytes) -> bool:
    """Whether most of the first lines are stacks with a count, and one of them has a caller."""
    lines = [line for line in data[: 1 << 16].split(b"\n")[:_LOOK_AT] if line.strip()]
    if len(data) > 1 << 16 and len(lines) > 1:
        lines = lines[:-1]
    fit = [line for line in lines if _LINE.fullmatch(line.rstrip(b"\r")) is not None]
    return len(fit) > _MOST_WRONG * len(lines) and any(b";" in line for line in fit)


def read_collapsed(data: bytes, limits: ProfileLimits) -> Profile:
    """The profile in collapsed stacks.

    Raises:
        UnreadableProfileError: over half of the lines are none.
        ProfileLimitError: it holds more than the limits allow.
    """
    builder, names = Builder(limits), Names(limits.name_characters)
    frames: dict[bytes, int] = {}
    read = wrong = 0
    position = 0
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        line = data[position : min(end, position + _LINE_BYTES + 1)].rstrip(b"\r")
        position = end + 1
        if not line.strip():
            continue
        found = _LINE.fullmatch(line) if len(line) <= _LINE_BYTES else None
        if found is None:
            wrong += 1
            continue
        read += 1
        stack: list[int] = []
        for raw in reversed(found["stack"].split(b";")):
            place = frames.get(raw)
            if place is None:
                bound(len(frames) + 1, limits.places, "different frames")
                place = frames[raw] = builder.frame(_frame(names.decode(raw)))
            stack.append(place)
        builder.add(stack, [int(found["count"])])
    if wrong > read:
        raise UnreadableProfileError(
            f"{wrong:,} of {wrong + read:,} lines are no collapsed stacks, which look like `main;handle;encode 42`."
        )
    notes = [f"{wrong:,} lines are no stacks and are left out."] if wrong else []
    notes += cut_notes(names.cut, limits.name_characters)
    return builder.profile("collapsed", [SampleType(name="samples", unit="count")], notes)


def _frame(text: str) -> Frame:
    """One name; py-spy's lines go beside it, since a function is one, whichever line was running."""
    found = _PYTHON.fullmatch(text)
    if found is None:
        return text, "", 0
    return f"{found['name']} ({found['file']})", found["file"], int(found["line"])
