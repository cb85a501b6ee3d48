"""Which format a profile has, by its content, and the profile in it."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename
from typing import TypeVar

import numpy as np
from google.protobuf.message import DecodeError

from loadwatch_backend.evidence.profiles.model import (
    Binary,
    Function,
    Ints,
    Label,
    LabelSet,
    Locations,
    Profile,
    ProfileLimitError,
    SampleType,
    UnknownProfileError,
    UnreadableProfileError,
)
from loadwatch_backend.evidence.profiles.reading import pprof_pb2 as messages
from loadwatch_backend.evidence.profiles.reading.collapsed import is_collapsed, read_collapsed
from loadwatch_backend.evidence.profiles.reading.limits import Names, ProfileLimits, bound, cut_notes
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import compile_pattern

# The fields of an encoded protobuf message, without building it: so that they can be counted before memory is taken.
#
# An empty message inside another takes two bytes on the wire and fifty in memory.

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


def fields(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Number, wire type, and two integers: of bytes where they begin and end, of others the value and 0.

    Raises:
        WireError: a field that ends outside the message, or that no message has.
    """
    position, size = 0, len(data)
    while position < size:
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise WireError(f"a field without a number at byte {position}")
        if kind == BYTES:
            length, position = _varint(data, position)
            end = position + length
            if end > size:
                raise WireError(f"field {number} ends {end - size} bytes behind the end of the data")
            yield number, kind, position, end
            position = end
        elif kind == VARINT:
            value, position = _varint(data, position)
            yield number, kind, value, 0
        elif kind in (FIXED64, FIXED32):
            end = position + (8 if kind == FIXED64 else 4)
            if end > size:
                raise WireError(f"field {number} is cut off at byte {size}")
            yield number, kind, int.from_bytes(data[position:end], "little"), 0
            position = end
        else:
            raise WireError(f"field {number} at byte {position} has a type that is not used")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data):
            raise WireError(f"the data is cut off at byte {position}")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
        if shift > 63:
            raise WireError(f"a number without an end at byte {position}")


def signed(value: int) -> int:
    """The int64 of a varint."""
    return value - (1 << 64) if value >> 63 else value


# Frames that a profile says are of no interest: `drop_frames` and `keep_frames`, as pprof's Prune reads them.
#
# Tools for C++ use them for the insides of an allocator; Go sets neither.

_RESERVED = ("(anonymous namespace)", "operator()")
"""Parentheses in a name that do not begin its arguments."""


class Pruning:
    """Which functions are dropped with all that they call.

    Raises:
        UnreadableProfileError: a pattern that is none in RE2's syntax, or too large.
    """

    def __init__(self, drop: str, keep: str) -> None:
        try:
            self._drop = compile_pattern(drop)
            self._keep = compile_pattern(keep) if keep else None
        except PatternError as error:
            raise UnreadableProfileError(f"The profile's pattern of frames to drop cannot be used: {error}") from error

    def drops(self, name: str) -> bool:
        """Whether frames of this function are removed: it matches `drop` and does not match `keep`."""
        simple = _simplified(name)
        return self._drop.fullmatch(simple) is not None and (self._keep is None or self._keep.fullmatch(simple) is None)

    def prune(
        self, functions: Sequence[Function], locations: Locations, offsets: Ints, stack: Ints
    ) -> tuple[Locations, Ints, Ints]:
        """The locations and stacks without them. Frames before the first of interest stay: a stack is never emptied."""
        dropped = np.array([self.drops(function.name) for function in functions], bool)
        # Of each location, how many of its frames go: up to and with the outermost that is dropped.
        gone = np.zeros(len(locations), np.int64)
        for place in range(len(locations)):
            frames = dropped[locations.function[locations.offsets[place] : locations.offsets[place + 1]]]
            where = np.flatnonzero(frames)
            gone[place] = where[-1] + 1 if len(where) else 0
        lengths = np.diff(locations.offsets)
        whole = gone == lengths
        kept: list[Ints] = []
        for sample in range(len(offsets) - 1):
            kept.append(_pruned(stack[offsets[sample] : offsets[sample + 1]], gone > 0, whole))
        cut = np.where(whole, 0, gone)
        inside = np.arange(len(locations.function)) - np.repeat(locations.offsets[:-1], lengths)
        stays = inside >= np.repeat(cut, lengths)
        return (
            replace(
                locations,
                offsets=np.concatenate([[0], np.cumsum(lengths - cut)]).astype(np.int64),
                function=locations.function[stays],
                line=locations.line[stays],
            ),
            np.concatenate([[0], np.cumsum([len(one) for one in kept])]).astype(np.int64),
            np.concatenate(kept).astype(np.int64) if kept else stack,
        )


