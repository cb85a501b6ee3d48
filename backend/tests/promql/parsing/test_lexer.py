"""No text ends the process, holds it up, or makes a deeper tree than what was counted.

Texts that may end a process are parsed in a child, so that a fault is a failed test and not the end of the test run.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from loadwatch_backend.core.errors import BadRequestError, ProblemError
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryParseError
from loadwatch_backend.series.promql.parsing.expression import Expression, children
from loadwatch_backend.series.promql.parsing.lexer import MAX_DEPTH, MAX_LEVELS, MAX_TEXT, tokens_of
from loadwatch_backend.series.promql.parsing.parse import parse_expression

from backend.tests.promql.generated import GeneratedTexts
from backend.tests.promql.hostile import HOSTILE, PANICS

_CHILD = """
import json, sys
from loadwatch_backend.core.errors import BadRequestError, ProblemError
from loadwatch_backend.series.promql.parsing.parse import parse_expression
for text in json.load(sys.stdin):
    try:
        parse_expression(text)
    except BadRequestError:
        pass
print("whole")
"""


def in_child(texts: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Parses texts in a process of their own."""
    return subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_no_hostile_text_ends_the_process() -> None:
    done = in_child([*HOSTILE.values(), *PANICS.values()])
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-2000:]


@pytest.mark.parametrize("text", PANICS.values(), ids=PANICS.keys())
def test_what_the_parser_gives_up_on_is_an_error(text: str) -> None:
    with pytest.raises(BadRequestError):
        parse_expression(text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_refused_by_their_size(text: str) -> None:
    with pytest.raises(QueryParseError):
        tokens_of(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0x" + "f" * 400, r"1:1: parse error: error parsing number"),
        ("1e999", r"1:1: parse error: error parsing number"),
        ("x @ 9e15", r"1:1: parse error: timestamp out of bounds"),
        (")", r"1:1: parse error: unexpected right parenthesis '\)'"),
        ("(]", r"1:2: parse error: unexpected right bracket '\]'"),
        ("x{", r"1:3: parse error: unexpected end of input inside braces"),
        ('# "\n(# "', r"2:5: parse error: unclosed left parenthesis"),
        ('x + "y', r"1:5: parse error: unterminated quoted string"),
        ('x + "y\n"', r"1:5: parse error: unterminated quoted string"),
        ("x + `y", r"1:5: parse error: unterminated raw string"),
        ("x + \x0b y", r"1:5: parse error: unexpected character: '\\x0b'"),
        ("x + \u00a0", r"1:5: parse error: unexpected character: '\\xa0'"),
        ('"\\y"', r"1:1: parse error: unknown escape sequence '\\\\y'"),
        ("1..2", r'1:1: parse error: bad number or duration syntax: "1..2"'),
        ("x{a=~~}", r"1:6: parse error: unexpected character inside braces: '~'"),
        ("x[5m:5m:]", r"1:8: parse error: unexpected"),
    ],
)
def test_what_is_no_text_of_promql_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(QueryParseError, match=message):
        parse_expression(text)


def test_bytes_of_escapes_make_characters_together() -> None:
    assert parse_expression('"\\xe4\\xb8\\xad \\u4e2d \\344\\270\\255"') == parse_expression('"中 中 中"')


def test_a_regular_expression_is_re2s_alone() -> None:
    # Rust's engine turns these down, or takes what RE2 does not; 5,000 of them take it minutes.
    parse_expression('x{a=~"(?i)[[:word:]]{100}\\\\C"}')
    with pytest.raises(QueryParseError, match="no look-around"):
        parse_expression('x{a=~"(?x: b )"}')


# Generated ------------------------------------------------------------------------------------------------------------


def _outcome(text: str) -> Any:
    try:
        return repr(parse_expression(text))
    except BadRequestError as error:
        return type(error)


def _levels(expression: Expression) -> int:
    return 1 + max(map(_levels, children(expression)), default=0)


def test_comments_spaces_and_cases_change_nothing_and_no_tree_is_too_deep() -> None:
    parsed = 0
    for seed in range(400):
        odd, plain = GeneratedTexts(seed).pair()
        assert _outcome(odd) == _outcome(plain), odd
        with suppress(BadRequestError):
            assert _levels(parse_expression(odd)) <= MAX_LEVELS + 1
            parsed += 1
    # Most of them, so that the comparison is one of trees.
    assert parsed > 150


def test_no_noise_ends_the_process() -> None:
    texts = [GeneratedTexts(seed).noise() for seed in range(1_000)]
    done = in_child(texts)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-2000:]


def _largest() -> list[str]:
    """Texts that pass, as large as each of the bounds allows."""
    half = MAX_LEVELS - MAX_DEPTH
    return [
        "abs(" * MAX_DEPTH + "-" * half + "x" + ")" * MAX_DEPTH,
        "sum(" * MAX_DEPTH + "-" * half + "x" + ")" * MAX_DEPTH,
        "(" * MAX_DEPTH + " or ".join(["x"] * (half + 1)) + ")" * MAX_DEPTH,
        "x" + " or x" * MAX_LEVELS,
        "x" + "^x" * MAX_LEVELS,
        "label_replace(" * MAX_DEPTH + "x" + ',"a","b","c","d")' * MAX_DEPTH,
        "histogram_quantile(1," * MAX_DEPTH + "-" * half + "x" + ")" * MAX_DEPTH,
        "clamp(" * MAX_DEPTH + "x" + ",1,1)" * MAX_DEPTH + " or x" * half,
        '"' + "\\n" * (MAX_TEXT // 2 - 1) + '"',
        "x" + "#\n" * (MAX_TEXT // 2 - 1),
        "x{" + 'a!="",' * ((MAX_TEXT - 3) // 6) + "}",
        "sum by (" + "a," * ((MAX_TEXT - 20) // 2) + ") (x)",
        'label_join(x,"a"' + ',"b"' * ((MAX_TEXT - 20) // 4) + ")",
        "9" * MAX_TEXT,
        "x[" + "1m" * ((MAX_TEXT - 3) // 2) + "]",
        "max_over_time(" * (MAX_DEPTH - 1) + "x" + "[1m:1m])" * (MAX_DEPTH - 1),
        "x[" + "1+" * (MAX_LEVELS - 5) + "1]",
        "x[" + "(" * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1) + "]",
    ]


def test_what_is_as_large_as_the_bounds_allow_is_parsed_and_laid_out() -> None:
    done = in_child(_largest())
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-2000:]


@pytest.mark.parametrize(
    "text", [text for text in _largest() if text[:2] not in ("x[", "99")], ids=lambda text: text[:12]
)
def test_what_is_as_large_as_the_bounds_allow_is_evaluated(engine: Engine, text: str) -> None:
    engine.answer(text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "x @ 4.6e15 offset -290y",
        "requests_total @ -4.6e15 offset 290y",
        "max_over_time(requests_total[290y:290y] @ -4.6e15)",
        "max_over_time(requests_total[1ms:1ms] @ 0)",
        "limitk(9e18, requests_total)",
        "limit_ratio(Inf, requests_total)",
        "double_exponential_smoothing(requests_total[1h:1s], 0.5, 0.5)",
        "info(requests_total @ -4.6e15, {__name__=~'.+'})",
        "count_values('\xff', requests_total) or vector(1)",
        "rate(requests_total[(1e300) - 1e300 + 1])",
    ],
)
def test_values_at_the_edge_are_evaluated_or_refused(engine: Engine, text: str) -> None:
    with suppress(ProblemError):
        engine.instant(text, 1_700_000_400_000)
        engine.range(text, 1_700_000_400_000, 1_700_000_500_000, 10_000)
