from typing import Any

from loadwatch_collectors.runs.screen.pages import describe_actions

MET: dict[str, Any] = {
    **{"action": "a", "of_run": "one", "run": "two", "text": "pool of 30", "expected": "p95<300ms"},
    **{"state": "met", "detail": "", "unit": "seconds", "actual": 0.228, "window": "steady"},
}
LOST = MET | {"state": "not-measured", "actual": None, "detail": "the run was aborted"}


def test_actions_have_the_newest_score_and_earlier_ones_their_run():
    action = {"id": "a", "text": "pool of 30", "state": "open", "owner": "mika", "due": "2026-12-01"}
    review = {
        "actions": [action | {"expected": "p95<300ms"}, action | {"id": "b", "text": " ", "expected": ""}],
        "standings": [{"id": "a", "scores": [MET, LOST]}],
        "scored": [LOST],
    }
    assert describe_actions(review) == [
        "  pool of 30 (open, mika, due 2026-12-01, p95<300ms)",
        "    met, 228 ms (steady), by two",
        "  of one: pool of 30 (p95<300ms)",
        "    not measured, the run was aborted",
    ]


def test_nothing_is_said_of_a_server_that_knows_none():
    assert describe_actions({}) == describe_actions({"actions": [], "standings": [], "scored": []}) == []
