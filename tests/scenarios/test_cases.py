"""All cases, as data: what holds for each of them, and that together they are what findings are to be judged by."""

import re
from collections import Counter

import pytest

from scenarios.case import Case, Kind, Purpose
from scenarios.cases import CASES, cases_by_name
from scenarios.namespace import SYSCTLS


def test_names_are_names_of_files_and_there_is_one_of_each() -> None:
    assert len(cases_by_name()) == len(CASES)
    assert [case.name for case in CASES if not re.fullmatch(r"[a-z0-9-]+", case.name)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_whole(case: Case) -> None:
    assert case.healthy == (case.expected == ())
    assert (case.kind is Kind.PAIR) == (len(case.expected) == 2 and not case.name.startswith("rows-lost"))
    named = [one for place in case.expected for one in place.split("|")]
    assert len(named) == len(set(named))
    assert any(app.loaded for app in case.apps)
    assert set(case.sysctls) <= SYSCTLS
    assert 5 <= case.seconds <= 45
    assert all(0 <= getattr(action, "app", 0) < len(case.apps) for action in case.actions)
    assert all(action.at < case.seconds + case.after_seconds for action in case.actions)
    assert case.why.endswith(".")


def test_there_are_cases_enough_of_every_kind_for_both_purposes() -> None:
    kinds = Counter((case.purpose, case.kind) for case in CASES)
    assert len(CASES) >= 60
    assert sum(case.kind is Kind.PAIR for case in CASES) >= 6
    for purpose in Purpose:
        assert min(kinds[purpose, kind] for kind in Kind) >= 1
        assert kinds[purpose, Kind.SINGLE] >= 20


def test_what_is_judged_was_tuned_on_another_case() -> None:
    tuned = {
        one for case in CASES if case.purpose is Purpose.TUNE for place in case.expected for one in place.split("|")
    }
    judged = {case.name: case.expected for case in CASES if case.purpose is Purpose.JUDGE and case.expected}
    assert [name for name, expected in judged.items() if not any(one in tuned for one in expected[0].split("|"))] == []