def _pruned(stack: Ints, touched: "np.typing.NDArray[np.bool_]", whole: "np.typing.NDArray[np.bool_]") -> Ints:
    seen = False
    for place in range(len(stack) - 1, -1, -1):
        location = stack[place]
        if not touched[location]:
            seen = True
        elif seen:
            return stack[place + 1 :] if whole[location] else stack[place:]
    return stack


def _simplified(name: str) -> str:
    """Without the list of arguments, and without the leading point of some binaries."""
    name = name.removeprefix(".")
    position = 0
    while (bracket := name.find("(", position)) >= 0:
        reserved = next((word for word in _RESERVED if name.startswith(word, bracket - word.index("("))), None)
        if reserved is None:
            return name[:bracket]
        position = bracket + len(reserved) - reserved.index("(")
    return name


_T = TypeVar("_T")
_TYPE, _SAMPLE, _BINARY, _LOCATION, _FUNCTION, _TEXT = 1, 2, 3, 4, 5, 6
_DROP, _KEEP, _TIME, _DURATION, _PERIOD_TYPE, _PERIOD, _DEFAULT = 7, 8, 9, 10, 11, 12, 14
_LABELS = 64
"""Labels per sample; those beyond are left out and counted."""
UNKNOWN = "<unknown>"
"""As pprof names a frame of which it knows neither function nor binary."""


@dataclass(slots=True)
class _Parts:
    """Where the parts of the message lie, by the number of their field; and its plain numbers."""

    spans: dict[int, list[tuple[int, int]]] = field(
        default_factory=lambda: {number: [] for number in (_TYPE, _SAMPLE, _BINARY, _LOCATION, _FUNCTION, _TEXT)}
    )
    numbers: dict[int, int] = field(default_factory=dict[int, int])


def read_pprof(data: bytes, limits: ProfileLimits) -> Profile:
    """The profile in an encoded, decompressed perftools.profiles.Profile.

    Raises:
        UnreadableProfileError: it is none, or contradicts itself.
        ProfileLimitError: it holds more than the limits allow.
    """
    try:
        return _Reader(data, _scan(data, limits), limits).read()
    except (WireError, DecodeError) as error:
        raise UnreadableProfileError(f"The profile is damaged: {error}. Take it again.") from error


def _scan(data: bytes, limits: ProfileLimits) -> _Parts:
    most = {
        _TYPE: (limits.types, "types of samples"),
        _SAMPLE: (limits.samples, "samples"),
        _BINARY: (limits.places, "binaries"),
        _LOCATION: (limits.places, "locations"),
        _FUNCTION: (limits.places, "functions"),
        _TEXT: (limits.texts, "texts"),
    }
    parts = _Parts()
    for number, kind, begin, end in fields(data):
        if kind == BYTES and number in most:
            found = parts.spans[number]
            found.append((begin, end))
            bound(len(found), *most[number])
            if number != _TEXT:
                bound(end - begin, limits.sample_bytes, "bytes in one of its entries")
        elif kind == VARINT:
            parts.numbers[number] = signed(begin)
    return parts


