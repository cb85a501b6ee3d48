"""The tables of runs; made by the migrations, and a test holds both together.

What lists filter and sort by has columns of its own; the rest of a run is one JSON document, and what is computed of it
another one, compressed.
"""

from typing import Any, TypeVar

from loadwatch_formats.run_facts import FACTS
from sqlalchemy import BigInteger, Boolean, Double, ForeignKey, Index, Integer, LargeBinary, String, Text
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column, object_session, relationship

from loadwatch_backend.core.database.relational import BINARY_TEXT, NEW_IDS, Base, Identity
from loadwatch_backend.core.text import parse_number
from loadwatch_backend.runs.fields import NAME_LENGTH
from loadwatch_backend.runs.reviews.schemas import OWNER_LENGTH

ID_LENGTH = 40
TAG_LENGTH = 50
STATE_LENGTH = 20

LongText = Text().with_variant(LONGTEXT(), "mysql", "mariadb")
LongBytes = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
RunKey = String(ID_LENGTH)
Kept = TypeVar("Kept", "RunTagRow", "RunParameterRow")


class RunTagRow(Base):
    __tablename__ = "run_tags"
    __table_args__ = BINARY_TEXT

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    tag: Mapped[str] = mapped_column(String(TAG_LENGTH), index=True)


class RunParameterRow(Base):
    """One parameter of a run; `number` is its value where that is one (`core.text.quantities`)."""

    __tablename__ = "run_parameters"
    __table_args__ = (Index("ix_run_parameters_name_number", "name", "number"), BINARY_TEXT)

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    value: Mapped[str] = mapped_column(String(NAME_LENGTH))
    number: Mapped[float | None] = mapped_column(Double)


class RunRow(Base):
    """A run.

    `started_ms` and `ended_ms` are on the server's clock, `sender_…` on the generator's; `skew_…` is the generator's
    minus the server's. `settled_ms` is when it was first known to be over. `result_token` names the imported result.
    `limits` is what ran out (`KeptLimits`), None before the run is analysed; `p95_sparkline` is None as well where
    an older version analysed it.
    """

    __tablename__ = "runs"
    __table_args__ = (
        Index("ix_runs_scenario_started_ms", "scenario", "started_ms"),
        Index("ix_runs_state_started_ms", "state", "started_ms"),
        BINARY_TEXT,
    )

    id: Mapped[str] = mapped_column(RunKey, primary_key=True)
    state: Mapped[str] = mapped_column(String(STATE_LENGTH))
    verdict: Mapped[str | None] = mapped_column(String(STATE_LENGTH), index=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    scenario: Mapped[str] = mapped_column(String(NAME_LENGTH))
    scenario_version: Mapped[str] = mapped_column(String(NAME_LENGTH))
    tool: Mapped[str] = mapped_column(String(NAME_LENGTH), index=True)
    commit: Mapped[str] = mapped_column("commit_id", String(NAME_LENGTH), index=True)
    branch: Mapped[str] = mapped_column(String(NAME_LENGTH), index=True)
    dirty: Mapped[bool | None] = mapped_column(Boolean)
    author: Mapped[str] = mapped_column(String(NAME_LENGTH), index=True)
    host: Mapped[str] = mapped_column(String(NAME_LENGTH))
    target_rate: Mapped[float | None] = mapped_column(Double)
    target_duration_seconds: Mapped[float | None] = mapped_column(Double)
    started_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    ended_ms: Mapped[int | None] = mapped_column(BigInteger, index=True)
    sender_started_ms: Mapped[int] = mapped_column(BigInteger)
    sender_ended_ms: Mapped[int | None] = mapped_column(BigInteger)
    skew_ms: Mapped[int | None] = mapped_column(BigInteger)
    skew_end_ms: Mapped[int | None] = mapped_column(BigInteger)
    seen_ms: Mapped[int] = mapped_column(BigInteger)
    settled_ms: Mapped[int | None] = mapped_column(BigInteger, index=True)
    created_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    updated_ms: Mapped[int] = mapped_column(BigInteger)
    exit_code: Mapped[int | None] = mapped_column(Integer)
    abort_reason: Mapped[str] = mapped_column(String(NAME_LENGTH))
    steady_from: Mapped[float | None] = mapped_column(Double)
    steady_to: Mapped[float | None] = mapped_column(Double)
    requests: Mapped[int | None] = mapped_column(BigInteger, index=True)
    rate: Mapped[float | None] = mapped_column(Double, index=True)
    success_ratio: Mapped[float | None] = mapped_column(Double, index=True)
    p95_seconds: Mapped[float | None] = mapped_column(Double, index=True)
    result_token: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    sparkline: Mapped[str] = mapped_column(LongText)
    p95_sparkline: Mapped[str | None] = mapped_column(LongText)
    limits: Mapped[str | None] = mapped_column(LongText)
    progress: Mapped[str | None] = mapped_column(LongText)
    details: Mapped[str] = mapped_column(LongText)
    tags: Mapped[list[RunTagRow]] = relationship(
        order_by=RunTagRow.position, cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )
    parameters: Mapped[list[RunParameterRow]] = relationship(
        order_by=RunParameterRow.name, cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )


COLUMNS = frozenset(RunRow.__mapper__.attrs.keys())
FACT_COLUMNS = frozenset(fact.name for fact in FACTS) & COLUMNS
"""Facts that lists filter, sort or show; all others are in `details`."""


def read_column(row: RunRow, name: str) -> object:
    if name == "tags":
        return [tag.tag for tag in row.tags]
    if name == "parameters":
        return {parameter.name: parameter.value for parameter in row.parameters}
    return getattr(row, name)


def write_column(row: RunRow, name: str, value: Any) -> None:
    """Change a fact of a run; tags keep their order, each once."""
    if name == "tags":
        tags = dict.fromkeys(value)
        _replace(row.tags, [RunTagRow(position=position, tag=tag) for position, tag in enumerate(tags)], row)
    elif name == "parameters":
        _replace(row.parameters, [_parameter(key, text) for key, text in sorted(value.items())], row)
    else:
        setattr(row, name, value)


def _parameter(name: str, text: str) -> RunParameterRow:
    return RunParameterRow(name=name, value=text, number=parse_number(text))


def _replace(held: list[Kept], new: list[Kept], row: RunRow) -> None:
    held.clear()
    session = object_session(row)
    if session is not None:
        # Rows of the same keys come after: the ones before must be gone.
        session.flush()
    held.extend(new)


class RunAnalysisRow(Base):
    """What was computed of a run: `runs.analysis.schemas.Analysis` as compressed JSON."""

    __tablename__ = "run_analyses"
    __table_args__ = BINARY_TEXT

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    analysed_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[bytes] = mapped_column(LongBytes)


class RunBaselineRow(Base):
    __tablename__ = "run_baselines"
    __table_args__ = BINARY_TEXT

    scenario: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), index=True)


