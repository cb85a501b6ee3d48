"""Results as JSON in the shape of Prometheus' HTTP API, with its way of writing times and values.

Values are formatted in one go by orjson, whose shortest decimal text differs from Go's only in exponents, in ".0" and
in what JSON cannot write; rows with such values take the slow path for those values alone.
"""

from collections.abc import Sequence

import numpy as np
import orjson

from loadwatch_backend.promql.expression import ValueType
from loadwatch_backend.promql.numbers import format_json_number
from loadwatch_backend.promql.value import FloatArray, Grid, IntArray, Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.store.port import Labels


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


def matrix_json(matrix: Matrix, grid: Grid) -> str:
    """The `result` of a range query."""
    joints = _joints(grid.times_ms())
    rows: list[str] = []
    for labels, values, present in zip(matrix.labels, matrix.values, matrix.present, strict=True):
        if present.all():
            points = _points(joints, format_values(np.ascontiguousarray(values)))
        else:
            steps = np.flatnonzero(present).tolist()
            points = _points([joints[step] for step in steps], format_values(values[present]))
        rows.append(f'{{"metric":{_metric(labels)},"values":{points}}}')
    return f"[{','.join(rows)}]"


def vector_json(matrix: Matrix, time_ms: int) -> str:
    """The `result` of an instant query for a vector."""
    time = format_time(time_ms)
    tokens = format_values(np.ascontiguousarray(matrix.values[:, 0]))
    rows = [
        f'{{"metric":{_metric(labels)},"value":[{time},"{token}"]}}'
        for labels, token in zip(matrix.labels, tokens, strict=True)
    ]
    return f"[{','.join(rows)}]"


def raw_json(raw: RawMatrix) -> str:
    """The `result` of an instant query for a range selector."""
    rows: list[str] = []
    for series in raw.series:
        points = _points(_joints(series.timestamps), format_values(series.values))
        rows.append(f'{{"metric":{_metric(series.labels)},"values":{points}}}')
    return f"[{','.join(rows)}]"


def value_json(value: Scalar | StringValue | Matrix | RawMatrix, time_ms: int) -> str:
    """The `result` of an instant query."""
    match value:
        case Matrix():
            return vector_json(value, time_ms)
        case RawMatrix():
            return raw_json(value)
        case Scalar():
            return f'[{format_time(time_ms)},"{format_json_number(float(value.values[0]))}"]'
        case StringValue():
            return f"[{format_time(time_ms)},{orjson.dumps(value.text).decode()}]"


def success(data: str, warnings: Sequence[str] = ()) -> bytes:
    """The whole document around `data`, which is JSON already."""
    extra = f',"warnings":{orjson.dumps(list(warnings)).decode()}' if warnings else ""
    return f'{{"status":"success","data":{data}{extra}}}'.encode()


def query_success(kind: ValueType, result: str, warnings: Sequence[str] = ()) -> bytes:
    """The document of a query's result."""
    return success(f'{{"resultType":"{kind.value}","result":{result}}}', warnings)
