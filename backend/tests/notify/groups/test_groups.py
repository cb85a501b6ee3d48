from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.alerting.notify.groups.groups import (
    ACKNOWLEDGED,
    TOLD,
    Members,
    Notified,
    decide,
    members_of,
    next_due,
    next_tick,
    unpack_notified,
)
from loadwatch_backend.alerting.notify.model import NotifiedAlert

A, B = "000000000000000a", "000000000000000b"
NOW, REPEAT, INTERVAL = 1_000_000, 60_000, 10_000


def alert(key: str, ends_ms: int | None = None, *, acknowledged: bool = False, starts_ms: int = 0) -> NotifiedAlert:
    return NotifiedAlert(
        key=key,
        labels={"alertname": key},
        annotations={},
        starts_ms=starts_ms,
        ends_ms=ends_ms,
        generator_url="",
        acknowledged=acknowledged,
    )


def members(*, firing: str = "", resolved: str = "", held: str = "", acknowledged: str = "") -> Members:
    prints = {"a": A, "b": B}
    return Members(
        firing={prints[name]: alert(name, acknowledged=name in acknowledged) for name in firing},
        resolved={prints[name]: alert(name, NOW) for name in resolved},
        held={prints[name] for name in held},
    )


STOPPED = Members(
    firing={}, resolved={A: replace(alert("a", NOW), annotations={"ended": "stopped-sending"})}, held=set()
)


def notified(alerts: dict[str, int], ago_ms: int = 1_000) -> Notified:
    return Notified(sent_ms=NOW - ago_ms, alerts=alerts)


@pytest.mark.parametrize(
    ("given_members", "before", "send_resolved", "firing", "resolved", "after"),
    [
        # Nothing was told yet.
        (members(firing="a"), None, True, [A], [], {A: TOLD}),
        (members(resolved="a"), None, True, [], [], None),
        (members(firing="a", resolved="b"), None, True, [A], [], {A: TOLD}),
        (members(firing="a", held="a"), None, True, [], [], None),
        (members(firing="ab", held="b"), None, True, [A], [], {A: TOLD}),
        # Something was.
        (members(firing="a"), notified({A: TOLD}), True, [], [], {A: TOLD}),
        (members(firing="ab"), notified({A: TOLD}), True, [A, B], [], {A: TOLD, B: TOLD}),
        (members(resolved="a"), notified({A: TOLD}), True, [], [A], None),
        (members(resolved="a"), notified({A: TOLD}), False, [], [], None),
        # That it stopped sending is told to those as well who do without recoveries.
        (STOPPED, notified({A: TOLD}), False, [], [A], None),
        (members(firing="b", resolved="a"), notified({A: TOLD, B: TOLD}), True, [B], [A], {B: TOLD}),
        (members(firing="b", resolved="a"), notified({A: TOLD, B: TOLD}), False, [], [], {B: TOLD}),
        # Held after it was told: its end is owed.
        (members(firing="ab", held="a"), notified({A: TOLD}), True, [B], [], {B: TOLD, A: 0}),
        (members(firing="ab"), notified({B: TOLD, A: 0}), True, [A, B], [], {A: TOLD, B: TOLD}),
        (members(firing="b", resolved="a", held="a"), notified({B: TOLD, A: 0}), True, [], [], {B: TOLD, A: 0}),
        (members(firing="b", resolved="a"), notified({B: TOLD, A: 0}), True, [B], [A], {B: TOLD}),
        # Time has passed.
        (members(firing="a"), notified({A: TOLD}, REPEAT), True, [A], [], {A: TOLD}),
        (members(firing="a", held="a"), notified({A: TOLD}, REPEAT), True, [], [], {A: TOLD}),
        (members(firing="a", acknowledged="a"), notified({A: TOLD}, REPEAT), True, [], [], {A: TOLD}),
        (
            members(firing="ab", acknowledged="a"),
            notified({A: TOLD, B: TOLD}, REPEAT),
            True,
            [A, B],
            [],
            {A: 3, B: TOLD},
        ),
    ],
)
def test_what_is_sent(
    given_members: Members,
    before: Notified | None,
    send_resolved: bool,
    firing: list[str],
    resolved: list[str],
    after: dict[str, int] | None,
) -> None:
    decision = decide(given_members, before, NOW, REPEAT, send_resolved=send_resolved)
    assert (list(decision.firing), list(decision.resolved)) == (firing, resolved)
    assert (None if decision.notified is None else dict(decision.notified.alerts)) == after


def test_of_two_episodes_the_one_that_fires_counts() -> None:
    found = members_of([(A, alert("1", 5)), (A, alert("2")), (B, alert("3", 7)), (B, alert("4", 9))], {"2"})
    assert found.firing[A].key == "2"
    assert found.resolved[B].key == "4"
    assert found.held == {A}


@given(
    st.dictionaries(st.integers(0, 2**64 - 1).map("{:016x}".format), st.sampled_from([0, TOLD, TOLD | ACKNOWLEDGED]))
)
def test_what_was_told_is_packed_and_unpacked(alerts: dict[str, int]) -> None:
    one = Notified(sent_ms=5, alerts=alerts)
    assert unpack_notified(5, one.pack()) == one


@pytest.mark.parametrize(
    ("after_ms", "expected"), [(100, 110), (105, 110), (109, 110), (110, 120), (95, 105), (1_000, 1_010)]
)
def test_ticks_follow_the_last_flush(after_ms: int, expected: int) -> None:
    assert next_tick(100, 10, after_ms) == expected


def test_a_group_is_looked_at_again_when_something_may_happen() -> None:
    def due(given_members: Members, before: list[Notified | None]) -> int | None:
        return next_due(given_members, before, NOW, INTERVAL, REPEAT - 1)

    assert due(members(firing="a"), [notified({A: TOLD}, 0)]) == NOW + REPEAT
    assert due(members(firing="a", held="a"), [None]) == NOW + INTERVAL
    assert due(members(firing="a", acknowledged="a"), [notified({A: TOLD}, 0)]) is None
    assert due(members(firing="a"), []) is None
    assert due(members(firing="a", held="a"), []) is None
