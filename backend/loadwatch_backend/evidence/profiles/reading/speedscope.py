"""speedscope's JSON, sampled and evented. Files of several threads are added up.

https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources describes the format.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from loadwatch_backend.evidence.profiles.errors import ProfileLimitError, UnreadableProfileError
from loadwatch_backend.evidence.profiles.model import Profile, SampleType
from loadwatch_backend.evidence.profiles.reading.building import Builder
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits, bound, cut_notes
from loadwatch_backend.evidence.profiles.reading.names import Names

_TIMES = {"nanoseconds": 1, "microseconds": 1_000, "milliseconds": 1_000_000, "seconds": 1_000_000_000}
_DEEPEST = 4_096
"""Frames that may be open at once in an evented profile: each closing copies them."""
_MOST = 2.0**62

Weighted = Iterator[tuple[Sequence[int], float]]


def is_speedscope(data: bytes) -> bool:
    """Whether it is JSON that names speedscope's schema, or has its parts near the beginning."""
    head = data[: 1 << 12]
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and (
        b"speedscope" in head or b"speedscope" in data[-(1 << 12) :] or (b'"shared"' in head and b'"frames"' in head)
    )


def read_speedscope(data: bytes, limits: ProfileLimits) -> Profile:
    """The profile in a speedscope document.

    Raises:
        UnreadableProfileError: it is damaged or contradicts itself.
        ProfileLimitError: it holds more than the limits allow.
    """
    document = _parsed(data, limits)
    frames = _list(_object(document.get("shared"), "shared").get("frames"), "shared.frames")
    bound(len(frames), limits.places, "frames")
    profiles = [_object(one, "a profile") for one in _list(document.get("profiles"), "profiles")]
    if not profiles:
        raise UnreadableProfileError("The speedscope document has no profiles. Export it again.")
    active = document.get("activeProfileIndex")
    active = active if isinstance(active, int) and 0 <= active < len(profiles) else 0
    unit = str(profiles[active].get("unit", "none"))
    names = Names(limits.name_characters)
    builder = Builder(limits)
    numbers = [builder.frame(_frame(one, names)) for one in frames]
    notes: list[str] = []
    left_out = sum(1 for one in profiles if str(one.get("unit", "none")) != unit)
    if left_out:
        notes.append(f"{left_out} of {len(profiles)} profiles in the file have another unit and are left out.")
    factor = _TIMES.get(unit, 1)
    rounded = negative = 0
    for one in profiles:
        if str(one.get("unit", "none")) != unit:
            continue
        for stack, weight in _weighted(one, len(frames)):
            value = weight * factor
            if not math.isfinite(value) or abs(value) >= _MOST:
                raise UnreadableProfileError("A weight of the speedscope document is no number that can be added up.")
            rounded += not float(value).is_integer() and factor == 1
            negative += value < 0
            builder.add([numbers[frame] for frame in reversed(stack)], [round(value)])
    if rounded:
        notes.append(f"{rounded:,} weights are no whole numbers and are rounded.")
    if negative:
        notes.append(f"{negative:,} weights are below zero.")
    notes += cut_notes(names.cut, limits.name_characters)
    if unit in _TIMES:
        kind = SampleType(name="time", unit="nanoseconds")
    else:
        kind = SampleType(name="weight", unit="bytes" if unit == "bytes" else "count")
    return builder.profile("speedscope", [kind], notes)


def _parsed(data: bytes, limits: ProfileLimits) -> Mapping[str, Any]:
    if len(data) > limits.json_bytes:
        raise ProfileLimitError(
            f"The JSON document has {len(data) >> 20} MiB, and at most {limits.json_bytes >> 20} are read."
            " Record for fewer seconds, or export pprof's format."
        )
    entries = data.count(b"[") + data.count(b"{")
    bound(entries, limits.json_entries, "lists and objects")
    try:
        return _object(orjson.loads(data), "the document")
    except orjson.JSONDecodeError as error:
        raise UnreadableProfileError(f"The JSON is damaged or cut off: {error}. Export it again.") from error


def _weighted(profile: Mapping[str, Any], frames: int) -> Weighted:
    """Stacks of numbers of frames, the root first, with their weights."""
    kind = profile.get("type")
    if kind == "sampled":
        return _sampled(profile, frames)
    if kind == "evented":
        return _evented(profile, frames)
    raise UnreadableProfileError(f"A profile of type {str(kind)[:40]!r} in the speedscope document cannot be read.")


def _sampled(profile: Mapping[str, Any], frames: int) -> Weighted:
    samples = _list(profile.get("samples"), "samples")
    weights = _list(profile.get("weights"), "weights")
    if len(samples) != len(weights):
        raise UnreadableProfileError(
            f"The speedscope document has {len(samples):,} samples with {len(weights):,} weights. Export it again."
        )
    for sample, weight in zip(samples, weights, strict=True):
        stack = _list(sample, "a sample")
        for frame in stack:
            _check_frame(frame, frames)
        yield stack, _number(weight, "a weight")


def _evented(profile: Mapping[str, Any], frames: int) -> Weighted:
    """Time passes for the stack that is open; what closes must be what opened last."""
    stack: list[int] = []
    at = _number(profile.get("startValue", 0), "startValue")
    for one in _list(profile.get("events"), "events"):
        event = _object(one, "an event")
        now = _number(event.get("at"), "the time of an event")
        if now < at:
            raise UnreadableProfileError("The events of the speedscope document go back in time. Export it again.")
        if stack and now > at:
            yield tuple(stack), now - at
        at = now
        frame = event.get("frame")
        _check_frame(frame, frames)
        if event.get("type") == "O":
            bound(len(stack) + 1, _DEEPEST, "frames open at once")
            stack.append(cast(int, frame))
        elif event.get("type") == "C" and stack and stack[-1] == frame:
            stack.pop()
        else:
            raise UnreadableProfileError(
                "An event of the speedscope document closes a frame that is not the one opened last. Export it again."
            )
    end = _number(profile.get("endValue", at), "endValue")
    if stack and end > at:
        yield tuple(stack), end - at


def _frame(one: object, names: Names) -> tuple[str, str, int]:
    frame = _object(one, "a frame")
    line = frame.get("line")
    line = line if isinstance(line, int) and 0 < line < 1 << 31 else 0
    return names.clean(str(frame.get("name", "")) or "<unknown>"), names.clean(str(frame.get("file") or "")), line


def _check_frame(frame: object, frames: int) -> None:
    if not isinstance(frame, int) or isinstance(frame, bool) or not 0 <= frame < frames:
        raise UnreadableProfileError(
            f"The speedscope document names frame {str(frame)[:40]}, and it has {frames:,} frames. Export it again."
        )


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableProfileError(f"In the speedscope document {what} is no number. Export it again.")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnreadableProfileError(f"In the speedscope document {what} is no list. Export it again.")
    return cast(list[Any], value)


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableProfileError(f"In the speedscope document {what} is no object. Export it again.")
    return cast(Mapping[str, Any], value)
