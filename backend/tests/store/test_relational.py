"""Whether somebody has written: known without asking, where one server alone has the tables."""

import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.relational import Relational, Stillness, default_url, open_relational
from sqlalchemy import select, text
from sqlalchemy.exc import InvalidRequestError

INSERT = text("INSERT INTO leaderships (name, holder, epoch, beat) VALUES (:name, '', 1, 0)")
COUNT = text("SELECT count(*) FROM leaderships")


@pytest.fixture
def relational(tmp_path: Path) -> Generator[Relational]:
    opened = open_relational(default_url(tmp_path), alone=True)
    yield opened
    opened.close()


def write(relational: Relational, name: str) -> None:
    with relational.transaction() as session:
        session.execute(INSERT, {"name": name})


def test_a_write_is_counted_and_a_look_is_not(relational: Relational) -> None:
    before = relational.written
    assert before is not None
    with relational.transaction() as session:
        session.execute(COUNT)
    assert relational.written == before
    write(relational, "a")
    assert relational.written != before


def test_a_write_without_a_session_is_counted(relational: Relational) -> None:
    before = relational.written
    with relational.connect() as connection:
        connection.execute(INSERT, {"name": "a"})
    assert relational.written != before


def test_a_write_of_another_thread_is_counted(relational: Relational) -> None:
    before = relational.written
    thread = threading.Thread(target=write, args=(relational, "a"))
    with relational.transaction() as session:
        session.execute(COUNT)
        thread.start()
        thread.join()
    assert relational.written != before


def test_what_is_not_committed_yet_changes_the_number_only_later(relational: Relational) -> None:
    with relational.transaction() as session:
        session.execute(INSERT, {"name": "a"})
        before = relational.written
    assert relational.written != before


def test_a_beat_is_not_counted_and_what_follows_on_its_connection_is(relational: Relational) -> None:
    before = relational.written
    with relational.transaction() as session:
        relational.pass_over(session)
        session.execute(INSERT, {"name": "a"})
    assert relational.written == before
    write(relational, "b")
    assert relational.written != before


def test_the_beats_of_the_lead_are_not_counted(relational: Relational) -> None:
    leadership = Leadership(relational, "alerts", "a", beat_seconds=0.01)
    leadership.start()
    before = relational.written
    with relational.transaction() as session:
        first = session.scalar(text("SELECT beat FROM leaderships"))
    while True:
        with relational.transaction() as session:
            if session.scalar(text("SELECT beat FROM leaderships")) != first:
                break
    assert relational.written == before
    leadership.stop()
    assert relational.written != before


def test_where_other_servers_may_write_nothing_is_known(tmp_path: Path) -> None:
    relational = open_relational(default_url(tmp_path))
    still = Stillness(relational, 3_600.0)
    assert relational.written is None
    still.note(relational.written)
    assert not still.holds
    relational.close()


def test_nothing_is_looked_for_again_until_somebody_writes(relational: Relational) -> None:
    still = Stillness(relational, 3_600.0)
    assert not still.holds
    still.note(relational.written)
    assert still.holds
    write(relational, "a")
    assert not still.holds


def test_what_is_written_during_a_look_is_looked_for_again(relational: Relational) -> None:
    still = Stillness(relational, 3_600.0)
    written = relational.written
    write(relational, "a")
    still.note(written)
    assert not still.holds


def test_a_look_that_found_something_is_followed_by_another(relational: Relational) -> None:
    still = Stillness(relational, 3_600.0)
    still.note(relational.written)
    still.note(None)
    assert not still.holds


def test_nothing_is_believed_for_ever(relational: Relational) -> None:
    still = Stillness(relational, 0.0)
    still.note(relational.written)
    assert not still.holds


def test_a_session_fails_after_its_transaction(relational: Relational) -> None:
    """It would take a connection that nobody gives back."""
    with relational.transaction() as session:
        session.execute(select(1))
    with pytest.raises(InvalidRequestError):
        session.execute(select(1))
