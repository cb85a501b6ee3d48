"""Lets each run say what became of the actions of the runs before it, by itself, when its analysis has settled."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.analysis.schemas import Analysis, ThresholdOut, WindowSource
from loadwatch_backend.runs.analysis.subject import SETTLED_MS
from loadwatch_backend.runs.analysis.thresholds import Scope
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.configuration import read_snapshots
from loadwatch_backend.runs.registry.repository import find_analysed_ms, find_run
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.runs.reviews.actions.expectation import finding_of, problem_of
from loadwatch_backend.runs.reviews.actions.repository import (
    find_action,
    find_outdated,
    find_score,
    find_unscored,
    keep_score,
)
from loadwatch_backend.runs.reviews.actions.schemas import LoadKind, ScoreFacts, ScoreReason, ScoreState
from loadwatch_backend.runs.reviews.actions.score import Judgement, Side, score_gone, score_threshold
from loadwatch_backend.runs.reviews.actions.service import score_row
from loadwatch_backend.runs.snapshots.schemas import SnapshotWhen
from loadwatch_backend.store.outages import ConstraintError
from loadwatch_backend.store.relational import Relational, Session
from loadwatch_backend.texts.words import Words

logger = structlog.get_logger(__name__)

LOOK_SECONDS = 10.0
MOST_AT_ONCE = 1_000
RETRY_MS = 60_000
"""Pause before a run that could not be read is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """An action that a run is to score; `is_new` when it has not done so before."""

    of_run: str
    action: str
    text: str
    owner: str
    expected: str
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A run with what is known of it."""

    row: RunRow
    analysis: Analysis | None
    side: Side


class ActionScorer:
    """A thread of its own. Any number of servers may do it: the table holds one score of an action by a run."""

    def __init__(self, relational: Relational, analyses: Analyses, clock: Clock) -> None:
        self._relational = relational
        self._analyses = analyses
        self._clock = clock
        self._failed: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="action-scorer", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End, after a run that is being scored."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        broken = False
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                self.tick()
                broken = False
            except Exception as error:
                if not broken:
                    logger.warning("actions cannot be scored", error=type(error).__name__, detail=str(error))
                broken = True

    def tick(self) -> None:
        """Score what is to be scored; a run that cannot be read is tried again later."""
        with self._lock:
            now_ms = self._clock()
            with self._relational.transaction() as session:
                fresh = find_unscored(session, now_ms - SETTLED_MS, MOST_AT_ONCE)
                found = [*fresh, *find_outdated(session, MOST_AT_ONCE)]
            asked: dict[str, list[tuple[str, str]]] = {}
            for run_id, of_run, action in found:
                asked.setdefault(run_id, []).append((of_run, action))
            self._failed = {run: at for run, at in self._failed.items() if run in asked}
            for run_id, pairs in asked.items():
                if self._stopping.is_set() or now_ms - self._failed.get(run_id, -RETRY_MS) < RETRY_MS:
                    continue
                try:
                    self._score(run_id, pairs)
                except (RunNotFoundError, ConstraintError):
                    logger.info("a run was deleted, or scored by another server, while it was scored", run=run_id)
                except Exception:
                    logger.exception("a run could not score actions", run=run_id)
                    self._failed[run_id] = now_ms

    def _score(self, run_id: str, pairs: Sequence[tuple[str, str]]) -> None:
        self._settle(run_id)
        with self._relational.transaction() as session:
            asked = [one for pair in pairs if (one := _asked(session, run_id, *pair)) is not None]
        now = self._known(run_id)
        facts: list[tuple[_Asked, ScoreFacts]] = []
        for of_run in dict.fromkeys(one.of_run for one in asked):
            mine = [one for one in asked if one.of_run == of_run]
            facts += zip(mine, self._judge(self._known(of_run), now, mine), strict=True)
        scored_ms = self._clock()
        with self._relational.transaction() as session:
            find_run(session, run_id)
            for one, said in facts:
                row = score_row(run_id, one.of_run, one.action, said, scored_ms)
                keep_score(session, row, is_new=one.is_new)

    def _settle(self, run_id: str) -> None:
        """Analyse a run that nobody has looked at since it settled."""
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysed_ms = find_analysed_ms(session, run_id)
        if analysed_ms is None or analysed_ms < max(row.updated_ms, (row.ended_ms or 0) + SETTLED_MS):
            self._analyses.refresh(run_id)

    def _known(self, run_id: str) -> _Known:
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysis = self._analyses.read(session, row)
            targets = frozenset(
                setting.target
                for one in read_snapshots(session, run_id)
                if one.when is SnapshotWhen.BEFORE
                for setting in one.settings
            )
        side = Side(
            state=RunState(row.state),
            requests=row.requests,
            loads={} if analysis is None else self._loads(row, analysis),
            generator="unknown" if analysis is None else analysis.generator.state,
            findings=None if analysis is None else analysis.findings,
            targets=targets,
        )
        return _Known(row=row, analysis=analysis, side=side)

    def _loads(self, row: RunRow, analysis: Analysis) -> dict[LoadKind, float]:
        figures = analysis.steady or analysis.figures
        users: float | None = None
        window = analysis.steady_window
        load = self._analyses.load(row)
        if window is not None and load.seconds is not None and load.seconds.users is not None:
            known = load.seconds.users[load.rows(Span(window.from_ms, window.to_ms))]
            known = known[~np.isnan(known)]
            users = float(known.mean()) if len(known) else None
        loads = {
            LoadKind.TARGET_RATE: analysis.generator.target_rate,
            LoadKind.USERS: users,
            LoadKind.RATE: None if figures is None else figures.rate,
        }
        return {kind: value for kind, value in loads.items() if value is not None}

    def _judge(self, before: _Known, now: _Known, asked: Sequence[_Asked]) -> list[ScoreFacts]:
        problems = {one.expected: problem_of(one.expected, self._analyses.analyst.check) for one in asked}
        texts = [text for text in problems if not problems[text] and finding_of(text) is None]
        measured = self._measure(now, texts)
        earlier = self._measure(before, texts)
        return [_facts(one, problems[one.expected], measured, earlier, before, now) for one in asked]

    def _measure(self, run: _Known, texts: Sequence[str]) -> dict[str, ThresholdOut]:
        return dict(zip(texts, self._analyses.measure(run.row, texts), strict=True))


def _asked(session: Session, run_id: str, of_run: str, action: str) -> _Asked | None:
    """What a run said before is said anew of the same words; the review may have others since."""
    score = find_score(session, run_id, of_run, action)
    if score is not None:
        said = ScoreFacts.model_validate_json(score.document)
        words = (said.text, said.owner, said.expected)
    else:
        row = find_action(session, of_run, action)
        if row is None:
            return None
        words = (row.text, row.owner, row.expected)
    text, owner, expected = words
    return _Asked(of_run=of_run, action=action, text=text, owner=owner, expected=expected, is_new=score is None)


def _facts(
    one: _Asked,
    problem: Words,
    measured: dict[str, ThresholdOut],
    earlier: dict[str, ThresholdOut],
    before: _Known,
    now: _Known,
) -> ScoreFacts:
    judgement, figures = _judgement(one, problem, measured, before, now), measured.get(one.expected)
    words = {"text": one.text, "owner": one.owner, "expected": one.expected}
    detail = {"detail": judgement.detail.en, "detail_ja": judgement.detail.ja}
    said = {**detail, "state": judgement.state, "reason": judgement.reason, "load": judgement.load}
    if figures is None:
        return ScoreFacts.model_validate({**words, **said})
    return ScoreFacts.model_validate(
        {
            **{**words, **said},
            "unit": figures.unit,
            "limit": figures.limit,
            "actual": figures.actual,
            "before": earlier[one.expected].actual,
            "window": _window(figures, now.analysis),
        }
    )


def _judgement(
    one: _Asked, problem: Words, measured: dict[str, ThresholdOut], before: _Known, now: _Known
) -> Judgement:
    if problem:
        return Judgement(state=ScoreState.CANNOT_TELL, reason=ScoreReason.UNREADABLE, detail=problem)
    if now.analysis is None:
        return Judgement(state=ScoreState.CANNOT_TELL, reason=ScoreReason.NOT_ANALYSED)
    finding = finding_of(one.expected)
    if finding is not None:
        return score_gone(finding, before.side, now.side)
    return score_threshold(measured[one.expected], before.side, now.side)


def _window(measured: ThresholdOut, analysis: Analysis | None) -> str:
    """What was really covered: where no steady part was found, thresholds cover all of the run."""
    steady = None if analysis is None else analysis.steady_window
    if measured.window == Scope.STEADY and (steady is None or steady.source is WindowSource.WHOLE):
        return Scope.WHOLE
    return measured.window
