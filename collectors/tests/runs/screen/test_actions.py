from typing import Any

from loadwatch_collectors.runs.screen.actions import describe_actions

HELD: dict[str, Any] = {
    **{"action": "a", "of_run": "one", "run": "two", "text": "pool of 30", "expected": "p95<300ms"},
    **{"state": "held", "reason": "", "detail": "", "unit": "seconds", "before": 0.412, "actual": 0.228},
    **{"window": "steady", "load": {"kind": "target-rate", "before": 200.0, "now": 200.0}},
}
LOST = HELD | {"state": "cannot-tell", "reason": "not-checked", "actual": None, "load": None, "detail": "go_sql_*"}


def test_actions_have_the_newest_score_and_earlier_ones_their_run():
    action = {"id": "a", "text": "pool of 30", "state": "open", "owner": "mika", "due": "2026-12-01"}
    review = {
        "actions": [action | {"expected": "p95<300ms"}, action | {"id": "b", "text": " ", "expected": ""}],
        "standings": [{"id": "a", "scores": [HELD, LOST]}],
        "scored": [LOST],
    }
    assert describe_actions(review) == [
        "  pool of 30 (open, mika, due 2026-12-01, p95<300ms)",
        "    held, 412ms -> 228ms (steady), target-rate 200 -> 200, by two",
        "  of one: pool of 30 (p95<300ms)",
        "    cannot tell: not-checked, go_sql_*",
    ]


def test_nothing_is_said_of_a_server_that_knows_none():
    assert describe_actions({}) == describe_actions({"actions": [], "standings": [], "scored": []}) == []
