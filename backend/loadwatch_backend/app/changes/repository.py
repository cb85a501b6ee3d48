"""What was last known of discovered resources, in the database; its tables are made by the migrations."""

import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

from sqlalchemy import BigInteger, Boolean, String, Text, delete, insert, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from loadwatch_backend.app.changes.sightings import EVERYBODY, Known, Subject
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


def load_known(session: Session) -> dict[Subject, Known]:
    return {
        Subject(row.resource, row.source): Known(
            metric=row.metric,
            place=row.place,
            title=row.title,
            fields=json.loads(row.fields),
            changed_ms=row.changed_ms,
            seen_ms=row.seen_ms,
            gone=row.gone,
            tags=tuple(row.tags.split()),
        )
        for row in session.scalars(select(WatchedFactRow))
    }


def save_known(session: Session, kept: Mapping[Subject, Known], there: Container[Subject]) -> None:
    """Write what has changed; `there` are the subjects that have a row. In bulk: a first look may bring thousands."""
    new = [_row(subject, known) for subject, known in kept.items() if subject not in there]
    if new:
        session.execute(insert(WatchedFactRow), new)
    changed = [_row(subject, known) for subject, known in kept.items() if subject in there]
    if changed:
        session.execute(update(WatchedFactRow), changed)  # by primary key


def _row(subject: Subject, known: Known) -> dict[str, Any]:
    return {
        "resource": subject.resource,
        "source": subject.source,
        "metric": known.metric,
        "place": known.place,
        "title": known.title[:TITLE_LENGTH],
        "fields": json.dumps(dict(known.fields), ensure_ascii=False, sort_keys=True),
        "tags": " ".join(known.tags),
        "changed_ms": known.changed_ms,
        "seen_ms": known.seen_ms,
        "gone": known.gone,
    }


def load_places(session: Session) -> set[str]:
    return set(session.scalars(select(WatchedPlaceRow.place)))


def save_places(session: Session, places: Iterable[str], now_ms: int) -> None:
    for place in places:
        session.merge(WatchedPlaceRow(place=place, first_ms=now_ms))


def forget_unseen(session: Session, before_ms: int, *, agents_before_ms: int) -> None:
    """Drop what nobody has seen since, and sooner what an agent has said that was taken away."""
    by_agent = WatchedFactRow.source != EVERYBODY
    unseen = WatchedFactRow.seen_ms < before_ms
    session.execute(delete(WatchedFactRow).where(unseen | (by_agent & (WatchedFactRow.seen_ms < agents_before_ms))))
