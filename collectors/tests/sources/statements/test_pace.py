"""How long a server is left alone, by a clock of the test's own."""

import pytest
from loadwatch_collectors.sources import statements
from loadwatch_collectors.sources.statements import Pace


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(statements.time, "monotonic", lambda: self.now)

    def reading(self, made: Pace, *questions: float) -> float:
        """One reading of questions that take so long; the pause that follows, in tenths of a second."""
        began = self.now

        def query(sql: str) -> list[str]:
            self.now += float(sql)
            return [sql]

        for seconds in questions:
            assert made.ask(query, str(seconds)) == [str(seconds)]
        made.read(began)
        pause = 0
        while not made.is_due(began + pause / 10):
            pause += 1
        return pause / 10


def test_that_the_way_to_the_server_is_not_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert clock.reading(Pace(1.0), 0.050, 0.050, 0.0505) == 1.0
    assert clock.reading(Pace(1.0), 0.050, 0.050, 0.053) == 3.0


def test_that_one_slow_reading_changes_nothing_and_a_pause_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, made = Clock(monkeypatch), Pace(1.0)
    clock.reading(made, 0.001, 0.003)
    assert clock.reading(made, 0.001, 0.8) == 2.0
    assert clock.reading(Pace(1.0), 0.001, 0.9) == 15.0


def test_that_who_was_refused_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, made = Clock(monkeypatch), Pace(1.0)
    made.wait(clock.now, 10.0)
    assert not made.is_due(clock.now + 9.9)
    assert made.is_due(clock.now + 10.0)
