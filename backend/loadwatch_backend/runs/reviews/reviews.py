"""What people write about runs, saved as they type: every version is kept, and nobody's words are lost."""

from dataclasses import dataclass
from typing import NamedTuple

import orjson

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.errors import ReviewConflictError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.repository import find_baseline, find_run
from loadwatch_backend.runs.registry.tables import MeetingRow, RunReviewRow, RunRow
from loadwatch_backend.runs.reviews.repository import (
    add,
    find_newest,
    find_runs_to_meet,
    find_versions,
    keep_actions,
    last_ended_ms,
    last_meeting_ms,
    read_scores,
)
from loadwatch_backend.runs.reviews.schemas import (
    ActionStanding,
    MeasuredImpact,
    Meeting,
    MeetingIn,
    ReviewAction,
    ReviewFields,
    ReviewHistory,
    ReviewIn,
    ReviewOut,
    ReviewVersion,
)

METRICS = frozenset(
    ("p50", "p90", "p95", "p99", "max", "min", "mean", "rate", "ok_rate", "success_ratio", "error_rate")
)
"""Monitored names that are figures of the run; all others are signals."""
SHOWN_SCORES = 20
"""Of one action, the newest."""


@dataclass(eq=False)
class Reviews:
    """Safe to use from any thread."""

    _relational: Relational
    _analyses: Analyses
    _clock: Clock

    def read(self, run_id: str) -> ReviewOut:
        """The newest version with what was measured; empty, with version 0, before anything was written."""
        with self._relational.transaction() as session:
            run = find_run(session, run_id)
            newest = find_newest(session, run_id)
            pinned = find_baseline(session, run.scenario)
            baseline = None if pinned in (None, run_id) else find_run(session, pinned or "")
            scores, scored = read_scores(session, of=run_id), read_scores(session, by=run_id)
        review = ReviewFields() if newest is None else ReviewFields.model_validate_json(newest.document)
        measured, before = self._measure(run, baseline, review)

        def state_of(one: ReviewAction) -> ActionStanding:
            problem, figure = self._analyses.problem_of(one.expected, run), before.get(one.expected.strip())
            return ActionStanding(
                id=one.id,
                detail=problem.en,
                detail_ja=problem.ja,
                unit="" if figure is None else figure.unit,
                before=None if figure is None else figure.actual,
                scores=[score for score in scores if score.action == one.id][:SHOWN_SCORES],
            )

        return ReviewOut(
            **dict(review),
            version=0 if newest is None else newest.version,
            author="" if newest is None else newest.author,
            updated_ms=None if newest is None else newest.updated_ms,
            measured=measured,
            standings=[state_of(one) for one in review.actions],
            scored=scored,
        )

    def write(self, run_id: str, given: ReviewIn) -> ReviewOut:
        """Add a version.

        Raises:
            RunNotFoundError: there is no such run.
            ReviewConflictError: somebody else wrote since `version`; its document is in the problem as `other`.
        """
        # Expectations are not checked here: what is half typed is kept, too, and its line says why it is not measured.
        fields = ReviewFields.model_validate(given.model_dump(exclude={"version", "author"}))
        try:
            with self._relational.transaction() as session:
                find_run(session, run_id, lock=True)
                newest = find_newest(session, run_id)
                if (0 if newest is None else newest.version) != given.version:
                    raise self._conflict(newest)
                row = RunReviewRow(
                    run_id=run_id,
                    version=given.version + 1,
                    author=given.author,
                    updated_ms=self._clock(),
                    document=fields.model_dump_json(),
                )
                add(session, row)
                keep_actions(session, run_id, [(row.updated_ms, fields.actions)])
        except ConstraintError as error:
            with self._relational.transaction() as session:
                find_run(session, run_id)
                raise self._conflict(find_newest(session, run_id)) from error
        return self.read(run_id)

    def history(self, run_id: str) -> ReviewHistory:
        with self._relational.transaction() as session:
            find_run(session, run_id)
            return ReviewHistory(versions=read_versions(session, run_id)[::-1])

    def next_meeting(self) -> Meeting:
        with self._relational.transaction() as session:
            return _meeting(session)

    def end_meeting(self, given: MeetingIn) -> Meeting:
        with self._relational.transaction() as session:
            meeting = _meeting(session, given.scenario)
            attendees = orjson.dumps(given.attendees).decode()
            row = MeetingRow(since_ms=meeting.since_ms, ended_ms=self._clock(), attendees=attendees)
            row.scenario = given.scenario or None
            add(session, row)
        return meeting

    def _conflict(self, newest: RunReviewRow | None) -> ReviewConflictError:
        if newest is None:
            return ReviewConflictError("The review is empty again: the run may have been taken in anew.", other=None)
        other = _version(newest)
        who = other.author or "Somebody"
        return ReviewConflictError(
            f"{who} wrote version {other.version} since; take over what you need from `other` and send it again with"
            f" version {other.version}.",
            other=other.model_dump(mode="json"),
        )

    def _measure(
        self, run: RunRow, baseline: RunRow | None, review: ReviewFields
    ) -> tuple[list[MeasuredImpact], dict[str, ThresholdOut]]:
        """Impacts of expectations and monitored signals, and thresholds of actions measured in this run."""
        if run.state == RunState.RUNNING:
            return [], {}
        asked = [_Question(shown=one.expression, text=one.expression, is_expected=True) for one in review.expected]
        asked += [_Question(shown=name, text=_watch(name), is_expected=False) for name in review.monitored]
        questions = [one for one in dict.fromkeys(asked) if one.shown.strip()]
        unreadable = {one: self._analyses.problem_of(one.text, run) for one in questions}
        texts = list(dict.fromkeys(one.text for one in questions if not unreadable[one]))
        later = {one.expected.strip() for one in review.actions} - {""}
        both = list(dict.fromkeys([*texts, *sorted(one for one in later if not self._analyses.problem_of(one, run))]))
        found = dict(zip(both, self._analyses.measure(run, both), strict=True))
        other = {} if baseline is None else dict(zip(texts, self._analyses.measure(baseline, texts), strict=True))
        impacts = [
            _impact(one, found[one.text], other.get(one.text)) if one.text in texts else _unknown(one, unreadable[one])
            for one in questions
        ]
        return impacts, {text: found[text] for text in both if text in later}


