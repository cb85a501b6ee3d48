"""What is explained, and how plans travel."""

import pytest
from loadwatch_formats.statements.fingerprint import Dialect
from loadwatch_formats.statements.plans import (
    LONGEST_PLAN,
    NoPlan,
    Plan,
    Step,
    read_plan,
    why_not_explained,
    write_plan,
)

SCAN = Step(table="goods", access="ALL", rows=120_000.0, extra="Using where")


def test_that_a_plan_comes_back_as_it_was() -> None:
    steps = [SCAN, Step(table="items", access="ref", key="by_order", rows=4.0)]
    assert read_plan(write_plan(steps), "") == Plan(steps=steps)


def test_that_a_plan_without_end_keeps_its_beginning_and_says_what_is_missing() -> None:
    steps = [Step(table=f"t{number}é" * 90, access="ALL") for number in range(500)]
    text = write_plan(steps)
    assert len(text.encode()) <= LONGEST_PLAN
    plan = read_plan(text, "")
    assert plan is not None
    assert len(plan.steps) + plan.left_out == 500
    assert plan.steps


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "[1]", "[{}", '[{"left_out": 3}]', "[" * 100_000, '[{"left_out": "x"}]']
)
def test_that_what_is_no_plan_is_none(text: str) -> None:
    assert read_plan(text, "") is None


def test_that_fields_of_a_wrong_kind_are_left_out() -> None:
    assert read_plan('[{"table": 7, "rows": "many", "access": "ALL"}]', "") == Plan(steps=[Step(access="ALL")])
    assert read_plan("", "not-permitted") == Plan(reason=NoPlan.NOT_PERMITTED)
    assert read_plan("", "what") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1", None),
        (" /* hello */ (SELECT 1) UNION (SELECT 2);", None),
        ("WITH a AS (SELECT 1) SELECT * FROM a", None),
        ("SELECT 1; DROP TABLE goods", NoPlan.REFUSED),
        ("SELECT 1;;", NoPlan.REFUSED),
        ("SELECT /*!50000 SLEEP(9), */ 1", NoPlan.REFUSED),
        ("SELECT /*M! 1 */ 1", NoPlan.REFUSED),
        ("UPDATE goods SET stock = 1", NoPlan.CHANGES_ROWS),
        ("ANALYZE SELECT 1", NoPlan.CHANGES_ROWS),
        ("FORMAT=JSON SELECT 1", NoPlan.CHANGES_ROWS),
        ("SELECT name FROM goods WHERE id = ?", NoPlan.NO_EXAMPLE),
        ("", NoPlan.NO_EXAMPLE),
        ("SELECT " + "1," * 50_000 + "1", NoPlan.NO_EXAMPLE),
        ("-- only a comment", NoPlan.CHANGES_ROWS),
    ],
)
def test_what_is_given_to_the_server(text: str, reason: NoPlan | None) -> None:
    assert why_not_explained(text, Dialect.MYSQL, placeholders=False) is reason


def test_that_placeholders_are_values_of_a_generic_plan() -> None:
    assert why_not_explained("SELECT $1::int", Dialect.POSTGRESQL, placeholders=True) is None
    assert why_not_explained("SELECT 1 /*! x */", Dialect.POSTGRESQL, placeholders=True) is NoPlan.REFUSED
