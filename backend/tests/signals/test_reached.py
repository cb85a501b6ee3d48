import numpy as np
import pytest
from loadwatch_backend.kit.errors import LimitError
from loadwatch_backend.signals.catalogue.resources import RESOURCES
from loadwatch_backend.signals.reached import LONGEST_MS, FirstFull, Key, Ratios, Reached, first_full

START = 1_800_000_000_000
POOL = RESOURCES[1]
WEB: Key = frozenset({("instance", "web")})


class Looks:
    """A resource whose ratio is known for each second from START on; remembers what was read."""

    def __init__(self, ratios: np.ndarray) -> None:
        self.ratios = ratios
        self.asked: list[tuple[int, int]] = []

    def __call__(self, from_ms: int, to_ms: int) -> Ratios:
        from_ms = max(from_ms, START)
        first, last = (from_ms - START) // 1_000, (to_ms - START) // 1_000
        self.asked.append((first, last))
        return Ratios(
            keys=[WEB], values=self.ratios[None, first : last + 1], start_ms=START + first * 1_000, interval_ms=1_000
        )

    def coarse(self, second: int) -> np.ndarray:
        at = second - 5 * np.arange(59, -1, -1)
        return np.where(at >= 0, self.ratios[np.maximum(at, 0)], np.nan)[None]


def ask(reached: Reached, looks: Looks, second: int, since: int = 0) -> FirstFull | None:
    found = reached.since(POOL, START + since * 1_000, START + second * 1_000, looks, looks.coarse(second), 5_000)
    return found.get(WEB)


def ratios(*full: tuple[int, int], seconds: int = 400) -> np.ndarray:
    found = np.full(seconds, 0.5)
    for first, last in full:
        found[first:last] = 1.0
    return found


def test_a_limit_counts_once_it_was_full_for_five_seconds_and_keeps_its_time():
    looks, reached = Looks(ratios((30, 90))), Reached()
    found = {second: ask(reached, looks, second) for second in range(20, 200, 2)}
    assert found[32] is None, "three seconds are an instant"
    assert {one for second, one in found.items() if second >= 36} == {
        FirstFull(at_ms=START + 30_000, before=False, interval_ms=1_000)
    }


def test_what_lasts_longer_than_one_look_reaches_back_keeps_its_begin():
    looks, reached = Looks(ratios((30, 390))), Reached()
    for second in range(20, 380, 20):
        ask(reached, looks, second)
    assert ask(reached, looks, 380) == FirstFull(at_ms=START + 30_000, before=False, interval_ms=1_000)
    assert ask(reached, looks, 390, since=100) == FirstFull(at_ms=START + 100_000, before=True, interval_ms=1_000)


def test_what_was_full_when_the_span_began_says_so():
    looks = Looks(ratios((0, 60)))
    assert ask(Reached(), looks, 100, since=20) == FirstFull(at_ms=START + 20_000, before=True, interval_ms=1_000)
    assert ask(Reached(), looks, 100, since=70) is None


def test_a_later_episode_counts_for_a_later_span():
    looks, reached = Looks(ratios((30, 60), (200, 230))), Reached()
    ask(reached, looks, 300)
    assert ask(reached, looks, 301, since=100) == FirstFull(at_ms=START + 200_000, before=False, interval_ms=1_000)


def test_calm_seconds_are_not_read_and_none_is_read_twice_from_its_begin():
    looks, reached = Looks(ratios((200, 210))), Reached()
    for second in range(100, 200, 2):
        ask(reached, looks, second)
    assert looks.asked == []
    for second in range(200, 400, 2):
        ask(reached, looks, second)
    assert looks.asked
    assert all(last - first <= 20 for first, last in looks.asked)


def test_where_too_much_is_asked_no_order_is_told():
    looks, reached = Looks(ratios((30, 60))), Reached()

    def refuse(_from_ms: int, _to_ms: int) -> Ratios:
        raise LimitError("too much")

    assert reached.since(POOL, START, START + 100_000, refuse, looks.coarse(100), 5_000) == {}
    assert ask(reached, looks, 102) is not None


def test_nothing_is_remembered_for_longer_than_an_hour():
    seconds = 2 * LONGEST_MS // 1_000
    looks, reached = Looks(ratios((30, 60), seconds=seconds)), Reached()
    for second in range(100, seconds, 100):
        ask(reached, looks, second, since=max(0, second - LONGEST_MS // 1_000))
    assert ask(reached, looks, seconds - 1, since=seconds - 3_601) is None


@pytest.mark.parametrize(("interval", "step", "expected"), [(60_000, 60_000, 180_000), (60_000, 30_000, None)])
def test_minutely_values_need_three_of_them(interval: int, step: int, expected: int | None):
    values = np.array([[0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 0.2]])
    known = Ratios(keys=[WEB], values=values, start_ms=START, interval_ms=interval)
    found = first_full(known, step, START, START + 10 * step).get(WEB)
    assert (None if found is None else found.at_ms - START) == expected
