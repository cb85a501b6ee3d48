"""The tables of deliveries; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Boolean, Double, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.alerting.notify.groups.tables import LongBytes, LongText
from loadwatch_backend.core.database.relational import BINARY_TEXT, Base, Identity

SUBJECT_LENGTH = 500
REASON_LENGTH = 1_000
ADDRESS_LENGTH = 64


class DeliveryRow(Base):
    """One message to one integration.

    `next_ms` is when it may be tried, `delay_ms` the pause set with it (`schedule.is_due`), `step` its place in the
    schedule of those that failed, or, if `refused`, of those whose answer looks permanent. `early` asks for one try
    before its time, which leaves the schedule as it is. Of those due at one time the lowest `urgency` goes first.
    `claim` is who sends it at this moment. `document` and `alert_keys` are JSON, compressed.
    """

    __tablename__ = "notify_deliveries"
    __table_args__ = (
        Index("ix_notify_deliveries_state_next_ms", "state", "next_ms"),
        Index("ix_notify_deliveries_order_hash_seq", "order_hash", "seq"),
        Index("ix_notify_deliveries_receiver_integration_state", "receiver", "integration", "state"),
        # Numbers are never given twice: a page's cursor must not skip what came after a deletion.
        {**BINARY_TEXT, "sqlite_autoincrement": True},
    )

    seq: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    receiver: Mapped[str] = mapped_column(String(200))
    integration: Mapped[str] = mapped_column(String(60))
    order_hash: Mapped[str] = mapped_column(String(32))
    order_key: Mapped[str] = mapped_column(LongText)
    subject: Mapped[str] = mapped_column(String(SUBJECT_LENGTH))
    document: Mapped[bytes] = mapped_column(LongBytes)
    alert_keys: Mapped[bytes] = mapped_column(LongBytes)
    firing: Mapped[int] = mapped_column(Integer)
    resolved: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH))
    created_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    delivered_ms: Mapped[int | None] = mapped_column(BigInteger)
    next_ms: Mapped[int] = mapped_column(BigInteger)
    delay_ms: Mapped[int] = mapped_column(BigInteger)
    early: Mapped[bool] = mapped_column(Boolean)
    step: Mapped[int] = mapped_column(Integer)
    refused: Mapped[bool] = mapped_column(Boolean)
    urgency: Mapped[int] = mapped_column(Integer)
    attempts: Mapped[int] = mapped_column(Integer)
    claim: Mapped[str] = mapped_column(String(64))
    last_status: Mapped[int | None] = mapped_column(Integer)
    last_seconds: Mapped[float | None] = mapped_column(Double)


class AttemptRow(Base):
    """One try; `address` is what was connected to, `response` the head of the answer."""

    __tablename__ = "notify_attempts"
    __table_args__ = BINARY_TEXT

    delivery_seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    seconds: Mapped[float] = mapped_column(Double)
    status_code: Mapped[int | None] = mapped_column(Integer)
    outcome: Mapped[str] = mapped_column(String(20))
    error: Mapped[str] = mapped_column(String(REASON_LENGTH))
    response: Mapped[str] = mapped_column(LongText)
    address: Mapped[str] = mapped_column(String(ADDRESS_LENGTH))


class IntegrationRow(Base):
    """How an integration does.

    While it is `failing` (`since_ms`), one of the messages that were tried before is tried when `next_ms` comes:
    `step`, `next_ms`, `delay_ms` and `refused` as those of a delivery. `target` is a digest of where it led when it
    failed: another one is tried at once.
    """

    __tablename__ = "notify_integrations"
    __table_args__ = BINARY_TEXT

    receiver: Mapped[str] = mapped_column(String(200), primary_key=True)
    integration: Mapped[str] = mapped_column(String(60), primary_key=True)
    last_success_ms: Mapped[int | None] = mapped_column(BigInteger)
    last_failure_ms: Mapped[int | None] = mapped_column(BigInteger)
    failing: Mapped[bool] = mapped_column(Boolean)
    since_ms: Mapped[int | None] = mapped_column(BigInteger)
    refused: Mapped[bool] = mapped_column(Boolean)
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH))
    target: Mapped[str] = mapped_column(String(64))
    step: Mapped[int] = mapped_column(Integer)
    next_ms: Mapped[int] = mapped_column(BigInteger)
    delay_ms: Mapped[int] = mapped_column(BigInteger)
