import pytest
from loadwatch_collectors.runs.replay import Label, Score, add_up, counting, describe, describe_totals, score


def label(
    *expected: str, kind: str = "single", allowed: tuple[str, ...] = (), case: str = "a", purpose: str = "tune"
) -> Label:
    places = tuple(frozenset(one.split("|")) for one in expected)
    return Label(case=case, run="r", purpose=purpose, kind=kind, expected=places, allowed=frozenset(allowed))


PAIR = label("pool-exhausted", "file-descriptors-exhausted", kind="pair")


def test_only_what_accuses_or_is_expected_counts_and_each_id_once() -> None:
    findings = [
        {"id": "host-noise", "severity": "warning"},
        {"id": "warm-up-in-window", "severity": "info"},
        {"id": "pool-exhausted", "severity": "critical"},
        {"id": "queue-full", "severity": "warning"},
        {"id": "pool-exhausted", "severity": "critical"},
    ]
    run = {"findings": findings, "diagnosis": {"state": "found"}}
    assert counting(label("pool-churn"), run) == ("pool-exhausted", "queue-full")
    assert counting(label("warm-up-in-window"), run) == ("warm-up-in-window", "pool-exhausted", "queue-full")


def test_cannot_tell_counts_where_it_is_expected() -> None:
    assert counting(label("cannot-tell"), {"diagnosis": {"state": "cannot-tell"}}) == ("cannot-tell",)
    assert counting(label("pool-churn"), {"diagnosis": {"state": "cannot-tell"}}) == ()
    assert counting(label("cannot-tell"), {"diagnosis": {"state": "none"}}) == ()


@pytest.mark.parametrize(
    ("said", "first", "wrong"),
    [
        (["pool-exhausted"], True, ()),
        (["pool-exhausted", "queue-full"], True, ("queue-full",)),
        (["queue-full", "pool-exhausted"], False, ("queue-full",)),
        (["pool-churn", "pool-exhausted"], False, ()),
        (["pool-exhausted", "pool-churn"], True, ()),
        ([], False, ()),
    ],
)
def test_a_single_limit(said: list[str], first: bool, wrong: tuple[str, ...]) -> None:
    one = score(label("pool-exhausted", allowed=("pool-churn",)), said)
    assert (one.first_right, one.order_right, one.wrong) == (first, None, wrong)
    assert one.right == (first and not wrong)


def test_cause_and_consequence_that_begin_together_are_both_right_first() -> None:
    either = label("time-wait-overflow|keep-alive-off")
    assert score(either, ["keep-alive-off", "time-wait-overflow"]).right
    assert score(either, ["time-wait-overflow"]).right
    assert not score(either, ["pool-churn", "keep-alive-off"]).right


@pytest.mark.parametrize(
    ("said", "first", "order"),
    [
        (["pool-exhausted", "file-descriptors-exhausted"], True, True),
        (["pool-exhausted", "queue-full", "file-descriptors-exhausted"], True, True),
        (["file-descriptors-exhausted", "pool-exhausted"], False, False),
        (["pool-exhausted"], True, False),
        (["queue-full", "pool-exhausted", "file-descriptors-exhausted"], False, True),
        ([], False, False),
    ],
)
def test_a_pair_is_right_when_both_are_named_in_order(said: list[str], first: bool, order: bool) -> None:
    one = score(PAIR, said)
    assert (one.first_right, one.order_right) == (first, order)


def test_nothing_may_be_accused_in_a_healthy_run_but_what_is_allowed() -> None:
    healthy = label(kind="healthy", allowed=("connections-refused",))
    assert score(healthy, []).right
    assert score(healthy, ["connections-refused"]).right
    accused = score(healthy, ["connections-refused", "pool-churn"])
    assert (accused.right, accused.first_right, accused.wrong) == (False, None, ("pool-churn",))


def test_totals() -> None:
    totals = add_up(
        [
            score(label("pool-exhausted"), ["pool-exhausted", "queue-full"]),
            score(label("pool-churn"), []),
            score(PAIR, ["pool-exhausted", "file-descriptors-exhausted"]),
            score(PAIR, ["pool-exhausted"]),
            score(label(kind="healthy"), []),
            score(label(kind="noisy"), ["queue-full", "pool-churn"]),
        ]
    )
    assert (totals.first_right, totals.with_limits) == (3, 4)
    assert (totals.pairs_in_order, totals.pairs) == (1, 2)
    assert (totals.accused, totals.accusations, totals.healthy) == (1, 2, 2)
    assert totals.wrong_besides == 1
    assert totals.first_share == 0.75
    assert "first finding right in 3 of 4; pairs in order 1 of 2" in describe_totals(totals)


def test_without_a_limit_the_share_is_whole() -> None:
    assert add_up([]).first_share == 1.0


@pytest.mark.parametrize(
    ("one", "mark"),
    [
        (score(label("pool-churn"), ["pool-churn"]), "right"),
        (score(label("pool-churn"), ["queue-full"]), "WRONG"),
        (score(label("pool-churn"), ["pool-churn", "queue-full"]), "partly"),
        (score(PAIR, ["pool-exhausted"]), "partly"),
        (score(label(kind="healthy"), ["queue-full"]), "WRONG"),
    ],
)
def test_a_line_says_what_was_expected_and_what_was_said(one: Score, mark: str) -> None:
    line = describe(one)
    assert line.split()[0] == mark
    assert "expected " in line
    assert "; said " in line
