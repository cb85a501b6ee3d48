"""The silences' table; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.alerting.notify.groups.tables import LongText
from loadwatch_backend.core.database.relational import BINARY_TEXT, Base


class SilenceRow(Base):
    """A silence; matchers and recurrence are JSON."""

    __tablename__ = "silences"
    __table_args__ = (Index("ix_silences_ends_ms", "ends_ms"), BINARY_TEXT)

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    matchers: Mapped[str] = mapped_column(LongText)
    starts_ms: Mapped[int] = mapped_column(BigInteger)
    ends_ms: Mapped[int] = mapped_column(BigInteger)
    comment: Mapped[str] = mapped_column(LongText)
    author: Mapped[str] = mapped_column(String(200))
    recurrence: Mapped[str | None] = mapped_column(LongText)
    created_ms: Mapped[int] = mapped_column(BigInteger)
    updated_ms: Mapped[int] = mapped_column(BigInteger)
