"""Where reviews, their actions and scores, meetings and share links meet the database."""

from collections.abc import Iterable, Sequence

from sqlalchemy import and_, delete, func, or_, select
from sqlalchemy.orm import Session, aliased

from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.tables import ActionScoreRow as Score
from loadwatch_backend.runs.registry.tables import MeetingRow, RunAnalysisRow, RunReviewRow, RunRow, RunShareRow
from loadwatch_backend.runs.registry.tables import ReviewActionRow as Action
from loadwatch_backend.runs.reviews import schemas


def add(session: Session, row: RunReviewRow | MeetingRow | RunShareRow) -> None:
    session.add(row)


def find_versions(session: Session, run_id: str) -> Sequence[RunReviewRow]:
    """All versions of a review, the oldest first."""
    query = select(RunReviewRow).where(RunReviewRow.run_id == run_id).order_by(RunReviewRow.version)
    return session.scalars(query).all()


def find_newest(session: Session, run_id: str) -> RunReviewRow | None:
    query = select(RunReviewRow).where(RunReviewRow.run_id == run_id).order_by(RunReviewRow.version.desc()).limit(1)
    return session.scalars(query).one_or_none()


def last_meeting_ms(session: Session) -> int | None:
    """When the last meeting about all scenarios ended."""
    query = select(MeetingRow.ended_ms).where(MeetingRow.scenario.is_(None))
    return session.scalar(query.order_by(MeetingRow.id.desc()).limit(1))


def last_ended_ms(session: Session) -> int | None:
    """When the last meeting ended, whatever it was about."""
    return session.scalar(select(MeetingRow.ended_ms).order_by(MeetingRow.id.desc()).limit(1))


def find_runs_to_meet(session: Session, scenario: str = "") -> Sequence[tuple[str, str]]:
    """Ids and scenarios of runs that came, or ended, after the last meeting about them; the newest first.

    Args:
        session: the transaction.
        scenario: whose runs; empty for those of all.
    """
    ended = select(MeetingRow.scenario, func.max(MeetingRow.ended_ms).label("ended_ms")).group_by(MeetingRow.scenario)
    own = ended.where(MeetingRow.scenario.is_not(None)).subquery()
    last = own.c.ended_ms
    query = (
        select(RunRow.id, RunRow.scenario)
        .outerjoin(own, own.c.scenario == RunRow.scenario)
        .where(or_(last.is_(None), RunRow.created_ms > last, RunRow.settled_ms > last))
        .order_by(RunRow.started_ms.desc(), RunRow.id.desc())
    )
    since_ms = last_meeting_ms(session)
    if since_ms is not None:
        query = query.where(or_(RunRow.created_ms > since_ms, RunRow.settled_ms > since_ms))
    if scenario:
        query = query.where(RunRow.scenario == scenario)
    return [(run, of) for run, of in session.execute(query)]


def find_shares(session: Session, run_id: str, now_ms: int) -> Sequence[RunShareRow]:
    """Links of a run that have not expired, the newest first."""
    query = (
        select(RunShareRow)
        .where(RunShareRow.run_id == run_id, RunShareRow.expires_ms > now_ms)
        .order_by(RunShareRow.created_ms.desc(), RunShareRow.id)
    )
    return session.scalars(query).all()


def find_share(session: Session, secret_hash: str) -> RunShareRow | None:
    """The link of a secret, expired or not."""
    return session.scalars(select(RunShareRow).where(RunShareRow.secret_hash == secret_hash)).one_or_none()


def delete_share(session: Session, share_id: str) -> bool:
    """Delete a link; whether there was one."""
    row = session.get(RunShareRow, share_id)
    if row is not None:
        session.delete(row)
    return row is not None


def forget_shares(session: Session, now_ms: int) -> None:
    """Delete links that have expired."""
    session.execute(delete(RunShareRow).where(RunShareRow.expires_ms <= now_ms))


MOST_SCORES = 100
"""Runs that score one action: those after them have other things to say."""
MOST_AT_ONCE = 1_000
_Of, _By = aliased(RunRow), aliased(RunRow)
_SAME = and_(Action.run_id == Score.action_run_id, Action.action_id == Score.action_id)


def keep_actions(session: Session, run_id: str, versions: Iterable[tuple[int, Sequence[schemas.ReviewAction]]]) -> None:
    """Make a run's actions those of the newest of its review's versions.

    Args:
        session: the transaction in which the newest version is written.
        run_id: the run.
        versions: their times and actions, the oldest first: those that are new, or all of them.
    """
    query = select(Action.action_id, Action.expected, Action.expected_ms).where(Action.run_id == run_id)
    since = {id: (expected, expected_ms) for id, expected, expected_ms in session.execute(query)}
    actions: Sequence[schemas.ReviewAction] = ()
    for time_ms, actions in versions:
        known, since = since, {}
        for one in actions:
            expected, expected_ms = known.get(one.id, ("", time_ms))
            since[one.id] = (one.expected.strip(), expected_ms if one.expected.strip() == expected else time_ms)
    session.execute(delete(Action).where(Action.run_id == run_id))
    for position, one in enumerate(one for one in actions if one.text.strip() or one.expected.strip()):
        due, (expected, expected_ms) = one.due.isoformat() if one.due else "", since[one.id]
        row = Action(
            run_id=run_id, action_id=one.id, position=position, text=one.text, owner=one.owner.strip(), due=due
        )
        row.state, row.expected, row.expected_ms = one.state, expected, expected_ms
        session.add(row)


