"""Where actions and their scores meet the database."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, and_, case, func, select, update
from sqlalchemy.orm import Session, aliased

from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.tables import RunAnalysisRow, RunRow
from loadwatch_backend.runs.reviews.actions.schemas import ActionState
from loadwatch_backend.runs.reviews.actions.tables import ActionScoreRow, ReviewActionRow

MOST_SCORES = 100
"""Runs that score one action: those after them have other things to say."""
MOST_OWNERS = 100

_Of, _By = aliased(RunRow), aliased(RunRow)


def find_actions(session: Session, run_id: str) -> Sequence[ReviewActionRow]:
    """Actions of a run's review, in their order."""
    query = select(ReviewActionRow).where(ReviewActionRow.run_id == run_id).order_by(ReviewActionRow.position)
    return session.scalars(query).all()


def add_action(session: Session, row: ReviewActionRow) -> None:
    """Write a new one."""
    session.add(row)


def delete_action(session: Session, row: ReviewActionRow) -> None:
    """It is in the review no more; its scores stay with the runs that said them."""
    session.delete(row)


def find_listed(
    session: Session, state: ActionState | None, limit: int, offset: int
) -> tuple[Sequence[Row[ReviewActionRow, str, str]], int]:
    """Actions with name and scenario of their run, those due first, and how many there are."""
    wanted = [] if state is None else [ReviewActionRow.state == state.value]
    total = session.scalar(select(func.count()).select_from(ReviewActionRow).where(*wanted)) or 0
    query = (
        select(ReviewActionRow, RunRow.name, RunRow.scenario)
        .join(RunRow, RunRow.id == ReviewActionRow.run_id)
        .where(*wanted)
        .order_by(
            case((ReviewActionRow.due == "", 1), else_=0),
            ReviewActionRow.due,
            RunRow.started_ms.desc(),
            ReviewActionRow.run_id,
            ReviewActionRow.position,
        )
    )
    return session.execute(query.limit(limit).offset(offset)).all(), total


def find_owners(session: Session) -> Sequence[str]:
    """Who owns actions, whoever owns most of them first."""
    query = select(ReviewActionRow.owner).where(ReviewActionRow.owner != "").group_by(ReviewActionRow.owner)
    return session.scalars(query.order_by(func.count().desc(), ReviewActionRow.owner).limit(MOST_OWNERS)).all()


Scored = Row[ActionScoreRow, str, str, int]
"""A score with the name of the action's run (None where there is none), and name and start of the run that scored."""


def find_scores_of(session: Session, run_ids: Collection[str]) -> Sequence[Scored]:
    """How actions of these runs were scored, by the newest run first."""
    return _scores(session, ActionScoreRow.action_run_id.in_(run_ids))


def find_scores_by(session: Session, run_id: str) -> Sequence[Scored]:
    """What a run says of the actions of runs before it, the newest of those first."""
    return _scores(session, ActionScoreRow.run_id == run_id)


def _scores(session: Session, condition: Any) -> Sequence[Scored]:
    query = (
        select(ActionScoreRow, _Of.name, _By.name, _By.started_ms)
        .join(_By, _By.id == ActionScoreRow.run_id)
        .outerjoin(_Of, _Of.id == ActionScoreRow.action_run_id)
        .outerjoin(
            ReviewActionRow,
            and_(
                ReviewActionRow.run_id == ActionScoreRow.action_run_id,
                ReviewActionRow.action_id == ActionScoreRow.action_id,
            ),
        )
        .where(condition)
        .order_by(
            _By.started_ms.desc(),
            _By.id,
            _Of.started_ms.desc(),
            ActionScoreRow.action_run_id,
            ReviewActionRow.position,
            ActionScoreRow.action_id,
        )
    )
    return session.execute(query).all()


def find_score_rows(session: Session, run_id: str) -> Sequence[ActionScoreRow]:
    """What a run says of actions, as it is kept."""
    query = select(ActionScoreRow).where(ActionScoreRow.run_id == run_id)
    return session.scalars(query.order_by(ActionScoreRow.action_run_id, ActionScoreRow.action_id)).all()


def keep_score(session: Session, row: ActionScoreRow, *, is_new: bool) -> None:
    """Write a score; a new one counts.

    Raises at the end of the transaction when another server has said the same meanwhile (ConstraintError).
    """
    if not is_new:
        session.merge(row)
        return
    session.add(row)
    session.execute(
        update(ReviewActionRow)
        .where(ReviewActionRow.run_id == row.action_run_id, ReviewActionRow.action_id == row.action_id)
        .values(scores=ReviewActionRow.scores + 1)
    )


def add_score(session: Session, row: ActionScoreRow) -> None:
    """Write a score that another server gave."""
    session.add(row)


def count_scores(session: Session, run_id: str, action_id: str) -> int:
    """How many runs have scored an action."""
    query = select(func.count()).select_from(ActionScoreRow)
    query = query.where(ActionScoreRow.action_run_id == run_id, ActionScoreRow.action_id == action_id)
    return session.scalar(query) or 0


def find_unscored(session: Session, settled_ms: int, limit: int) -> Sequence[Row[str, str, str]]:
    """Runs that have something to say of an action: their id, the action's run and its id, the oldest run first.

    That is of the same scenario, began later than the action's run, and became known (began, or was imported) when the
    expectation had been written: nobody moves the goal to where the ball went.

    Runs that ended after `settled_ms` are not looked at yet.
    """
    query = (
        select(_By.id, ReviewActionRow.run_id, ReviewActionRow.action_id)
        .join(_Of, _Of.id == ReviewActionRow.run_id)
        .join(_By, and_(_By.scenario == _Of.scenario, _By.scenario_version == _Of.scenario_version))
        .outerjoin(
            ActionScoreRow,
            and_(
                ActionScoreRow.action_run_id == ReviewActionRow.run_id,
                ActionScoreRow.action_id == ReviewActionRow.action_id,
                ActionScoreRow.run_id == _By.id,
            ),
        )
        .where(
            ReviewActionRow.expected != "",
            ReviewActionRow.state != ActionState.DROPPED.value,
            ReviewActionRow.scores < MOST_SCORES,
            _Of.scenario != "",
            _By.state != RunState.RUNNING.value,
            _By.started_ms > _Of.started_ms,
            _By.created_ms >= ReviewActionRow.expected_ms,
            _By.ended_ms <= settled_ms,
            ActionScoreRow.run_id.is_(None),
        )
        .order_by(_By.started_ms, _By.id, ReviewActionRow.run_id, ReviewActionRow.position)
    )
    return session.execute(query.limit(limit)).all()


def find_outdated(session: Session, limit: int) -> Sequence[Row[str, str, str]]:
    """As `find_unscored`: scores of runs that were analysed anew since, for another steady window or a late file."""
    query = (
        select(ActionScoreRow.run_id, ActionScoreRow.action_run_id, ActionScoreRow.action_id)
        .join(RunAnalysisRow, RunAnalysisRow.run_id == ActionScoreRow.run_id)
        .join(_Of, _Of.id == ActionScoreRow.action_run_id)
        .where(RunAnalysisRow.analysed_ms > ActionScoreRow.scored_ms)
        .order_by(ActionScoreRow.run_id)
    )
    return session.execute(query.limit(limit)).all()


def find_score(session: Session, run_id: str, action_run_id: str, action_id: str) -> ActionScoreRow | None:
    """One score."""
    return session.get(ActionScoreRow, (action_run_id, action_id, run_id))


def find_action(session: Session, run_id: str, action_id: str) -> ReviewActionRow | None:
    """One action."""
    return session.get(ReviewActionRow, (run_id, action_id))