class _Reader:
    def __init__(self, data: bytes, parts: _Parts, limits: ProfileLimits) -> None:
        self._data = data
        self._parts = parts
        self._limits = limits
        self._names = Names(limits.name_characters)
        self._texts: dict[int, str] = {}
        self._nameless: dict[str, int] = {}
        self._functions: list[Function] = []
        self._notes: list[str] = []

    def read(self) -> Profile:
        types = [
            SampleType(name=self._text(one.type), unit=self._text(one.unit).lower())
            for one in self._messages(_TYPE, messages.ValueType.FromString)
        ]
        if not types:
            raise UnreadableProfileError("The profile says of no value what it is (it has no sample types).")
        texts = self._parts.spans[_TEXT]
        if texts and texts[0][0] != texts[0][1]:
            raise UnreadableProfileError("The first text of the profile's table is not empty, which the format wants.")
        binaries, binary_of = self._binaries()
        function_of = self._read_functions()
        locations, location_of = self._locations(function_of, binaries, binary_of)
        values, offsets, stack, labels, label_sets = self._samples(len(types), location_of)
        drop = self._text(self._parts.numbers.get(_DROP, 0), "the pattern of frames to drop")
        if drop:
            keep = self._text(self._parts.numbers.get(_KEEP, 0), "the pattern of frames to keep")
            pruning = Pruning(drop, keep)
            locations, offsets, stack = pruning.prune(self._functions, locations, offsets, stack)
        numbers = self._parts.numbers
        return Profile(
            format="pprof",
            types=tuple(types),
            default=self._default(types),
            functions=tuple(self._functions),
            binaries=tuple(binaries),
            locations=locations,
            values=values,
            offsets=offsets,
            stack=stack,
            labels=labels,
            label_sets=label_sets,
            started_ns=max(numbers.get(_TIME, 0), 0),
            duration_ns=max(numbers.get(_DURATION, 0), 0),
            period=max(numbers.get(_PERIOD, 0), 0),
            notes=(*self._notes, *cut_notes(self._names.cut, self._limits.name_characters)),
        )

    def _default(self, types: Sequence[SampleType]) -> int:
        """As pprof chooses: the type that the profile names, otherwise the last."""
        named = self._text(self._parts.numbers.get(_DEFAULT, 0), "the default sample type")
        return next((place for place, one in enumerate(types) if named and one.name == named), len(types) - 1)

    def _messages(self, number: int, parse: Callable[[bytes], _T]) -> Sequence[_T]:
        return [parse(self._data[begin:end]) for begin, end in self._parts.spans[number]]

    def _text(self, place: int, what: str = "a text") -> str:
        if place == 0:
            return ""
        known = self._texts.get(place)
        if known is not None:
            return known
        texts = self._parts.spans[_TEXT]
        if not 0 <= place < len(texts):
            raise UnreadableProfileError(
                f"The profile names text {place} for {what}, and its table has {len(texts):,}. Take it again."
            )
        begin, end = texts[place]
        text = self._texts[place] = self._names.decode(self._data[begin:end])
        return text

    def _binaries(self) -> tuple[list[Binary], Mapping[int, int]]:
        found: list[Binary] = []
        places: dict[int, int] = {}
        for one in self._messages(_BINARY, messages.Mapping.FromString):
            _unused(one.id, places, "binary")
            places[one.id] = len(found)
            found.append(
                Binary(
                    start=one.memory_start,
                    limit=one.memory_limit,
                    offset=one.file_offset,
                    file=self._text(one.filename, "the file of a binary"),
                    build_id=self._text(one.build_id, "the build of a binary"),
                )
            )
        return found, places

    def _read_functions(self) -> Mapping[int, int]:
        """Place in `_functions` by id; -1 for those without a name, which go by the binary they lie in."""
        places: dict[int, int] = {}
        for one in self._messages(_FUNCTION, messages.Function.FromString):
            _unused(one.id, places, "function")
            name = self._text(one.name, "the name of a function")
            if not name:
                places[one.id] = -1
                continue
            places[one.id] = len(self._functions)
            bound(len(places), self._limits.places, "functions")
            self._functions.append(Function(name=name, file=self._text(one.filename, "the file of a function")))
        return places

    def _locations(
        self, function_of: Mapping[int, int], binaries: Sequence[Binary], binary_of: Mapping[int, int]
    ) -> tuple[Locations, Mapping[int, int]]:
        places: dict[int, int] = {}
        offsets, functions, lines, addresses, mapped = [0], list[int](), list[int](), list[int](), list[int]()
        for begin, end in self._parts.spans[_LOCATION]:
            one = messages.Location.FromString(self._data[begin:end])
            _unused(one.id, places, "location")
            places[one.id] = len(addresses)
            binary = binary_of.get(one.mapping_id, -1)
            for line in one.line:
                if line.function_id not in function_of:
                    raise UnreadableProfileError(
                        f"Location {one.id} of the profile names function {line.function_id}, which is not in it."
                        " Take it again."
                    )
                function = function_of[line.function_id]
                functions.append(function if function >= 0 else self._without_name(binaries, binary))
                lines.append(line.line)
            if not one.line:
                functions.append(self._without_name(binaries, binary))
                lines.append(0)
            bound(len(functions), self._limits.frames, "frames")
            offsets.append(len(functions))
            addresses.append(one.address)
            mapped.append(binary)
        locations = Locations(
            offsets=_ints(offsets),
            function=_ints(functions),
            line=_ints(lines),
            address=np.array(addresses, np.uint64).view(np.int64),
            binary=_ints(mapped),
        )
        return locations, places

    def _without_name(self, binaries: Sequence[Binary], binary: int) -> int:
        file = binaries[binary].file if binary >= 0 else ""
        name = f"[{basename(file)}]" if file else UNKNOWN
        place = self._nameless.get(name)
        if place is None:
            place = self._nameless[name] = len(self._functions)
            self._functions.append(Function(name=name))
        return place

    def _samples(
        self, types: int, location_of: Mapping[int, int]
    ) -> tuple[Ints, Ints, Ints, Ints, tuple[LabelSet, ...]]:
        values, stack, offsets, labels = list[int](), list[int](), [0], list[int]()
        sets: dict[LabelSet, int] = {(): 0}
        left_out = 0
        for number, (begin, end) in enumerate(self._parts.spans[_SAMPLE], 1):
            one = messages.Sample.FromString(self._data[begin:end])
            if len(one.value) != types:
                raise UnreadableProfileError(
                    f"Sample {number} of the profile has {len(one.value)} values for {types} sample types."
                    " Take it again."
                )
            values.extend(one.value)
            try:
                stack.extend([location_of[location] for location in one.location_id])
            except KeyError as error:
                raise UnreadableProfileError(
                    f"Sample {number} of the profile names location {error}, which is not in it. Take it again."
                ) from error
            bound(len(stack), self._limits.frames, "frames")
            offsets.append(len(stack))
            if not one.label:
                labels.append(0)
                continue
            left_out += max(len(one.label) - _LABELS, 0)
            labels.append(sets.setdefault(self._label_set(one.label[:_LABELS]), len(sets)))
            bound(len(sets), self._limits.places, "sets of labels")
        if left_out:
            self._notes.append(f"{left_out:,} labels are left out: a sample may have {_LABELS}.")
        columns = np.array(values, np.int64).reshape(-1, types)
        # Sums stay exact in 64 bits, whichever way they are added.
        if len(columns) and float(np.abs(columns.astype(np.float64)).sum(axis=0).max()) >= 2.0**62:
            raise UnreadableProfileError("The values of the profile add up to more than any measurement gives.")
        return columns, _ints(offsets), _ints(stack), _ints(labels), tuple(sets)

    def _label_set(self, found: Sequence[messages.Label]) -> LabelSet:
        return tuple(
            sorted(
                (
                    Label(
                        key=self._text(one.key, "the key of a label"),
                        text=self._text(one.str, "the value of a label"),
                        number=0 if one.str else one.num,
                        unit="" if one.str else self._text(one.num_unit, "the unit of a label"),
                    )
                    for one in found
                ),
                key=lambda label: (label.key, label.text, label.number, label.unit),
            )
        )


