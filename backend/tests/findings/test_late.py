"""Resources whose values come minutes late: nothing is cleared before they have come, and what they tell is found."""

from typing import Any

import pytest
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.findings.cases import Case, run_case

SERIES = 'aws_elasticache_engine_cpuutilization_maximum{dimension_CacheClusterId="cache-1", name="arn", region="r"}'
ID = "aws-cache-engine-cpu-exhausted"
FULL = [20, 20, 98, 99, 99, 97, 30, 30]
CALM = [20, 40, 60, 60, 60, 60, 30, 30]


def case(values: list[int], **expected: Any) -> Case:
    """A run of 5 min 20 s, of whose last part the value at 7 min tells."""
    series = [{"series": SERIES, "values": " ".join(map(str, values))}]
    run = {"from": "70s", "to": "390s", "rate": 200, "p95": "300ms", "best": "10ms"}
    return Case.model_validate({"interval": "1m", "input_series": series, "run": run, **expected})


@pytest.mark.parametrize("come", [1, 4, 7])
def test_nothing_is_cleared_before_the_values_of_the_whole_run_have_come(come: int) -> None:
    found, unexpected = run_case(case(CALM[:come], never=["*"], cannot_tell=[ID]), Library())
    assert (found, unexpected) == ([], [])


def test_then_it_is_cleared() -> None:
    found, unexpected = run_case(case(CALM, never=["*"], cannot_tell=[ID]), Library())
    assert (found, unexpected) == ([], [f"{ID} could be judged"])


@pytest.mark.parametrize("come", [5, 6])
def test_what_was_full_for_three_periods_is_found_as_soon_as_they_have_come(come: int) -> None:
    found, _ = run_case(case(FULL[:come], never=["pool-exhausted"]), Library())
    assert [one.id for one in found] == ([ID] if come == 6 else [])
