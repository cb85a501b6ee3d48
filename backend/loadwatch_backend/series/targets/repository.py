"""What people answered where they were asked whether a silent target was taken away; made by the migrations."""

import hashlib
from collections.abc import Iterable, Mapping

import orjson
from sqlalchemy import BigInteger, Boolean, String, Text, delete, insert, select
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import BINARY_TEXT, Base, Session

LongText = Text().with_variant(LONGTEXT(), "mysql", "mariadb")
Target = tuple[str, str]
"""job, instance"""


class AnswerRow(Base):
    """The answer holds until the target is sent again. `key` is a hash of job and instance."""

    __tablename__ = "target_answers"
    __table_args__ = BINARY_TEXT

    key: Mapped[str] = mapped_column(String(32), primary_key=True)
    job: Mapped[str] = mapped_column(LongText)
    instance: Mapped[str] = mapped_column(LongText)
    taken_away: Mapped[bool] = mapped_column(Boolean)
    answered_by: Mapped[str] = mapped_column(String(200))
    answered_ms: Mapped[int] = mapped_column(BigInteger)


def find_answers(session: Session) -> Mapping[Target, AnswerRow]:
    return {(row.job, row.instance): row for row in session.scalars(select(AnswerRow))}


def write_answers(
    session: Session, targets: Iterable[Target], *, taken_away: bool, by: str, now_ms: int, kept_ms: int
) -> None:
    """Answers of now, in the place of earlier ones; those older than `kept_ms` go."""
    for job, instance in sorted(set(targets)):
        key = hashlib.sha256(orjson.dumps([job, instance])).hexdigest()[:32]
        session.execute(delete(AnswerRow).where(AnswerRow.key == key))
        values = {"key": key, "job": job, "instance": instance, "taken_away": taken_away}
        session.execute(insert(AnswerRow).values(**values, answered_by=by[:200], answered_ms=now_ms))
    session.execute(delete(AnswerRow).where(AnswerRow.answered_ms < now_ms - kept_ms))
