"""gzip taken off, no further than the limit."""

import zlib

from loadwatch_backend.evidence.profiles.errors import ProfileLimitError, UnreadableProfileError

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