def read_scores(session: Session, *, of: str | None = None, by: str | None = None) -> list[schemas.ActionScore]:
    """Scores of a run's actions, by the newest run first; or what a run says of actions of runs before it."""
    query = (
        select(Score, _Of.name, _By.name, _By.started_ms)
        .join(_By, _By.id == Score.run_id)
        .outerjoin(_Of, _Of.id == Score.action_run_id)
        .outerjoin(Action, _SAME)
        .where(Score.run_id == by if of is None else Score.action_run_id == of)
        .order_by(_By.started_ms.desc(), _By.id, _Of.started_ms.desc(), Score.action_run_id)
        .order_by(Action.position, Score.action_id)
    )
    found: list[schemas.ActionScore] = []
    for row, of_name, run_name, started_ms in session.execute(query):
        kept = _archived(row)
        both = {"of_name": of_name, "run": row.run_id, "run_name": run_name, "run_started_ms": started_ms}
        fields = kept.facts.model_dump() | kept.model_dump(exclude={"facts"}) | both
        found.append(schemas.ActionScore.model_validate(fields))
    return found


def read_archived_scores(session: Session, run_id: str) -> list[schemas.ArchivedScore]:
    query = select(Score).where(Score.run_id == run_id).order_by(Score.action_run_id, Score.action_id)
    return [_archived(row) for row in session.scalars(query)]


def keep_score(session: Session, run_id: str, score: schemas.ArchivedScore) -> None:
    """Write what a run says of an action, in place of what it said before."""
    row = Score(action_run_id=score.of_run, action_id=score.action, run_id=run_id, scored_ms=score.scored_ms)
    row.document = score.facts.model_dump_json()
    session.merge(row)


def find_asked(session: Session, settled_ms: int) -> dict[str, list[schemas.ArchivedScore]]:
    """The actions that each run is to be measured by, the oldest run first: all but the figures of a score.

    A run is asked that is of the same scenario, began later than the action's run, became known (began, or was
    imported) when the expectation had been written, and ended before `settled_ms`; and one that was analysed anew since
    it scored, by the words of then.
    """
    scores = select(func.count()).where(Score.action_run_id == Action.run_id, Score.action_id == Action.action_id)
    fresh = (
        select(_By.id, Action)
        .select_from(Action)
        .join(_Of, _Of.id == Action.run_id)
        .join(_By, and_(_By.scenario == _Of.scenario, _By.scenario_version == _Of.scenario_version))
        .where(Action.expected != "", Action.state != schemas.ActionState.DROPPED.value, _Of.scenario != "")
        .where(_By.state != RunState.RUNNING.value, _By.started_ms > _Of.started_ms, _By.ended_ms <= settled_ms)
        .where(_By.created_ms >= Action.expected_ms)
        .where(~select(Score).where(_SAME, Score.run_id == _By.id).exists(), scores.scalar_subquery() < MOST_SCORES)
        .order_by(_By.started_ms, _By.id, Action.run_id, Action.position)
    )
    found: dict[str, list[schemas.ArchivedScore]] = {}
    for run_id, row in session.execute(fresh.limit(MOST_AT_ONCE)):
        facts = schemas.ScoreFacts(
            text=row.text, owner=row.owner, expected=row.expected, state=schemas.ScoreState.NOT_MEASURED, detail=""
        )
        one = schemas.ArchivedScore(action=row.action_id, of_run=row.run_id, scored_ms=0, facts=facts)
        found.setdefault(run_id, []).append(one)
    outdated = (
        select(Score)
        .join(RunAnalysisRow, RunAnalysisRow.run_id == Score.run_id)
        .join(_Of, _Of.id == Score.action_run_id)
        .where(RunAnalysisRow.analysed_ms > Score.scored_ms)
    )
    for row in session.scalars(outdated.limit(MOST_AT_ONCE)):
        found.setdefault(row.run_id, []).append(_archived(row))
    return found


def _archived(row: Score) -> schemas.ArchivedScore:
    facts = schemas.ScoreFacts.model_validate_json(row.document)
    return schemas.ArchivedScore(action=row.action_id, of_run=row.action_run_id, scored_ms=row.scored_ms, facts=facts)
