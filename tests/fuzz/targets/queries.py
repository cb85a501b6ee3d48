"""What people and dashboards ask: PromQL, its parameters, regular expressions."""

import gzip
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.functions.label_functions import label_replace
from loadwatch_backend.series.promql.http.parameters import (
    Parameters,
    parse_seconds,
    parse_selector,
    parse_time,
    read_parameters,
    unescape_label,
)
from loadwatch_backend.series.promql.labels import LabelBudget
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.value import Matrix
from loadwatch_backend.series.store.patterns import full_matcher
from starlette.requests import Request

from backend.tests.promql.generated import GeneratedTexts
from backend.tests.promql.hostile import HOSTILE
from backend.tests.rules.promtool_format.store import MemoryStore
from tests.fuzz.target import Run, Target

_GOLDEN = Path(__file__).parents[3] / "backend" / "tests" / "promql" / "golden" / "prometheus.json.gz"
_START_MS = 1_700_000_000_000
_WORDS = (
    *("(", ")", "[", "]", "{", "}", ",", "@", ":", "#", "\n", "\r", '"', "'", "`", "\\", "=", "=~", "!~", "!="),
    *(" or ", " AND ", " unless ", " atan2 ", " + ", "-", "^", " == bool ", " by ", " without ", " on ", " ignoring "),
    *(" group_left ", " offset ", "5m", "1h", "NaN", "Inf", "0x1f", "1e9", "x", "y", "a", "§0"),
    *("sum", "topk(2,", "count_values('a',", "quantile(", "rate(x[5m])", "label_replace(x,'a','$1','b','(.*)')"),
    *("label_join(x,'a',',','b','c')", "histogram_quantile(0.9,x)", "absent(x)", "scalar(x)", "vector(1)", "time()"),
    *("predict_linear(x[1h],9)", "holt_winters(x[1h],.5,.5)", "clamp(x,1,2)", "round(x,5)", "\\x", "\\u12", "\\777"),
)


def text_of(data: bytes) -> str:
    """Bytes as a request's text."""
    return data.decode(errors="replace")


@cache
def _expressions() -> Sequence[bytes]:
    with gzip.open(_GOLDEN) as file:
        queries: list[dict[str, Any]] = json.load(file)["queries"]
    texts = sorted({query["text"] for query in queries})
    return [*(text.encode() for text in texts[::5]), *(text[:20_000].encode() for text in HOSTILE.values())]


def _generated(random: Random) -> bytes:
    texts = GeneratedTexts(random.randrange(2**32))
    return (texts.pair()[0] if random.random() < 0.8 else texts.noise()).encode()


def _store() -> MemoryStore:
    store = MemoryStore()
    for number in range(20):
        labels = {"__name__": "xy"[number % 2], "a": str(number % 4), "b": f"b-{number}", "le": str(number // 4)}
        store.put(labels, [(_START_MS + 15_000 * step, number * step / 7) for step in range(40)])
    return store


def _instant() -> Run:
    engine = Engine(_store(), EngineSettings(max_samples=1_000_000))

    def run(data: bytes) -> None:
        value = engine.answer(text_of(data), _START_MS + 600_000).value
        assert isinstance(value, object)

    return run


def _range() -> Run:
    engine = Engine(_store(), EngineSettings(max_samples=1_000_000))
    return lambda data: _ignored(engine.range(text_of(data), _START_MS, _START_MS + 600_000, 15_000))


def _texts_of(read: Callable[[str], object]) -> Callable[[], Run]:
    return lambda: lambda data: _ignored(read(text_of(data)))


def _ignored(value: object) -> None:
    del value


def _form() -> Run:
    def run(data: bytes) -> None:
        parameters = _parameters(data)
        for name in ("time", "start", "step", "limit"):
            for read in (parameters.time_ms, parameters.duration_ms):
                with suppress(ProblemError):
                    read(name)
        with suppress(ProblemError):
            parameters.limit()
        for text in (parameters.text("time"), text_of(data)):
            parse_time(text)
            parse_seconds(text)
            unescape_label(text)
        parameters.matchers()

    return run


def _parameters(data: bytes) -> Parameters:
    """By the dependency of the endpoints, from a request as Starlette makes it."""
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        body, sent = (b"" if sent else data), True
        return {"type": "http.request", "body": body, "more_body": False}

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": data[:60_000],
        "headers": [],
    }
    reading = read_parameters(Request(scope, receive))
    try:
        reading.send(None)
    except StopIteration as done:
        parameters: Parameters = done.value
        return parameters
    raise AssertionError("nothing to wait for")


_PATTERN_WORDS = (
    *("(", ")", "(?:", "(?i)", "(?P<a>", "[", "]", "[^", "{1000}", "{0,999}", "{2,}", "*", "+", "?", "|", ".", ".*"),
    *(
        "\\pL",
        "\\PN",
        "\\d",
        "\\W",
        "\\b",
        "\\C",
        "\\Q",
        "\\x{10FFFF}",
        "[[:word:]]",
        "^",
        "$",
        "a",
        "b",
        "ſ",
        "é",
        "\\1",
    ),
)
_VALUES = ("", "a", "ab" * 40, "host-1.example.com:9100", "é" * 200, "a\nb", "0123456789" * 20)


def _patterns() -> Run:
    matrix_values = [{"a": value} for value in _VALUES]

    def run(data: bytes) -> None:
        text = text_of(data)
        for new_line in (True, False):
            matches = full_matcher(text, dot_matches_newline=new_line)
            for value in _VALUES:
                matches(value)
        values = np.zeros((len(matrix_values), 1))
        matrix = Matrix(labels=matrix_values, values=values, present=values == values)
        label_replace(matrix, ("b", text[:100], "a", text), LabelBudget())

    return run


QUERIES: tuple[Target, ...] = (
    Target(
        name="PromQL, instant query",
        open=_instant,
        expected=(ProblemError,),
        corpus=_expressions,
        words=_WORDS,
        generate=_generated,
    ),
    Target(
        name="PromQL, range query",
        open=_range,
        expected=(ProblemError,),
        corpus=_expressions,
        words=_WORDS,
        generate=_generated,
    ),
    Target(
        name="PromQL, parsed",
        open=_texts_of(parse_expression),
        expected=(ProblemError,),
        corpus=_expressions,
        words=_WORDS,
        generate=_generated,
    ),
    Target(
        name="PromQL, match[]",
        open=_texts_of(parse_selector),
        expected=(ProblemError,),
        corpus=lambda: [b'x{a="b",c=~"d|e",f!~"g.*"}', b"{__name__=~'a.+'}", b"up", *_expressions()],
        words=_WORDS,
    ),
    Target(
        name="parameters of queries",
        open=_form,
        expected=(ProblemError,),
        corpus=lambda: [
            b"query=up&time=1700000000.5&step=15s&match[]=up&match[]=x",
            b"start=2026-01-01T00:00:00Z&limit=3",
        ],
        words=(
            "&",
            "=",
            "match[]",
            "time",
            "%",
            "%00",
            "%ff",
            "+",
            "start",
            "step",
            "y",
            "w",
            "ms",
            "U__",
            "_2e_",
            ";",
        ),
        longest=1 << 20,
    ),
    Target(
        name="regular expressions",
        open=_patterns,
        expected=(ProblemError,),
        corpus=lambda: (
            [word.encode() * 3 for word in _PATTERN_WORDS] + [b"(a|b|c)*d{1,30}.*e", rb"10\.0\.\d{1,3}\.\d+:9100"]
        ),
        words=_PATTERN_WORDS,
        longest=20_000,
    ),
)
