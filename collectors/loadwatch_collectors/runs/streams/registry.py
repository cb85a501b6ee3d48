"""The results that can be followed while they grow, recognised by their first bytes."""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadwatch_formats.gatling import TEXT_HEADS, is_binary
from loadwatch_formats.vegeta import is_vegeta

from loadwatch_collectors.runs.streams import (
    gatling_binary,
    gatling_text,
    jtl,
    k6_json,
    locust_history,
    vegeta_gob,
    vegeta_json,
)
from loadwatch_collectors.runs.streams.gatling_binary import Event, StreamError, StreamReader

HEAD_BYTES = 400
"""So many bytes decide; a shorter beginning may be too short to tell."""

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """A format: its name, what tells it, what reads it."""

    name: str
    begins: Callable[[bytes], bool]
    reader: Callable[[], StreamReader]


def _matches(pattern: "re.Pattern[bytes]") -> Callable[[bytes], bool]:
    return lambda head: pattern.match(head) is not None


FORMATS: Sequence[StreamFormat] = (
    StreamFormat("vegeta-csv", _matches(vegeta_gob.HEAD), vegeta_gob.VegetaCsvReader),
    StreamFormat("vegeta-json", _matches(vegeta_json.HEAD), vegeta_json.VegetaJsonReader),
    StreamFormat("k6-json", _matches(k6_json.HEAD), k6_json.K6JsonReader),
    StreamFormat(
        "locust-history", lambda head: head.startswith(locust_history.HEAD), locust_history.LocustHistoryReader
    ),
    StreamFormat("jmeter-jtl", _matches(jtl.HEAD), jtl.JtlReader),
    StreamFormat("gatling-text", lambda head: head.startswith(TEXT_HEADS), gatling_text.GatlingTextReader),
    StreamFormat("gatling-binary", is_binary, gatling_binary.GatlingBinaryReader),
    StreamFormat("vegeta-gob", is_vegeta, vegeta_gob.VegetaGobReader),
)


class AnyReader:
    """Reads whatever comes, plain or gzip, once its first bytes tell what it is."""

    def __init__(self) -> None:
        self._head = b""
        self._reader: StreamReader | None = None
        self._inflate: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage] - its only name
        self._plain: bool | None = None
        self.format: str | None = None

    def feed(self, data: bytes) -> Sequence[Event]:
        """See StreamReader.

        Raises:
            StreamError: also when the beginning is of no known format.
        """
        data = self._unpack(data)
        if self._reader is not None:
            return self._reader.feed(data)
        self._head = (self._head + data).removeprefix(_BOM)
        found = next((item for item in FORMATS if item.begins(self._head)), None)
        if found is None:
            if len(self._head) >= HEAD_BYTES:
                raise StreamError("the beginning of the result is of no format that can be followed")
            return ()
        self.format = found.name
        self._reader = found.reader()
        head, self._head = self._head, b""
        return self._reader.feed(head)

    def _unpack(self, data: bytes) -> bytes:
        if self._plain is None:
            self._head += data
            if len(self._head) < len(_GZIP):
                return b""
            self._plain = not self._head.startswith(_GZIP)
            data, self._head = self._head, b""
            if not self._plain:
                self._inflate = zlib.decompressobj(wbits=31)
        if self._inflate is None:
            return data
        try:
            out = self._inflate.decompress(data)
            while self._inflate.eof and self._inflate.unused_data:
                rest = self._inflate.unused_data
                self._inflate = zlib.decompressobj(wbits=31)
                out += self._inflate.decompress(rest)
        except zlib.error as error:
            raise StreamError(f"the compressed result cannot be read: {error}") from error
        return out