class RunSnapshotRow(Base):
    """The configuration of all targets at one time: a list of `SettingOut` as compressed JSON."""

    __tablename__ = "run_snapshots"
    __table_args__ = BINARY_TEXT

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    taken: Mapped[str] = mapped_column(String(STATE_LENGTH), primary_key=True)
    at_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[bytes] = mapped_column(LongBytes)


class RunReviewRow(Base):
    """One version of a run's review: `ReviewFields` as JSON."""

    __tablename__ = "run_reviews"
    __table_args__ = BINARY_TEXT

    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    author: Mapped[str] = mapped_column(String(NAME_LENGTH))
    updated_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[str] = mapped_column(LongText)


class RunShareRow(Base):
    """A link that shows one run; of its secret only the hash is kept."""

    __tablename__ = "run_shares"
    __table_args__ = BINARY_TEXT

    id: Mapped[str] = mapped_column(RunKey, primary_key=True)
    run_id: Mapped[str] = mapped_column(RunKey, ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    note: Mapped[str] = mapped_column(String(NAME_LENGTH))
    created_ms: Mapped[int] = mapped_column(BigInteger)
    expires_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    files: Mapped[str | None] = mapped_column(Text)
    """Ids of the files that it shows, JSON."""


class MeetingRow(Base):
    __tablename__ = "run_meetings"
    # Ids are never given twice; see annotations/repository.py.
    __table_args__ = NEW_IDS

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    since_ms: Mapped[int | None] = mapped_column(BigInteger)
    ended_ms: Mapped[int] = mapped_column(BigInteger, index=True)
    attendees: Mapped[str] = mapped_column(LongText)
    scenario: Mapped[str | None] = mapped_column(String(NAME_LENGTH))
    """Whose runs it went through; null of one about all."""


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
