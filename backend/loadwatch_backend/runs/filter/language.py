"""The language that lists of runs are filtered by: terms apart by spaces, all of which have to hold. Pure.

    scenario:checkout pool>10 verdict:failed tag:x commit:abc since:7d "free text" -author:mika

A term is a word or a quoted text, looked for in what a run is called; `key:value`; or a name with an operator and a
value: a figure of the run (`p95>300ms`), else a parameter (`pool>=10`, `mode=fast`; `param.rate>10` for one that is
called as a figure is). A minus before a term takes out what it finds. docs/guide/runs.md explains it to people.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from loadwatch_formats.durations import parse_duration
from loadwatch_formats.run_facts import FILTERS

from loadwatch_backend.kit.schemas import LAST_MILLISECOND
from loadwatch_backend.kit.text.quantities import parse_number
from loadwatch_backend.runs.fields import RunState, Verdict

MOST_TERMS = 40
NO_VERDICT = "none"
PARAMETER = "param."
"""Before the name of a parameter that is called as a figure is."""


class Key(StrEnum):
    """Keys that are no facts of runs with a place among the filters."""

    STATE = "state"
    VERDICT = "verdict"
    VERSION = "version"
    NAME = "name"
    COMMIT = "commit"
    TAG = "tag"
    ID = "id"
    LIMIT = "limit"
    SINCE = "since"
    UNTIL = "until"


FACT_KEYS = tuple(fact.name for fact in FILTERS)
KEYS = (*FACT_KEYS, *Key)
CHOICES: Mapping[str, Sequence[str]] = {Key.STATE: tuple(RunState), Key.VERDICT: (*Verdict, NO_VERDICT)}
FIGURES = ("p95", "rate", "success", "requests", "target", "duration")
"""Seconds, requests per second, ratio, count, requests per second, seconds."""
OPERATORS = (">=", "<=", "!=", "=", ">", "<")


class FilterProblem(ValueError):
    """A filter that cannot be read.

    Attributes:
        reason: a key of `texts.run_filter`, with its values.
        column: of the character, from 1.
    """

    def __init__(self, reason: str, column: int, **values: str) -> None:
        super().__init__(f"{reason} at column {column}")
        self.reason = reason
        self.column = column
        self.values = values


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Something that the run's names contain."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact with its value, as `KEYS` name it."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """Runs of which something lies after (`since`) or before (`until`) a time: so long ago, or at an instant."""

    key: str
    ago_ms: int | None
    at_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A figure of the run or a parameter, compared; `number` is None for words, which are only equal or not."""

    name: str
    is_figure: bool
    operator: str
    text: str
    number: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One condition; `negated` where a minus stands before it."""

    negated: bool
    condition: Word | Fact | Time | Comparison


def parse_filter(text: str) -> tuple[Term, ...]:
    """The terms of a filter, in their order.

    Raises:
        FilterProblem: says what is wrong and at which character.
    """
    found: list[Term] = []
    at = _skip(text, 0)
    while at < len(text):
        term, end = _term(text, at)
        if len(found) == MOST_TERMS:
            raise FilterProblem("too-many", at + 1, most=str(MOST_TERMS))
        found.append(term)
        at = _skip(text, end)
    return tuple(found)


_BARE = re.compile(r'[^\s:"<>=!][^\s:<>=]*?(?=\s|:|!=|[<>=]|$)|!(?!=)[^\s:<>=]*')
_OPERATOR = re.compile("|".join(OPERATORS))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _term(text: str, start: int) -> tuple[Term, int]:
    negated = text[start] == "-" and start + 1 < len(text) and not text[start + 1].isspace()
    at = start + negated
    if text[at] == '"':
        value, end = _quoted(text, at)
        return Term(negated=negated, condition=Word(text=value)), end
    bare = _BARE.match(text, at)
    if bare is None:
        raise FilterProblem("no-name", at + 1)
    name, end = bare[0], bare.end()
    if end == len(text) or text[end].isspace():
        return Term(negated=negated, condition=Word(text=name)), end
    if text[end] == ":":
        value, after = _value(text, end + 1, name + ":")
        return Term(negated=negated, condition=_keyed(name, value, at, end + 1)), after
    operator = _OPERATOR.match(text, end)
    assert operator is not None
    value, after = _value(text, operator.end(), name + operator[0])
    return Term(negated=negated, condition=_compared(name, operator[0], value, operator.end())), after


def _value(text: str, at: int, before: str) -> tuple[str, int]:
    if at == len(text) or text[at].isspace():
        raise FilterProblem("no-value", at + 1, before=before)
    if text[at] == '"':
        return _quoted(text, at)
    end = at
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[at:end], end


def _quoted(text: str, start: int) -> tuple[str, int]:
    """What stands between quotes, where a backslash goes before a quote or another one."""
    parts: list[str] = []
    at = start + 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            at += 1
        parts.append(text[at])
        at += 1
    if at == len(text):
        raise FilterProblem("open-quote", start + 1)
    end = at + 1
    if end < len(text) and not text[end].isspace():
        raise FilterProblem("after-quote", end + 1)
    return "".join(parts), end


def _keyed(key: str, value: str, key_at: int, value_at: int) -> Fact | Time:
    if key not in KEYS:
        if key in FIGURES or key.startswith(PARAMETER):
            raise FilterProblem("compared", key_at + 1, name=key, value=value)
        raise FilterProblem("unknown-key", key_at + 1, name=key, known=", ".join(KEYS))
    if value not in CHOICES.get(key, (value,)):
        raise FilterProblem("choice", value_at + 1, name=key, value=value, known=", ".join(CHOICES[key]))
    return _time(key, value, value_at) if key in (Key.SINCE, Key.UNTIL) else Fact(key=key, value=value)


def _time(key: str, value: str, value_at: int) -> Time:
    """`7d` is so long ago; a date or a time is on that day or at that instant, UTC unless it says otherwise."""
    try:
        return Time(key=key, ago_ms=parse_duration(value), at_ms=None)
    except ValueError:
        pass
    try:
        instant = datetime.fromisoformat(value)
        instant = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
        if key == Key.UNTIL and len(value) <= len("2026-11-20"):
            instant += timedelta(days=1)
        at_ms = round(instant.timestamp() * 1_000)
    except OverflowError:
        at_ms = LAST_MILLISECOND
    except ValueError:
        raise FilterProblem("time", value_at + 1, value=value) from None
    return Time(key=key, ago_ms=None, at_ms=min(max(at_ms, 0), LAST_MILLISECOND))


def _compared(name: str, operator: str, value: str, value_at: int) -> Comparison:
    is_figure = name in FIGURES
    number = parse_number(value.removesuffix("/s") if is_figure else value)
    if number is None and (is_figure or operator not in ("=", "!=")):
        raise FilterProblem("not-a-number", value_at + 1, name=name, value=value)
    parameter = name.removeprefix(PARAMETER)
    return Comparison(name=parameter, is_figure=is_figure, operator=operator, text=value, number=number)
