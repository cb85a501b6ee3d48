"""Actions of reviews: kept where lists and scores find them, and read with their scores."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.runs.analysis.schemas import ThresholdOut
from loadwatch_backend.runs.reviews.actions.expectation import finding_of
from loadwatch_backend.runs.reviews.actions.repository import (
    Scored,
    add_action,
    add_score,
    count_scores,
    delete_action,
    find_actions,
    find_listed,
    find_owners,
    find_score_rows,
    find_scores_by,
    find_scores_of,
)
from loadwatch_backend.runs.reviews.actions.schemas import (
    ActionLine,
    ActionList,
    ActionProblem,
    ActionScore,
    ActionStanding,
    ActionState,
    ArchivedScore,
    ReviewAction,
    ScoreFacts,
)
from loadwatch_backend.runs.reviews.actions.tables import ActionScoreRow, ReviewActionRow
from loadwatch_backend.store.relational import Relational, Session
from loadwatch_backend.texts.words import Words

SHOWN_SCORES = 20
"""Of one action, the newest."""


class Actions:
    """All actions there are; safe to use from any thread."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock

    def list(self, state: ActionState | None, limit: int, offset: int) -> ActionList:
        """A page of actions, those that are due first."""
        today = datetime.fromtimestamp(self._clock() / 1_000, UTC).date()
        with self._relational.transaction() as session:
            rows, total = find_listed(session, state, limit, offset)
            newest = read_scores(session, {row.run_id for row, _, _ in rows})
            return ActionList(
                actions=[
                    _line(row, name, scenario, today, newest.get((row.run_id, row.action_id), ()))
                    for row, name, scenario in rows
                ],
                total=total,
                owners=list(find_owners(session)),
            )


def keep_actions(session: Session, run_id: str, versions: Iterable[tuple[int, Sequence[ReviewAction]]]) -> None:
    """Make a run's actions those of the newest of its review's versions.

    Args:
        session: the transaction in which the newest version is written.
        run_id: the run.
        versions: their times and actions, the oldest first: those that are new, or all of them.
    """
    rows = {row.action_id: row for row in find_actions(session, run_id)}
    since = {id: (row.expected, row.expected_ms) for id, row in rows.items()}
    actions: Sequence[ReviewAction] = ()
    for time_ms, actions in versions:
        known, since = since, {}
        for action in actions:
            expected, expected_ms = known.get(action.id, ("", time_ms))
            wanted = action.expected.strip()
            since[action.id] = (wanted, expected_ms if wanted == expected else time_ms)
    written = [action for action in actions if action.text.strip() or action.expected.strip()]
    for id, row in rows.items():
        if id not in {action.id for action in written}:
            delete_action(session, row)
    for position, action in enumerate(written):
        row = rows.get(action.id)
        if row is None:
            row = ReviewActionRow(run_id=run_id, action_id=action.id, scores=count_scores(session, run_id, action.id))
            add_action(session, row)
        row.position, row.text, row.owner = position, action.text, action.owner.strip()
        row.due, row.state = "" if action.due is None else action.due.isoformat(), action.state
        row.expected, row.expected_ms = since[action.id]


def read_scores(session: Session, run_ids: Iterable[str]) -> Mapping[tuple[str, str], Sequence[ActionScore]]:
    """Scores of all actions of some runs, by the action's run and id; those of the newest run first."""
    found: dict[tuple[str, str], list[ActionScore]] = {}
    ids = list(run_ids)
    for row in find_scores_of(session, ids) if ids else ():
        score = _score(row)
        found.setdefault((score.of_run, score.action), []).append(score)
    return found


def read_scores_by(session: Session, run_id: str) -> list[ActionScore]:
    """What a run says of the actions of those before it."""
    return [_score(row) for row in find_scores_by(session, run_id)]


def standing_of(
    action: ReviewAction,
    problem: Words,
    findings: FindingsOut | None,
    before: ThresholdOut | None,
    scores: Sequence[ActionScore],
) -> ActionStanding:
    """What is known of an action.

    Args:
        action: of a review.
        problem: why its expectation cannot be read, or empty.
        findings: of its run.
        before: its threshold, measured on its own run.
        scores: by later runs, the newest first.
    """
    finding = None if problem else finding_of(action.expected)
    lacks = finding is not None and findings is not None and all(one.id != finding for one in findings.findings)
    found = ActionProblem.UNREADABLE if problem else ActionProblem.NOT_THERE if lacks else ActionProblem.NONE
    return ActionStanding(
        id=action.id,
        problem=found,
        detail=problem.en,
        detail_ja=problem.ja,
        unit="" if before is None else before.unit,
        before=None if before is None else before.actual,
        scores=list(scores[:SHOWN_SCORES]),
    )


def read_archived_scores(session: Session, run_id: str) -> list[ArchivedScore]:
    """What a run says of actions, for its archive."""
    return [
        ArchivedScore(
            action=row.action_id,
            of_run=row.action_run_id,
            scored_ms=row.scored_ms,
            facts=ScoreFacts.model_validate_json(row.document),
        )
        for row in find_score_rows(session, run_id)
    ]


def keep_archived_scores(session: Session, run_id: str, scores: Iterable[ArchivedScore]) -> None:
    """Write what a run said on another server."""
    for one in scores:
        add_score(session, score_row(run_id, one.of_run, one.action, one.facts, one.scored_ms))


def score_row(run_id: str, of_run: str, action: str, facts: ScoreFacts, scored_ms: int) -> ActionScoreRow:
    """A score as it is kept."""
    return ActionScoreRow(
        action_run_id=of_run, action_id=action, run_id=run_id, scored_ms=scored_ms, document=facts.model_dump_json()
    )


def _score(found: Scored) -> ActionScore:
    row, of_name, run_name, started_ms = found
    facts = ScoreFacts.model_validate_json(row.document)
    return ActionScore(
        **dict(facts),
        action=row.action_id,
        of_run=row.action_run_id,
        of_name=of_name,
        run=row.run_id,
        run_name=run_name,
        run_started_ms=started_ms,
        scored_ms=row.scored_ms,
    )


def _line(row: ReviewActionRow, name: str, scenario: str, today: date, scores: Sequence[ActionScore]) -> ActionLine:
    due = date.fromisoformat(row.due) if row.due else None
    return ActionLine(
        id=row.action_id,
        text=row.text,
        owner=row.owner,
        due=due,
        state=ActionState(row.state),
        expected=row.expected,
        run=row.run_id,
        run_name=name,
        scenario=scenario,
        overdue=row.state == ActionState.OPEN and due is not None and due < today,
        score=scores[0] if scores else None,
    )
