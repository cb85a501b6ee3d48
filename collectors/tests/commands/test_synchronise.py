"""`loadwatch sync` beside runs that end at the same moment; the server is a port where nobody listens."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loadwatch_collectors.commands.synchronise import Servers, synchronise
from loadwatch_collectors.runs.delivery import Client, Journal, Lock, open_journal

from tests.ports import free_port

FIRST, SECOND = "20261121-000001-aaaa", "20261121-000002-aaaa"


class _Meanwhile(Servers):
    """Lets something happen while the first run is looked at."""

    def __init__(self, happen: Callable[[], object]) -> None:
        super().__init__(None, None)
        self._happen = happen

    def of(self, journal: Journal) -> Client:
        if journal.id == FIRST:
            self._happen()
        return super().of(journal)


@pytest.fixture
def second(tmp_path: Path) -> tuple[Journal, Lock]:
    """Two runs that wait; the second is at its end, in a process of its own."""
    server = f"http://127.0.0.1:{free_port()}"
    _, lock = open_journal(tmp_path, server=server, facts={}, run=FIRST)
    lock.release()
    return open_journal(tmp_path, server=server, facts={}, run=SECOND)


def test_a_run_that_was_delivered_meanwhile_is_nothing_to_report(tmp_path: Path, second: tuple[Journal, Lock]) -> None:
    journal, lock = second

    def end() -> None:
        journal.remove()
        lock.release()

    outcomes = synchronise(_Meanwhile(end), tmp_path)
    assert [(one.run, one.state) for one in outcomes] == [(FIRST, "waiting")]
    assert not journal.directory.exists()


def test_a_run_whose_files_are_going_is_neither_damaged_nor_delivered_twice(
    tmp_path: Path, second: tuple[Journal, Lock]
) -> None:
    """Its own process has begun to remove it: the folder is there, and of the files only some."""
    journal, lock = second

    def begin_to_end() -> None:
        (journal.directory / "run.json").unlink()
        (journal.directory / "lock").unlink()

    outcomes = synchronise(_Meanwhile(begin_to_end), tmp_path)
    assert [(one.run, one.state) for one in outcomes] == [(FIRST, "waiting")]
    assert not journal.directory.exists()
    lock.release()


def test_a_run_that_still_works_is_left_to_its_process(tmp_path: Path, second: tuple[Journal, Lock]) -> None:
    journal, lock = second
    outcomes = synchronise(Servers(None, None), tmp_path)
    assert [(one.run, one.state) for one in outcomes] == [(FIRST, "waiting"), (SECOND, "running")]
    lock.release()
    assert journal.directory.exists()