class _Question(NamedTuple):
    """What is measured for a review; `text` is a threshold."""

    shown: str
    text: str
    is_expected: bool


def read_versions(session: Session, run_id: str) -> list[ReviewVersion]:
    return [_version(row) for row in find_versions(session, run_id)]


def review_row(run_id: str, version: ReviewVersion) -> RunReviewRow:
    """A version that was written on another server."""
    fields = ReviewFields.model_validate(version.model_dump(exclude={"version", "author", "updated_ms"}))
    return RunReviewRow(
        run_id=run_id,
        version=version.version,
        author=version.author,
        updated_ms=version.updated_ms,
        document=fields.model_dump_json(),
    )


def _version(row: RunReviewRow) -> ReviewVersion:
    fields = ReviewFields.model_validate_json(row.document)
    return ReviewVersion(**fields.model_dump(), version=row.version, author=row.author, updated_ms=row.updated_ms)


def _meeting(session: Session, scenario: str = "") -> Meeting:
    """Runs that came, or ended, after the last meeting about all or about their scenario; the newest first."""
    found = find_runs_to_meet(session, scenario)
    return Meeting(
        since_ms=last_meeting_ms(session) if found else last_ended_ms(session),
        runs=[run for run, _ in found],
        scenarios=[of for _, of in found],
    )


def _watch(name: str) -> str:
    """A comparison that always can be measured, so that a monitored name has a figure."""
    return f"{name}>=0" if name in METRICS else f"avg({name})>=0"


def _impact(question: _Question, measured: ThresholdOut, baseline: ThresholdOut | None) -> MeasuredImpact:
    state = measured.state
    if not question.is_expected:
        state = ThresholdState.UNKNOWN if measured.actual is None else ThresholdState.PASSED
    return MeasuredImpact(
        expression=question.shown,
        expected=measured.limit if question.is_expected else None,
        actual=measured.actual,
        unit=measured.unit,
        baseline=None if baseline is None else baseline.actual,
        state=state,
        detail=measured.detail,
        detail_ja=measured.detail_ja,
    )


def _unknown(question: _Question, detail: Words) -> MeasuredImpact:
    return MeasuredImpact(
        expression=question.shown,
        expected=None,
        actual=None,
        unit="",
        baseline=None,
        state=ThresholdState.UNKNOWN,
        detail=detail.en,
        detail_ja=detail.ja,
    )