def _unused(identity: int, places: Mapping[int, int], what: str) -> None:
    if identity == 0 or identity in places:
        wrong = "the number 0, which means none" if identity == 0 else f"the number {identity}, as another has"
        raise UnreadableProfileError(f"A {what} of the profile has {wrong}. Take it again.")


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


GZIP = b"\x1f\x8b"
_MEMBERS = 16
"""Of one stream. Each costs a copy of what follows it."""


def unpacked(data: bytes, most: int) -> bytes:
    """The content; of data that is not compressed the data itself.

    Raises:
        ProfileLimitError: it would be longer than `most` bytes.
        UnreadableProfileError: the gzip stream is damaged or cut off.
    """
    parts: list[bytes] = []
    size = 0
    rest = data
    for _ in range(_MEMBERS):
        if not rest.startswith(GZIP):
            break
        engine = zlib.decompressobj(wbits=31)
        while not engine.eof:
            try:
                part = engine.decompress(rest, max(most + 1 - size, 1))
            except zlib.error as error:
                raise UnreadableProfileError(
                    f"The gzip stream is damaged ({error}). Take the profile again."
                ) from error
            size += len(part)
            parts.append(part)
            if size > most:
                raise ProfileLimitError(
                    f"The profile has more than {most >> 20} MiB after decompression. Take it over fewer seconds."
                )
            rest = engine.unconsumed_tail
            if not engine.eof and not rest:
                raise UnreadableProfileError(
                    f"The gzip stream is cut off after {size:,} bytes: the process may have ended while it was taken."
                    " Take the profile again."
                )
        rest = engine.unused_data.lstrip(b"\0")
    if rest and parts:
        raise UnreadableProfileError(f"{len(rest):,} bytes follow the gzip stream. Take the profile again.")
    if len(rest) > most:
        raise ProfileLimitError(f"The profile has more than {most >> 20} MiB. Take it over fewer seconds.")
    return b"".join(parts) if parts else data


