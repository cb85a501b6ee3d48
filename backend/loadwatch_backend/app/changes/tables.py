"""What was last known of discovered resources; made by the migrations."""

from sqlalchemy import BigInteger, Boolean, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base

KEY_LENGTH = 40
TITLE_LENGTH = 300


class WatchedFactRow(Base):
    """One resource as one agent saw it last, or as all agents together did when `source` is empty."""

    __tablename__ = "watched_facts"
    __table_args__ = BINARY_TEXT

    resource: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    source: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    metric: Mapped[str] = mapped_column(String(100))
    place: Mapped[str] = mapped_column(String(KEY_LENGTH))
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    fields: Mapped[str] = mapped_column(Text)
    tags: Mapped[str] = mapped_column(String(100))
    changed_ms: Mapped[int] = mapped_column(BigInteger)
    seen_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    gone: Mapped[bool] = mapped_column(Boolean)


class WatchedPlaceRow(Base):
    """A kind of resources that an agent has listed in full at least once."""

    __tablename__ = "watched_places"
    __table_args__ = BINARY_TEXT

    place: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    first_ms: Mapped[int] = mapped_column(BigInteger)
