"""Results as JSON in the shape of Prometheus' HTTP API, with its way of writing times and values.

Values are formatted in one go by orjson, whose shortest decimal text differs from Go's only in exponents, in ".0" and
in what JSON cannot write; rows with such values take the slow path for those values alone.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import orjson

from loadwatch_backend.series.promql.numbers import format_json_number
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.value import FloatArray, Grid, IntArray, Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.series.store.port import Labels

PIECE_BYTES = 128 * 1024
"""Size of a piece of a streamed answer: compressing one occupies the event loop for a millisecond."""
_POINT_BYTES = 44
"""`[1700000000.123,"-1.2345678901234567e-308"],`"""
_ROW_BYTES = 32
_PAIR_BYTES = 6
_ROWS_AT_ONCE = 1_000


def format_time(time_ms: int) -> str:
    """Seconds with up to three decimals, as Prometheus writes times."""
    sign = "-" if time_ms < 0 else ""
    seconds, fraction = divmod(abs(time_ms), 1000)
    return f"{sign}{seconds}.{fraction:03d}" if fraction else f"{sign}{seconds}"


def format_values(values: FloatArray) -> list[str]:
    """One text for each value, without quotes."""
    if not len(values):
        return []
    text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
    tokens = text[1:-1].replace(b".0,", b",").decode().split(",")
    tokens[-1] = tokens[-1].removesuffix(".0")
    if b"e" in text or b"n" in text:
        # Exponents, and NaN and infinities, which are null in JSON.
        for place in [place for place, token in enumerate(tokens) if "e" in token or token == "null"]:
            tokens[place] = format_json_number(float(values[place]))
    return tokens


def _joints(times_ms: IntArray) -> list[str]:
    """What stands before each value of a series: the end of the former point and the time of its own."""
    if len(times_ms) and not (times_ms % 1000).any():
        seconds = orjson.dumps(times_ms // 1000, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].decode()
        return ['"],[' + second + ',"' for second in seconds.split(",")]
    return [f'"],[{format_time(time)},"' for time in times_ms.tolist()]


def _points(joints: Sequence[str], tokens: Sequence[str]) -> str:
    """`[[time,"value"],...]`."""
    if not tokens:
        return "[]"
    parts = [""] * (2 * len(tokens))
    parts[0::2], parts[1::2] = joints, tokens
    # The first point has none before it to end.
    return "[" + "".join(parts)[3:] + '"]]'


def _metric(labels: Labels) -> str:
    return orjson.dumps(dict(labels), option=orjson.OPT_SORT_KEYS).decode()


def matrix_rows(matrix: Matrix, grid: Grid) -> Iterator[str]:
    """The entries of the `result` of a range query."""
    joints = _joints(grid.times_ms())
    for labels, values, present in zip(matrix.labels, matrix.values, matrix.present, strict=True):
        if present.all():
            points = _points(joints, format_values(np.ascontiguousarray(values)))
        else:
            steps = np.flatnonzero(present).tolist()
            points = _points([joints[step] for step in steps], format_values(values[present]))
        yield f'{{"metric":{_metric(labels)},"values":{points}}}'


def vector_rows(matrix: Matrix, time_ms: int) -> Iterator[str]:
    """The entries of the `result` of an instant query for a vector."""
    time = format_time(time_ms)
    for first in range(0, len(matrix.labels), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        tokens = format_values(np.ascontiguousarray(matrix.values[rows, 0]))
        for labels, token in zip(matrix.labels[rows], tokens, strict=True):
            yield f'{{"metric":{_metric(labels)},"value":[{time},"{token}"]}}'


def raw_rows(raw: RawMatrix) -> Iterator[str]:
    """The entries of the `result` of an instant query for a range selector."""
    for series in raw.series:
        points = _points(_joints(series.timestamps), format_values(series.values))
        yield f'{{"metric":{_metric(series.labels)},"values":{points}}}'


def answer_bytes(value: Matrix | RawMatrix) -> int:
    """Upper bound of the bytes of a query's result, known before it is written."""
    if isinstance(value, Matrix):
        points, labels = int(np.count_nonzero(value.present)), value.labels
    else:
        points, labels = sum(len(series.values) for series in value.series), [one.labels for one in value.series]
    pairs = sum(len(name) + len(text) + _PAIR_BYTES for one in labels for name, text in one.items())
    return points * _POINT_BYTES + len(labels) * _ROW_BYTES + pairs


def query_document(
    kind: ValueType, result: Iterable[str] | str, warnings: Sequence[str] = (), infos: Sequence[str] = ()
) -> Iterator[str]:
    """The document of a query's result, in parts: entries of a list, or the one text that it is."""
    yield f'{{"status":"success","data":{{"resultType":"{kind.value}","result":'
    yield from (result,) if isinstance(result, str) else _array(result)
    yield "}" + _listing("warnings", warnings) + _listing("infos", infos) + "}"


def scalar_text(value: Scalar | StringValue, time_ms: int) -> str:
    """The `result` of an instant query that is one value."""
    if isinstance(value, Scalar):
        return f'[{format_time(time_ms)},"{format_json_number(float(value.values[0]))}"]'
    return f"[{format_time(time_ms)},{orjson.dumps(value.text).decode()}]"


def listed(values: Iterable[bytes], warnings: Sequence[str]) -> Iterator[str]:
    yield '{"status":"success","data":'
    yield from _array(value.decode() for value in values)
    yield _listing("warnings", warnings) + "}"


def _array(texts: Iterable[str]) -> Iterator[str]:
    start = "["
    for text in texts:
        yield start + text
        start = ","
    yield "[]" if start == "[" else "]"


def _listing(name: str, texts: Sequence[str]) -> str:
    return f',"{name}":{orjson.dumps(list(texts)).decode()}' if texts else ""


def in_pieces(parts: Iterable[str]) -> Iterator[bytes]:
    waiting: list[str] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode()
