"""The tables of actions; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base
from loadwatch_backend.runs.fields import NAME_LENGTH
from loadwatch_backend.runs.registry.tables import STATE_LENGTH, LongText, RunKey
from loadwatch_backend.runs.reviews.schemas import OWNER_LENGTH


class ReviewActionRow(Base):
    """An action of the newest version of a review, where lists and scores find it.

    `due` is `YYYY-MM-DD`, or empty. `expected_ms` is when its expectation was written as it stands: runs that were
    known by then say nothing of it. `scores` is not used any more.
    """

    __tablename__ = "review_actions"
    __table_args__ = (Index("ix_review_actions_state_due", "state", "due"), BINARY_TEXT)

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    action_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)
    text: Mapped[str] = mapped_column(LongText)
    owner: Mapped[str] = mapped_column(String(OWNER_LENGTH), index=True)
    due: Mapped[str] = mapped_column(String(10))
    state: Mapped[str] = mapped_column(String(STATE_LENGTH))
    expected: Mapped[str] = mapped_column(String(NAME_LENGTH))
    expected_ms: Mapped[int] = mapped_column(BigInteger)
    scores: Mapped[int] = mapped_column(Integer, default=0)


class ActionScoreRow(Base):
    """What a run says of an action: `ScoreFacts` as JSON. Two servers cannot both say it.

    It belongs to the run that scored, and stays with it when the action's run is deleted or on another server.
    """

    __tablename__ = "action_scores"
    __table_args__ = BINARY_TEXT

    action_run_id: Mapped[str] = mapped_column(RunKey, primary_key=True)
    action_id: Mapped[str] = mapped_column(String(16), primary_key=True)
    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True, index=True)
    scored_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[str] = mapped_column(LongText)
