"""The tables of the dispatcher and of silences; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Boolean, Index, Integer, LargeBinary, String, Text
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base

LongText = Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LongBytes = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
HASH_LENGTH = 32
KEY_LENGTH = 64


class GateRow(Base):
    """One row that every change of groups and silences updates first, so that they happen one after another.

    `token` changes with the alerts that are kept, `silences` with each change of one; `routed_by` is the digest of the
    configuration by which all alerts have been put into groups.
    """

    __tablename__ = "notify_gate"
    __table_args__ = BINARY_TEXT

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    turns: Mapped[int] = mapped_column(BigInteger)
    token: Mapped[str] = mapped_column(String(HASH_LENGTH))
    routed_by: Mapped[str] = mapped_column(String(HASH_LENGTH))
    silences: Mapped[int] = mapped_column(BigInteger)


class AlertRow(Base):
    """An alert that fires, or has resolved and is yet to be sent as such. Labels and annotations are JSON."""

    __tablename__ = "notify_alerts"
    __table_args__ = BINARY_TEXT

    key: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(16))
    labels: Mapped[str] = mapped_column(LongText)
    annotations: Mapped[str] = mapped_column(LongText)
    starts_ms: Mapped[int] = mapped_column(BigInteger)
    ends_ms: Mapped[int | None] = mapped_column(BigInteger)
    generator_url: Mapped[str] = mapped_column(LongText)
    acknowledged: Mapped[bool] = mapped_column(Boolean)


class GroupRow(Base):
    """Alerts of one route with the same group labels.

    It is flushed again at `due_ms` (None: only after a change), which was set `delay_ms` before. `flushed_ms` is None
    before its first time.
    """

    __tablename__ = "notify_groups"
    __table_args__ = (Index("ix_notify_groups_due_ms", "due_ms"), BINARY_TEXT)

    id: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    route: Mapped[str] = mapped_column(String(200))
    group_key: Mapped[str] = mapped_column(LongText)
    labels: Mapped[str] = mapped_column(LongText)
    flushed_ms: Mapped[int | None] = mapped_column(BigInteger)
    due_ms: Mapped[int | None] = mapped_column(BigInteger)
    delay_ms: Mapped[int] = mapped_column(BigInteger)


class MemberRow(Base):
    __tablename__ = "notify_members"
    __table_args__ = BINARY_TEXT

    group_id: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    alert_key: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True, index=True)


class NotifiedRow(Base):
    """What one integration was sent of one group; `alerts` as `groups.Notified` packs them."""

    __tablename__ = "notify_told"
    __table_args__ = (Index("ix_notify_told_expires_ms", "expires_ms"), BINARY_TEXT)

    id: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    sent_ms: Mapped[int] = mapped_column(BigInteger)
    expires_ms: Mapped[int] = mapped_column(BigInteger)
    alerts: Mapped[bytes] = mapped_column(LongBytes)


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