LIMITS = ProfileLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    format: str
    knows: Callable[[bytes], bool]
    read: Callable[[bytes, ProfileLimits], Profile]


_PPROF_MESSAGES, _PPROF_NUMBERS, _PPROF_EITHER = (1, 2, 3, 4, 5, 6, 11), (7, 8, 9, 10, 12, 14, 15), (13,)
"""Fields of pprof's Profile; a list of numbers may be written either way."""
_LOOK_AT = 20


def is_pprof(data: bytes) -> bool:
    """Whether the first fields are those of pprof's Profile, each of its type."""
    try:
        for count, (number, kind, _, _) in enumerate(fields(data)):
            if count >= _LOOK_AT:
                return True
            known = {BYTES: _PPROF_MESSAGES, VARINT: _PPROF_NUMBERS}.get(kind, ())
            if number not in known and number not in _PPROF_EITHER:
                return False
    except WireError:
        # Damaged later on, which its reader says better.
        return data[:1] == b"\x0a" and len(data) > 2 and data[2:3] == b"\x08"
    return bool(data)


READERS: Sequence[Reader] = (
    Reader(format="collapsed", knows=is_collapsed, read=read_collapsed),
    Reader(format="pprof", knows=is_pprof, read=read_pprof),
)
"""In the order in which they are asked: text first, since some text could be the beginning of a message."""

_KNOWN: Sequence[tuple[bytes, str]] = (
    (b"goroutine profile:", "the readable form of a goroutine profile. Take it again without `?debug=1`"),
    (b"goroutine ", "a dump of goroutines. Take it again without `?debug=2`"),
    (b"heap profile:", "the readable form of a heap profile. Take it again without `?debug=1`"),
    (b"--- contention", "the readable form of a block profile. Take it again without `?debug=1`"),
    (b"--- mutex", "the readable form of a mutex profile. Take it again without `?debug=1`"),
    (b"threadcreate profile:", "the readable form of a profile. Take it again without `?debug=1`"),
    (b"go 1.", "an execution trace of Go, which `go tool trace` reads. Take /debug/pprof/profile in its place"),
    (b"<", "a page of HTML or XML. Look at the address that it came from"),
    (b"Could not enable CPU profiling", "an error of Go: somebody else takes a CPU profile. Take it again later"),
    (b"PERFILE2", "the raw data of perf. Make collapsed stacks of it: perf script | stackcollapse-perf.pl"),
    (b"{", "JSON. If it is speedscope's, export collapsed stacks in its place: py-spy record -f raw"),
    (b"FLR\x00", "a recording of Java Flight Recorder. Export collapsed stacks: asprof -o collapsed"),
)


def read_profile(data: bytes, limits: ProfileLimits = LIMITS) -> Profile:
    """The profile in the bytes of a file: pprof or collapsed stacks, compressed with gzip or not.

    Raises:
        UnknownProfileError: it is none of them; says what it seems to be.
        UnreadableProfileError: it is one, and damaged.
        ProfileLimitError: it is larger than what is read.
    """
    if len(data) > limits.file_bytes:
        raise ProfileLimitError(
            f"The file has {len(data) >> 20} MiB, and at most {limits.file_bytes >> 20} are read."
            " Take the profile over fewer seconds."
        )
    content = unpacked(data, limits.bytes) if data.startswith(GZIP) else data
    if not content:
        raise UnknownProfileError("The file is empty: the process may have ended while the profile was taken.")
    for reader in READERS:
        if reader.knows(content):
            return reader.read(content, limits)
    start = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    for beginning, what in _KNOWN:
        if start.startswith(beginning):
            raise UnknownProfileError(f"This is no profile, but {what}.")
    raise UnknownProfileError("This is no profile that can be read. pprof's format and collapsed stacks are.")
