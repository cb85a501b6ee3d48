"""Measures each run that has ended by what actions of runs before it expect, when its analysis has settled."""

from collections.abc import Sequence

import structlog

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.texts.words import SILENT, Words, message_of
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.schemas import Analysis, ThresholdOut, ThresholdState, WindowSource
from loadwatch_backend.runs.analysis.subject import SETTLED_MS
from loadwatch_backend.runs.analysis.thresholds import Scope, leans_on_generator
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.repository import find_analysed_ms, find_run
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.runs.reviews.actions.repository import find_asked, keep_score
from loadwatch_backend.runs.reviews.actions.schemas import ArchivedScore, ScoreState

logger = structlog.get_logger(__name__)

RETRY_MS = 60_000
"""Pause before a run that could not be read is tried again."""


class ActionScorer:
    """Any number of servers may do it: the table holds one score of an action by a run."""

    def __init__(self, relational: Relational, analyses: Analyses, clock: Clock) -> None:
        self._relational = relational
        self._analyses = analyses
        self._clock = clock
        self._failed: dict[str, int] = {}

    def tick(self) -> None:
        """Score what is to be scored; a run that cannot be read is tried again later."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            asked = find_asked(session, now_ms - SETTLED_MS)
        self._failed = {run: at for run, at in self._failed.items() if now_ms - at < RETRY_MS}
        for run_id, scores in asked.items():
            if run_id in self._failed:
                continue
            try:
                self._score(run_id, scores)
            except (RunNotFoundError, ConstraintError):
                logger.info("a run was deleted, or scored by another server, while it was scored", run=run_id)
            except Exception:
                logger.exception("a run could not score actions", run=run_id)
                self._failed[run_id] = now_ms

    def _score(self, run_id: str, scores: Sequence[ArchivedScore]) -> None:
        with self._relational.transaction() as session:
            row, analysed_ms = find_run(session, run_id), find_analysed_ms(session, run_id)
        if analysed_ms is None or analysed_ms < max(row.updated_ms, (row.ended_ms or 0) + SETTLED_MS):
            # Nobody has read it since it settled.
            self._analyses.refresh(run_id)
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysis = self._analyses.read(session, row)
        problems = {one.facts.expected: self._analyses.problem_of(one.facts.expected, row) for one in scores}
        texts = [text for text, problem in problems.items() if not problem]
        measured = dict(zip(texts, self._analyses.measure(row, texts), strict=True))
        scored_ms = self._clock()
        with self._relational.transaction() as session:
            find_run(session, run_id)
            for one in scores:
                figures = measured.get(one.facts.expected)
                why = problems[one.facts.expected] if figures is None else _why_not(row, analysis, figures)
                facts = one.facts.model_copy(update=_figures(figures, why, analysis))
                keep_score(session, run_id, one.model_copy(update={"facts": facts, "scored_ms": scored_ms}))


def _figures(figures: ThresholdOut | None, why: Words, analysis: Analysis | None) -> dict[str, object]:
    """What a run measured, as fields of `ScoreFacts`; nothing where `why` says something."""
    found: dict[str, object] = {"state": ScoreState.NOT_MEASURED, "actual": None, "detail": why.en, "detail_ja": why.ja}
    if figures is None:
        return found
    # Where no steady part was found, thresholds cover all of the run.
    steady = None if analysis is None else analysis.steady_window
    is_whole = figures.window == Scope.STEADY and (steady is None or steady.source is WindowSource.WHOLE)
    found |= {"unit": figures.unit, "limit": figures.limit, "window": Scope.WHOLE if is_whole else figures.window}
    if not why:
        found["state"] = ScoreState.MET if figures.state is ThresholdState.PASSED else ScoreState.MISSED
        found |= {"actual": figures.actual, "detail": figures.detail, "detail_ja": figures.detail_ja}
    return found


def _why_not(row: RunRow, analysis: Analysis | None, figures: ThresholdOut) -> Words:
    """Why a run cannot be measured by a threshold; empty where it can."""
    if row.state == RunState.ABORTED:
        return message_of("actions", "aborted")
    if analysis is None:
        return message_of("actions", "not-analysed")
    if figures.state is ThresholdState.UNKNOWN:
        if not figures.detail:
            return message_of("actions", "unknown")
        return Words(figures.detail, figures.detail_ja or figures.detail)
    if analysis.generator.state == "saturated" and leans_on_generator(figures.metric):
        return message_of("actions", "generator-saturated")
    return SILENT
