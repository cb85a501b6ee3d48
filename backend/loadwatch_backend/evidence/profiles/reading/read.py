"""Which format a profile has, by its content, and the profile in it."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.profiles.model import (
    Profile,
    ProfileLimitError,
    UnknownProfileError,
    UnreadableProfileError,
)
from loadwatch_backend.evidence.profiles.reading.collapsed import is_collapsed, read_collapsed
from loadwatch_backend.evidence.profiles.reading.limits import ProfileLimits
from loadwatch_backend.evidence.profiles.reading.pprof import BYTES, VARINT, WireError, fields, read_pprof

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
    """One format: how it is known, and how it is read."""

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
