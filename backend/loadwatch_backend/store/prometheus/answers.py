"""Raw samples out of the engine's answers. Pure: bytes in, columns of series out."""

import functools
import math
from collections.abc import Iterable, Iterator
from typing import Any, cast

import cramjam
import numpy as np
import orjson

from loadwatch_backend.store.embedded.block import I64
from loadwatch_backend.store.errors import EngineAwayError
from loadwatch_backend.store.port import STALE_NAN
from loadwatch_backend.store.prometheus.wire import SeriesSamples, WireError, decode_series, fields

LONGEST_LINE = 32 << 20
"""Bytes of one line of an export: VictoriaMetrics writes one for each block, of at most 8,192 samples."""
_VALUES = b'"values":['
_TIMES = b'"timestamps":['
_LONGEST_KNOWN = 16 << 10
_NORMAL_NAN: float = float(np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0])
"""Prometheus' NaN that is no stale marker (model/value/value.go, NormalNaN)."""


def export_series(pieces: Iterable[bytes]) -> Iterator[SeriesSamples]:
    """The series of VictoriaMetrics' export, as they come; one may come in several lines.

    Raises:
        EngineAwayError: it is no export.
    """
    for line in _lines(pieces):
        if line:
            yield _export_line(line)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_LINE:
            raise EngineAwayError("a line of the engine's export does not end")
    yield rest


def _export_line(line: bytes) -> SeriesSamples:
    try:
        line, times = _without_times(line)
        try:
            document: Any = orjson.loads(line)
            values: list[Any] = document["values"]
        except orjson.JSONDecodeError:
            # Before 1.80 it writes infinity as Go does.
            begin = line.index(_VALUES) + len(_VALUES)
            end = line.index(b"]", begin)
            values = [_number(text) for text in line[begin:end].split(b",")]
            document = orjson.loads(line[:begin] + line[end:])
        numbers = np.array(values, np.float64)
        # Of all that is no number it keeps the stale marker alone.
        numbers[np.isnan(numbers)] = STALE_NAN
        if numbers.shape != times.shape or times.ndim != 1:
            raise ValueError("as many values as times")
        return SeriesSamples(_labels(document["metric"]), times, numbers)
    except (KeyError, TypeError, ValueError) as error:
        raise EngineAwayError(f"the engine's export cannot be read: {line[:200]!r}") from error


def _without_times(line: bytes) -> tuple[bytes, I64]:
    # They stand last, and no label's value has a quote that is not escaped.
    begin = line.rindex(_TIMES) + len(_TIMES)
    end = line.index(b"]", begin)
    text = line[begin:end]
    return line[:begin] + line[end:], (_known_times if len(text) <= _LONGEST_KNOWN else _times)(text)


def _times(text: bytes) -> I64:
    times = np.array(orjson.loads(b"[" + text + b"]"), np.int64)
    times.flags.writeable = False
    return times


_known_times = functools.lru_cache(256)(_times)
"""What an agent sends at once has one time, and a page asks for many metrics of it: half of all numbers are these."""


def _number(text: bytes) -> float:
    return math.nan if text == b"null" else float(text)


def _labels(document: Any) -> dict[str, str]:
    if not isinstance(document, dict):
        raise TypeError("labels are an object")
    return {str(name): str(value) for name, value in cast("dict[Any, Any]", document).items()}


def query_series(body: bytes) -> list[SeriesSamples]:
    """The series of an instant query's matrix.

    Raises:
        EngineAwayError: it is none.
    """
    try:
        document: Any = orjson.loads(body)
        if document["status"] != "success" or document["data"]["resultType"] != "matrix":
            raise ValueError("no matrix")
        result: list[SeriesSamples] = []
        for entry in document["data"]["result"]:
            rows: list[tuple[float, str]] = entry.get("values", [])
            # Seconds as a float are exact to the millisecond for all times that there are.
            times = np.rint(np.array([row[0] for row in rows], np.float64) * 1000).astype(np.int64)
            values = np.array([float(row[1]) for row in rows], np.float64)
            values[np.isnan(values)] = _NORMAL_NAN
            result.append(SeriesSamples(_labels(entry["metric"]), times, values))
        return result
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise EngineAwayError(f"the engine's answer is no matrix: {body[:200]!r}") from error


def read_series(body: bytes, most_bytes: int) -> list[list[SeriesSamples]]:
    """The series of a remote-read answer, for each of its queries.

    Raises:
        EngineAwayError: it is none, or more than may be.
    """
    try:
        size = int(cramjam.snappy.decompress_raw_len(body)) if body else 0
        if size > most_bytes:
            raise EngineAwayError(f"the engine's answer would have {size} bytes, and at most {most_bytes} are read")
        message = memoryview(bytes(cast("bytes", cramjam.snappy.decompress_raw(body)))) if body else memoryview(b"")
        return [
            [decode_series(series) for number, series in fields(result) if number == 1]
            for kind, result in fields(message)
            if kind == 1
        ]
    except (cramjam.DecompressionError, WireError) as error:
        raise EngineAwayError(f"the engine's answer to a remote read cannot be read: {error}") from error
