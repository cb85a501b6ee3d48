"""Where orders for profiles meet the database."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.evidence.profiles.capture.planning import OrderState, Wanted
from loadwatch_backend.evidence.profiles.capture.tables import ProfileOrderRow

OPEN = (OrderState.WAITING, OrderState.TAKEN)


def add_orders(session: Session, wanted: Sequence[Wanted], now_ms: int) -> Sequence[ProfileOrderRow]:
    """Write new orders; they have their ids then."""
    rows = [
        ProfileOrderRow(
            **{**asdict(one), "cause": str(one.cause)},
            state=OrderState.WAITING,
            created_ms=now_ms,
            reason="",
            file_id="",
        )
        for one in wanted
    ]
    session.add_all(rows)
    session.flush()
    return rows


def find_order(session: Session, order_id: int) -> ProfileOrderRow | None:
    return session.get(ProfileOrderRow, order_id)


def find_open(session: Session) -> Sequence[ProfileOrderRow]:
    """Those that wait or are being carried out, the oldest first."""
    query = select(ProfileOrderRow).where(ProfileOrderRow.state.in_(OPEN)).order_by(ProfileOrderRow.id)
    return session.scalars(query).all()


def find_of_run(session: Session, run_id: str) -> Sequence[ProfileOrderRow]:
    """All orders of a run, the oldest first."""
    query = select(ProfileOrderRow).where(ProfileOrderRow.run_id == run_id).order_by(ProfileOrderRow.id)
    return session.scalars(query).all()


def find_ended(session: Session, run_ids: Collection[str]) -> Sequence[ProfileOrderRow]:
    query = select(ProfileOrderRow).where(ProfileOrderRow.run_id.in_(run_ids), ProfileOrderRow.ended_ms.is_not(None))
    return session.scalars(query).all()


def count_of_run(session: Session, run_id: str) -> int:
    query = select(func.count()).select_from(ProfileOrderRow).where(ProfileOrderRow.run_id == run_id)
    return session.execute(query).scalar_one()


def take(session: Session, order_id: int, now_ms: int) -> bool:
    """Have one carried out; False when it does not wait: of two agents, one gets it."""
    query = (
        update(ProfileOrderRow)
        .where(ProfileOrderRow.id == order_id, ProfileOrderRow.state == OrderState.WAITING)
        .values(state=OrderState.TAKEN, taken_ms=now_ms)
    )
    return cast("CursorResult[Any]", session.execute(query)).rowcount == 1


def end(
    session: Session, row: ProfileOrderRow, state: OrderState, now_ms: int, *, reason: str = "", file_id: str = ""
) -> None:
    row.state = state
    row.ended_ms = now_ms
    row.reason = reason
    row.file_id = file_id
    session.flush()


def forget_before(session: Session, before_ms: int) -> None:
    session.execute(delete(ProfileOrderRow).where(ProfileOrderRow.created_ms < before_ms))
