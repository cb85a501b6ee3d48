"""Every query of the golden file gives what Prometheus' own engine gave."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryExecutionError, QueryParseError
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.value import Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.series.store.errors import PatternError

GOLDEN = Path(__file__).parent / "golden" / "prometheus.json.gz"
RELATIVE, ABSOLUTE = 1e-10, 1e-13

with gzip.open(GOLDEN) as _file:
    _QUERIES: list[dict[str, Any]] = json.load(_file)["queries"]
_BY_TEXT: dict[str, list[dict[str, Any]]] = {}
for _query in _QUERIES:
    _BY_TEXT.setdefault(_query["text"], []).append(_query)


@pytest.mark.parametrize("text", _BY_TEXT)
def test_query_gives_what_prometheus_gives(engine: Engine, text: str) -> None:
    for query in _BY_TEXT[text]:
        check_query(engine, query)


def check_query(engine: Engine, query: dict[str, Any]) -> None:
    """Raises AssertionError when the answer is another one."""
    kind = query.get("error", "").partition(":")[0]
    if kind == "parse":
        with pytest.raises((QueryParseError, PatternError)):
            _evaluate(engine, query)
    elif kind == "execution":
        with pytest.raises(QueryExecutionError):
            _evaluate(engine, query)
    else:
        _compare(query, *_evaluate(engine, query))


def _evaluate(engine: Engine, query: dict[str, Any]) -> tuple[ValueType, Scalar | StringValue | Matrix | RawMatrix]:
    if query["step"]:
        return ValueType.MATRIX, engine.range(query["text"], query["start"], query["end"], query["step"])
    answer = engine.answer(query["text"], query["start"])
    return answer.type, answer.value


def _number(value: float | str) -> float:
    return float(value)


def _compare(query: dict[str, Any], kind: ValueType, value: Scalar | StringValue | Matrix | RawMatrix) -> None:
    assert kind.value == query["type"]
    rows: list[dict[str, Any]] = query.get("rows", [])
    match value:
        case Scalar():
            _same([_number(query["value"])], value.values.tolist())
        case StringValue():
            assert value.text == query.get("words", "")
        case RawMatrix():
            ordered = sorted(value.series, key=lambda series: sorted(series.labels.items()))
            assert [dict(series.labels) for series in ordered] == [row["labels"] for row in rows]
            for series, row in zip(ordered, rows, strict=True):
                assert series.timestamps.tolist() == row["times"]
                _same([_number(found) for found in row["values"]], series.values.tolist())
        case Matrix():
            if kind is ValueType.VECTOR and not query["text"].startswith(("sort", "topk", "bottomk")):
                rows = sorted(rows, key=lambda row: sorted(row["labels"].items()))
            assert [dict(labels) for labels in value.labels] == [row["labels"] for row in rows]
            for row, present, found in zip(rows, value.present, value.values, strict=True):
                assert present.tolist() == [one is not None for one in row["values"]]
                _same([_number(one) for one in row["values"] if one is not None], found[present].tolist())


def _same(expected: list[float], actual: list[float]) -> None:
    np.testing.assert_allclose(actual, expected, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
