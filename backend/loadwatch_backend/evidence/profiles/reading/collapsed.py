"""Collapsed stacks, a line each: `main;handle;encode 42`, the root first.

perf with stackcollapse-perf.pl, async-profiler (`-o collapsed`), py-spy (`-f raw`) and most tracers write them. The
values have no unit of their own: they are counts, of samples as a rule.
"""

import re

from loadwatch_backend.evidence.profiles.errors import UnreadableProfileError
from loadwatch_backend.evidence.profiles.model import Profile, SampleType
from loadwatch_backend.evidence.profiles.reading.building import Builder, Frame
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits, bound, cut_notes
from loadwatch_backend.evidence.profiles.reading.names import Names

_LINE = re.compile(rb"(?P<stack>.*\S)[ \t]+(?P<count>\d{1,18})")
_PYTHON = re.compile(r"(?P<name>[^()]+) \((?P<file>[^()]+):(?P<line>\d{1,9})\)")
"""A frame of py-spy."""
_LOOK_AT = 50
_LINE_BYTES = 1 << 20
_MOST_WRONG = 0.5
"""Of the lines. Then it is something else."""


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
