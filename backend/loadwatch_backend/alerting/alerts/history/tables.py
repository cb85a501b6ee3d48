"""The alerts' tables; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Boolean, Double, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.alerting.notify.groups.tables import LongText
from loadwatch_backend.core.database.relational import BINARY_TEXT, NEW_IDS, Base, Identity

Key = String(32)
REASON_LENGTH = 40
NAME_LENGTH = 200


class EpisodeRow(Base):
    """One episode of an alert: `alerts.evaluation.state.TrackedAlert`, and what people said to it.

    `identity` is a hash of rule and source. `rule` is `alerts.history.episodes.RuleFacts` as JSON: an episode can be
    read when its rule is gone. `words` is what a search reads, in lower case. `evaluated_ms` is of the last change.
    `incident` is made by `alerts.history.incidents`; None of an alert that is one by itself.
    The columns `acknowledged_…` are written by any server, all others only by the one that evaluates.
    """

    __tablename__ = "alert_episodes"
    __table_args__ = (
        Index("ix_alert_episodes_state_resolved_ms", "state", "resolved_ms"),
        Index("ix_alert_episodes_identity_active_ms", "identity", "active_ms"),
        Index("ix_alert_episodes_incident", "incident"),
        BINARY_TEXT,
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    identity: Mapped[str] = mapped_column(Key)
    rule_id: Mapped[str] = mapped_column(String(64))
    rule: Mapped[str] = mapped_column(LongText)
    source: Mapped[str] = mapped_column(LongText)
    labels: Mapped[str] = mapped_column(LongText)
    annotations: Mapped[str] = mapped_column(LongText)
    words: Mapped[str] = mapped_column(LongText)
    state: Mapped[str] = mapped_column(String(10))
    value: Mapped[float | None] = mapped_column(Double)
    active_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    held_from_ms: Mapped[int] = mapped_column(BigInteger)
    fired_ms: Mapped[int | None] = mapped_column(BigInteger)
    false_since_ms: Mapped[int | None] = mapped_column(BigInteger)
    flapping: Mapped[bool] = mapped_column(Boolean)
    swung_ms: Mapped[int | None] = mapped_column(BigInteger)
    no_data_since_ms: Mapped[int | None] = mapped_column(BigInteger)
    resolved_ms: Mapped[int | None] = mapped_column(BigInteger)
    resolved_reason: Mapped[str | None] = mapped_column(String(20))
    evaluated_ms: Mapped[int] = mapped_column(BigInteger)
    run_id: Mapped[str | None] = mapped_column(String(40), index=True)
    run_name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    incident: Mapped[str | None] = mapped_column(Key)
    acknowledged_by: Mapped[str | None] = mapped_column(String(NAME_LENGTH))
    acknowledged_ms: Mapped[int | None] = mapped_column(BigInteger)
    acknowledged_comment: Mapped[str] = mapped_column(LongText)


class TransitionRow(Base):
    """One change of an alert. Both states are the same where something else changed, which `reason` says."""

    __tablename__ = "alert_transitions"
    __table_args__ = NEW_IDS

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    alert_id: Mapped[str] = mapped_column(Key, ForeignKey("alert_episodes.id", ondelete="CASCADE"), index=True)
    from_state: Mapped[str | None] = mapped_column(String(10))
    to_state: Mapped[str] = mapped_column(String(10))
    at_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    value: Mapped[float | None] = mapped_column(Double)
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH))
    actor: Mapped[str] = mapped_column(String(NAME_LENGTH))


class EvaluationRow(Base):
    """When rules were last evaluated by whichever server; one row."""

    __tablename__ = "alert_evaluations"
    __table_args__ = BINARY_TEXT

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    evaluated_ms: Mapped[int] = mapped_column(BigInteger)


class RequestRow(Base):
    """Somebody asks to close an alert without data; the server that evaluates does it and deletes the row."""

    __tablename__ = "alert_requests"
    __table_args__ = NEW_IDS

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    alert_id: Mapped[str] = mapped_column(Key)
    asked_by: Mapped[str] = mapped_column(String(NAME_LENGTH))
