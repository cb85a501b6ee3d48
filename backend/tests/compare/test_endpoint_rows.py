"""The mix of a group's requests as shares, and when it differs."""

import pytest
from loadwatch_backend.runs.analysis.schemas import EndpointOut
from loadwatch_backend.runs.compare.rows import endpoint_rows, mix_differs
from loadwatch_backend.runs.compare.schemas import CompareEndpoint, CompareGroup

from backend.tests.report.making import FIGURES, make_run


def rows(*mixes: dict[str, int]) -> list[CompareEndpoint]:
    runs = {
        str(place): make_run(
            id=str(place),
            endpoints=[
                EndpointOut.model_validate(FIGURES.model_dump() | {"name": name, "requests": count})
                for name, count in mix.items()
            ],
        )
        for place, mix in enumerate(mixes)
    }
    groups = [CompareGroup(id=id, label=id, runs=[id], is_base=id == "0") for id in runs]
    return endpoint_rows(groups, runs, {})


def test_shares_are_of_each_groups_own_requests() -> None:
    found = rows({"GET /": 90, "POST /": 10}, {"GET /": 500, "POST /": 400, "GET /new": 100})
    assert {one.name: one.share for one in found} == {
        "GET /": [0.9, 0.5],
        "POST /": [0.1, 0.4],
        "GET /new": [0.0, 0.1],
    }
    assert mix_differs(found)


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"GET /": 9_000, "POST /": 1_000}, False),
        ({"GET /": 86, "POST /": 14}, False),
        ({"GET /": 84, "POST /": 16}, True),
    ],
)
def test_more_requests_of_the_same_mix_are_the_same_mix(other: dict[str, int], differs: bool) -> None:
    assert mix_differs(rows({"GET /": 90, "POST /": 10}, other)) is differs


def test_a_run_without_endpoints_tells_no_mix() -> None:
    found = rows({"GET /": 90, "POST /": 10}, {})
    assert [one.share[1] for one in found] == [None, None]
    assert not mix_differs(found)
