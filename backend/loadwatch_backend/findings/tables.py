"""The table of marks; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import NEW_IDS, Base, Identity

LongText = Text().with_variant(LONGTEXT(), "mysql", "mariadb")


class OpinionRow(Base):
    """A mark on a finding of a run, or, without a run, a mute of findings on a target."""

    __tablename__ = "finding_opinions"
    __table_args__ = NEW_IDS

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    run_id: Mapped[str | None] = mapped_column(String(40), ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    opinion: Mapped[str] = mapped_column(String(20))
    finding_id: Mapped[str] = mapped_column(String(64), index=True)
    finding_key: Mapped[str] = mapped_column(LongText)
    labels: Mapped[str] = mapped_column(LongText)
    reason: Mapped[str] = mapped_column(LongText)
    author: Mapped[str] = mapped_column(String(100))
    said_ms: Mapped[int] = mapped_column(BigInteger)
