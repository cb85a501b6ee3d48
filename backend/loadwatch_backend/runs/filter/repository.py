"""Which rows a list of runs asks for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loadwatch_formats.run_facts import FILTERS
from sqlalchemy import ColumnElement, and_, false, func, not_, or_
from sqlalchemy.orm import InstrumentedAttribute

from loadwatch_backend.kit.schemas import LAST_MILLISECOND
from loadwatch_backend.runs.filter.language import FACT_KEYS, NO_VERDICT, Comparison, Fact, Key, Term, Time, Word
from loadwatch_backend.runs.registry.tables import RunParameterRow, RunRow, RunTagRow
from loadwatch_backend.runs.schemas import LimitState, RunQuery

WORD_COLUMNS = (RunRow.name, RunRow.scenario, RunRow.tool, RunRow.commit, RunRow.author, RunRow.branch, RunRow.id)
_FIGURES: Mapping[str, Any] = {
    "p95": RunRow.p95_seconds,
    "rate": RunRow.rate,
    "success": RunRow.success_ratio,
    "requests": RunRow.requests,
    "target": RunRow.target_rate,
    "duration": (RunRow.ended_ms - RunRow.started_ms) / 1_000.0,
}
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
}


def asked_conditions(wanted: RunQuery) -> list[ColumnElement[bool]]:
    """Those of the query's parameters but `where`."""
    conditions = [_ends_after(wanted.start_ms), RunRow.started_ms <= wanted.end_ms]
    names = ("state", "verdict", *(fact.name for fact in FILTERS))
    equal = [(getattr(RunRow, name), getattr(wanted, name)) for name in names]
    conditions += [column == str(value) for column, value in equal if value is not None]
    if wanted.commit is not None:
        conditions.append(RunRow.commit.startswith(wanted.commit, autoescape=True))
    conditions += [RunRow.tags.any(RunTagRow.tag == tag) for tag in dict.fromkeys(wanted.tag)]
    conditions += [_has_word(word) for word in wanted.q.split()[:20]]
    return conditions


def conditions_of(terms: Sequence[Term], now_ms: int) -> list[ColumnElement[bool]]:
    """Those of a filter's terms; what is unknown of a run is not found, and stays where a minus stands before it."""
    found = [(term.negated, _condition(term.condition, now_ms)) for term in terms]
    return [not_(func.coalesce(condition, false())) if negated else condition for negated, condition in found]


def _condition(condition: Word | Fact | Time | Comparison, now_ms: int) -> ColumnElement[bool]:
    if isinstance(condition, Word):
        return _has_word(condition.text)
    if isinstance(condition, Fact):
        return _has_fact(condition.key, condition.value)
    if isinstance(condition, Time):
        at_ms = now_ms - (condition.ago_ms or 0) if condition.at_ms is None else condition.at_ms
        return _ends_after(at_ms) if condition.key == Key.SINCE else RunRow.started_ms <= at_ms
    if condition.is_figure:
        return _OPERATORS[condition.operator](_FIGURES[condition.name], condition.number)
    return RunRow.parameters.any(and_(RunParameterRow.name == condition.name, _has_value(condition)))


def _ends_after(at_ms: int) -> ColumnElement[bool]:
    return func.coalesce(RunRow.ended_ms, LAST_MILLISECOND) >= at_ms


def _has_fact(key: str, value: str) -> ColumnElement[bool]:
    if key == Key.VERDICT and value == NO_VERDICT:
        return RunRow.verdict.is_(None)
    if key == Key.LIMIT:
        return _has_limit(value)
    if key == Key.TAG:
        return RunRow.tags.any(RunTagRow.tag == value)
    if key == Key.NAME:
        return RunRow.name.icontains(value, autoescape=True)
    if key in (Key.COMMIT, Key.ID):
        return (RunRow.commit if key == Key.COMMIT else RunRow.id).startswith(value, autoescape=True)
    columns: Mapping[str, InstrumentedAttribute[Any]] = {
        Key.STATE: RunRow.state,
        Key.VERDICT: RunRow.verdict,
        Key.VERSION: RunRow.scenario_version,
        **{name: getattr(RunRow, name) for name in FACT_KEYS},
    }
    return columns[key] == value


def _has_limit(value: str) -> ColumnElement[bool]:
    """A state, or how the id of a finding begins: any of those that are kept, since others may be muted."""
    if value in (LimitState.NONE, LimitState.CANNOT_TELL, LimitState.UNKNOWN):
        return RunRow.limits.startswith(f'{{"state":"{value}"')
    return RunRow.limits.contains(f'"id":"{value}', autoescape=True)


def _has_value(condition: Comparison) -> ColumnElement[bool]:
    """Of a parameter's row; `10` and `10.0` are equal, and `!=` asks for another value, not for none."""
    if condition.operator not in ("=", "!="):
        return _OPERATORS[condition.operator](RunParameterRow.number, condition.number)
    equal = RunParameterRow.value == condition.text
    if condition.number is not None:
        equal = or_(equal, func.coalesce(RunParameterRow.number == condition.number, false()))
    return equal if condition.operator == "=" else not_(equal)


def _has_word(word: str) -> ColumnElement[bool]:
    found = [column.icontains(word, autoescape=True) for column in WORD_COLUMNS]
    return or_(*found, RunRow.tags.any(RunTagRow.tag.icontains(word, autoescape=True)))
