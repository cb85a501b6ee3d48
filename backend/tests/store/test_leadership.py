"""Who leads, on real databases, with servers that stop well, that are killed, and that were frozen."""

import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from loadwatch_backend.core.database.leadership import Leadership, LeadershipLostError, LeadershipRow, load_holder
from loadwatch_backend.core.database.relational import Base, Relational, open_relational
from sqlalchemy import select, text

HOLD = """
import sys, time
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.relational import open_relational
leadership = Leadership(open_relational(sys.argv[1]), "alerts", sys.argv[2], beat_seconds=0.2, patience_seconds=6)
leadership.subscribe(lambda held: print("leads" if held else "follows", flush=True))
leadership.start()
print("started", flush=True)
sys.stdin.read()
leadership.stop()
"""


@pytest.fixture
def relational(database_url: str) -> Iterator[Relational]:
    opened = open_relational(database_url)
    assert LeadershipRow.__table__ in Base.metadata.sorted_tables
    with opened.engine.begin() as connection:
        connection.execute(text("DELETE FROM leaderships"))
    yield opened
    opened.close()


def make(relational: Relational, holder: str, clock: list[float] | None = None) -> Leadership:
    """One that only moves when the test says so."""
    return Leadership(relational, "alerts", holder, monotonic=(lambda: clock[0]) if clock else (lambda: 0.0))


def turn(leadership: Leadership) -> bool:
    """What the thread does now and then."""
    leadership._turn()  # pyright: ignore[reportPrivateUsage] - one turn, without the thread
    return leadership.held


def test_the_first_leads_and_the_second_follows(relational: Relational) -> None:
    first, second = make(relational, "a"), make(relational, "b")
    assert turn(first)
    assert not turn(second)
    assert turn(first)
    assert not turn(second)


def test_a_leader_that_stops_gives_the_lead_back_at_once(relational: Relational) -> None:
    first, second = make(relational, "a"), make(relational, "b")
    turn(first)
    turn(second)
    first.stop()
    assert not first.held
    assert turn(second)


def test_a_silent_leader_is_replaced_after_the_patience_of_the_follower(relational: Relational) -> None:
    clock = [100.0]
    first, second = make(relational, "a"), make(relational, "b", clock)
    turn(first)
    assert not turn(second)
    clock[0] += 7.9
    assert not turn(second)
    turn(first)  # a sign of life: the patience begins anew
    clock[0] += 0.2
    assert not turn(second)
    clock[0] += 7.9
    assert not turn(second)
    clock[0] += 0.1
    assert turn(second)


def test_one_that_was_replaced_is_fenced_and_notices(relational: Relational) -> None:
    clock = [0.5]
    first, second = make(relational, "a"), make(relational, "b", clock)
    turn(first)
    turn(second)
    clock[0] += 8
    turn(second)
    assert first.held
    with pytest.raises(LeadershipLostError), relational.transaction() as session:
        first.check(session)
    with relational.transaction() as session:
        second.check(session)
    told: list[bool] = []
    first.subscribe(told.append)
    assert not turn(first)
    assert told == [True, False]


def test_of_many_that_take_over_at_once_one_wins(relational: Relational) -> None:
    clock = [0.5]
    turn(make(relational, "dead"))
    waiting = [make(relational, f"h{number}", clock) for number in range(6)]
    for one in waiting:
        turn(one)
    clock[0] += 8
    threads = [threading.Thread(target=turn, args=[one]) for one in waiting]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.held for one in waiting) == 1


def test_the_same_server_leads_again_at_once_after_a_kill(relational: Relational) -> None:
    turn(make(relational, "a"))
    again = make(relational, "a")
    assert turn(again)
    with relational.transaction() as session:
        assert session.scalars(select(LeadershipRow.epoch)).one() == 2


def test_a_transaction_that_was_checked_cannot_be_overtaken(relational: Relational) -> None:
    """The follower's compare-and-set waits for the leader's open transaction, and then fails."""
    clock = [0.5]
    first, second = make(relational, "a"), make(relational, "b", clock)
    turn(first)
    turn(second)
    clock[0] += 8
    with relational.transaction() as session:
        first.check(session)
        taking = threading.Thread(target=turn, args=[second])
        taking.start()
        taking.join(0.3)
    taking.join()
    assert not second.held
    assert first.held


def test_a_leader_without_database_lets_go_before_others_lose_patience(tmp_path: Path) -> None:
    relational = open_relational(f"sqlite:///{tmp_path / 'l.sqlite'}")
    clock = [0.5]
    leader = make(relational, "a", clock)
    turn(leader)
    with relational.engine.begin() as connection:
        connection.execute(text("ALTER TABLE leaderships RENAME TO hidden"))
    clock[0] += 5
    assert turn(leader)
    clock[0] += 1.5
    assert not turn(leader)
    with relational.engine.begin() as connection:
        connection.execute(text("ALTER TABLE hidden RENAME TO leaderships"))
    clock[0] += 8
    turn(leader)
    clock[0] += 8
    assert turn(leader)
    relational.close()


def test_the_name_of_a_server_stays_with_its_directory(tmp_path: Path) -> None:
    made = load_holder(tmp_path)
    assert len(made) == 32
    assert load_holder(tmp_path) == made


@contextmanager
def holding(url: str, name: str) -> Generator["subprocess.Popen[str]"]:
    """A process that leads or follows; it ends with the block, if it has not before."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, url, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: "subprocess.Popen[str]") -> str:
    """The next line that is not of the log."""
    assert process.stdout is not None
    while (line := process.stdout.readline().strip()) and line not in ("leads", "follows", "started"):
        pass
    return line


@pytest.mark.usefixtures("relational")  # nobody led this database before
def test_a_process_takes_over_from_one_that_was_killed(database_url: str) -> None:
    with ExitStack() as processes:
        first = processes.enter_context(holding(database_url, "a"))
        assert said(first) == "leads"
        second = processes.enter_context(holding(database_url, "b"))
        assert said(second) == "started"
        first.kill()
        assert said(second) == "leads"
        third = processes.enter_context(holding(database_url, "c"))
        assert said(third) == "started"
        second.communicate("")
        assert said(third) == "leads"
        third.communicate("")
