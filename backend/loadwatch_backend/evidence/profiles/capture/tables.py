"""The table of orders for profiles; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base, Identity

NAME_LENGTH = 200
REASON_LENGTH = 600
KEY_LENGTH = 40


class ProfileOrderRow(Base):
    """One order: a profile of one process, and what became of it.

    `cause_id` is the alert that asked, `asked_by` its rule or the person. `file_id` is the evidence file that came of
    it. A run's deletion leaves its orders to the next sweep: nothing shows them then.
    """

    __tablename__ = "profile_orders"
    __table_args__ = (
        Index("ix_profile_orders_run_id", "run_id"),
        Index("ix_profile_orders_state", "state"),
        Index("ix_profile_orders_created_ms", "created_ms"),
        # Ids are never given twice: an agent may still be at work on one that is gone.
        {**BINARY_TEXT, "sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(String(KEY_LENGTH))
    job: Mapped[str] = mapped_column(String(NAME_LENGTH))
    instance: Mapped[str] = mapped_column(String(NAME_LENGTH))
    kind: Mapped[str] = mapped_column(String(20))
    seconds: Mapped[int] = mapped_column(Integer)
    cause: Mapped[str] = mapped_column(String(10))
    cause_id: Mapped[str] = mapped_column(String(KEY_LENGTH))
    asked_by: Mapped[str] = mapped_column(String(NAME_LENGTH))
    state: Mapped[str] = mapped_column(String(10))
    created_ms: Mapped[int] = mapped_column(BigInteger)
    taken_ms: Mapped[int | None] = mapped_column(BigInteger)
    ended_ms: Mapped[int | None] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH))
    file_id: Mapped[str] = mapped_column(String(KEY_LENGTH))
