"""Figures of the user's own: what `loadwatch run` read in the output, and PromQL over the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from loadwatch_formats.own_figures import FIGURE_UNITS, FigureSource, OwnFigure, UnitError, parse_figure

from loadwatch_backend.catalogue.signals.interval import fill_window
from loadwatch_backend.catalogue.signals.model import Orientation, Unit
from loadwatch_backend.catalogue.signals.service import parse_with_window
from loadwatch_backend.core.errors import InvalidError, ProblemError
from loadwatch_backend.core.texts.words import SILENT, Words, message_of
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import LoadResult
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.findings.window import Trial
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.analysis.schemas import OwnFigureOut, ReportedFigure, ThresholdOut
from loadwatch_backend.runs.analysis.thresholds import is_taken
from loadwatch_backend.runs.fields import RunState, Window
from loadwatch_backend.runs.schemas import Generator
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.parsing.parse import value_type

SETTLED_MS = 75_000
"""What is found this long after the end has seen what a run leaves behind, and stays as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Another run of the scenario: its id and name, when it was, and as in `findings.window.Start`."""

    id: str
    name: str
    span_ms: tuple[int, int] | None
    before: Mapping[tuple[str, str], float]
    rate: float | None
    p95_seconds: float | None
    target_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A run as the analysis sees it.

    Attributes:
        ended_ms: the newest sign of life of a run that is still running.
        steady: a window set by hand; None to find it.
        load: the imported result; None before there is one: figures then come from the store's `loadtest_*` and
            `k6_*` series of this run, as far as there are any.
        files: where the records are.
        previous_ms: end of the run before; None without one.
        next_ms: start of the next run; None without one.
        skew_ms: the generator's clock minus the server's, on which `started_ms` and `ended_ms` are.
        said: findings that were said before; None without any.
        before: numbers of the configuration before its load, by target and key.
        baseline: the run that it is held against; None without one.
        trials: runs of the same scenario and commit before it, with `parameters` of their own; newest first.
        own_figures: as they were given; `reported` is what was read of them in the output.
        concurrency: clients of the load tool that each wait for an answer; None where nobody said.
        host: name of the generator's host, to find its CPU where `generator` tells none.
    """

    id: str
    state: RunState
    tool: str
    started_ms: int
    ended_ms: int
    target_rate: float | None
    target_duration_seconds: float | None
    thresholds: Sequence[str]
    expectations: Sequence[str]
    steady: Window | None
    generator: Generator | None
    load: LoadResult | None
    files: RunFiles | None
    concurrency: float | None = None
    host: str = ""
    said: FindingsOut | None = None
    previous_ms: int | None = None
    next_ms: int | None = None
    skew_ms: int = 0
    before: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    baseline: Reference | None = None
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    trials: Sequence[Trial] = ()
    own_figures: Sequence[str] = ()
    reported: Sequence[ReportedFigure] = ()


class OwnFigureError(InvalidError, code="own-figure", title="Invalid figure"):
    """A figure of the user's own is not written as it should be."""


def check_figures(given: Sequence[str]) -> Mapping[str, Unit]:
    """Units of figures as a person typed them, by name.

    Raises:
        OwnFigureError: says which, why, and what to do.
    """
    units: dict[str, Unit] = {}
    for text in given:
        problem = _problem_of(text, units)
        if problem:
            said = message_of("own_figures", "unwritten", text=repr(text[:200]), detail=problem)
            raise OwnFigureError(said.en, detail_ja=said.ja)
    return units


def _problem_of(text: str, units: dict[str, Unit]) -> Words:
    """Why the text defines no figure beside `units`, to which it is added; empty where it does."""
    try:
        figure = parse_figure(text)
        if is_taken(figure.name) or figure.name in units:
            return message_of("own_figures", "twice" if figure.name in units else "taken", name=figure.name)
        units[figure.name] = Unit(figure.base_unit or Unit.COUNT)
        if figure.source is FigureSource.PROMQL:
            kind = value_type(parse_with_window(figure.text, 60_000))
            return SILENT if kind in (ValueType.VECTOR, ValueType.SCALAR) else message_of("own_figures", "value")
    except ProblemError as error:
        return Words(error.detail, error.detail_ja or error.detail)
    except UnitError:
        return message_of("own_figures", "unit", units=", ".join(FIGURE_UNITS))
    except ValueError:
        return message_of("own_figures", "form")
    return SILENT


def read_figures(subject: Subject, span: Span, engine: Engine) -> Mapping[str, OwnFigureOut]:
    """All that the run asks for, in its order, by name; without their orientation."""
    found: dict[str, OwnFigureOut] = {}
    for figure in map(parse_figure, subject.own_figures):
        promql = figure.source is FigureSource.PROMQL
        value, detail = _of_promql(figure, span, engine) if promql else _reported(figure, subject)
        found[figure.name] = OwnFigureOut(
            name=figure.name,
            source=figure.source,
            value=None if value is None else figure.in_base(value) if promql else value,
            unit=figure.base_unit,
            orientation=Orientation.NEUTRAL,
            detail=detail.en,
            detail_ja=detail.ja,
        )
    return found


def oriented(figures: Mapping[str, OwnFigureOut], thresholds: Sequence[ThresholdOut]) -> list[OwnFigureOut]:
    """Figures with the orientation that their thresholds imply; unchanged where they imply none or both."""
    ways = {"<": Orientation.MORE_IS_WORSE, ">": Orientation.MORE_IS_BETTER}
    found: list[OwnFigureOut] = []
    for name, one in figures.items():
        told = {ways[by.operator[0]] for by in thresholds if by.metric == name and by.operator[:1] in ways}
        found.append(one.model_copy(update={"orientation": told.pop()}) if len(told) == 1 else one)
    return found


def _reported(figure: OwnFigure, subject: Subject) -> tuple[float | None, Words]:
    said = next((one for one in subject.reported if one.name == figure.name), None)
    if said is None:
        return None, message_of("own_figures", "not-ended" if subject.state is RunState.RUNNING else "not-read")
    if said.value is not None:
        return said.value, SILENT
    return None, message_of("own_figures", f"problem.{said.problem}", text=repr(figure.text))


def _of_promql(figure: OwnFigure, span: Span, engine: Engine) -> tuple[float | None, Words]:
    """At the end of the run; `$window` is the run's length in whole seconds."""
    length_ms = max(span.to_ms - span.from_ms, 1_000)
    try:
        values = engine.instant(fill_window(figure.text, length_ms), span.to_ms).values[:, -1]
    except ProblemError as error:
        return None, Words(error.detail, error.detail_ja or error.detail)
    known = values[np.isfinite(values)]
    if len(known) == 1:
        return float(known[0]), SILENT
    text = repr(figure.text)
    if not len(known):
        return None, message_of("own_figures", "no-series", text=text)
    return None, message_of("own_figures", "several", text=text, count=len(known))
