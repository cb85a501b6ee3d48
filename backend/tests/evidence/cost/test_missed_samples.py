"""On a machine that is too busy, samples are missed, on each side at other times: figures stay what they are."""

import numpy as np
import pytest
from loadwatch_backend.evidence.cost.model import Cost, RouteTotals, Statement, StatementKey
from loadwatch_backend.evidence.cost.read import Counted, Routes, Statements, halves_of
from loadwatch_backend.evidence.cost.service import cost_of
from loadwatch_backend.evidence.route_folding import RouteKey
from loadwatch_backend.evidence.series import Edges, Grown, edges_of, grown_of

from backend.tests.evidence.cost.made import Array, Made, make_load

START_MS = 1_700_000_000_000
SECONDS = 340
PLANTED = {0: {0: 1}, 1: {1: 5}, 2: {2: 100}}


def missing(seed: int, often: float) -> list[int]:
    """Seconds in which an agent came to read: now and then it does not for some."""
    draw, kept, away = np.random.default_rng(seed), list[int](), 0
    for second in range(SECONDS):
        if away == 0 and draw.uniform() < often:
            away = int(draw.integers(1, 5))
        if away:
            away -= 1
        else:
            kept.append(second)
    return kept


def grown(events: list[Array], seconds: list[int], edges: Edges) -> Grown:
    times = np.array([START_MS + second * 1_000 for second in seconds], np.int64)
    series = [(times, np.searchsorted(np.sort(one), seconds).astype(np.float64)) for one in events]
    return grown_of([{"job": "a", "instance": "b", "n": str(place)} for place in range(len(events))], series, edges)


def costed(load: Made, seed: int, often: float) -> Cost:
    edges = edges_of(START_MS, START_MS + SECONDS * 1_000, 1_000, 0)
    asked = grown(list(load.ends), missing(seed, often), halves_of(edges))
    called = grown(list(load.calls), missing(seed + 100, often), edges)
    totals = called.values.sum(axis=1)
    return cost_of(
        Counted(
            routes=Routes(
                found=[
                    RouteTotals(key=RouteKey("GET", f"/{place}"), requests=float(one.sum()))
                    for place, one in enumerate(asked.values)
                ],
                halves=asked.values.T,
                seen=asked.seen,
                sampled=asked.sampled,
            ),
            statements=Statements(
                found=[
                    Statement(key=StatementKey("s", f"d{place}"), text="", calls=float(one), seconds=float(one))
                    for place, one in enumerate(totals)
                ],
                calls=called.values.T,
                times=called.values.T,
                seen=called.seen,
                sampled=called.sampled,
            ),
            lengths=np.ones(edges.count),
            inside=np.ones(edges.count, np.bool_),
        ),
        START_MS,
        START_MS + SECONDS * 1_000,
    )


@pytest.mark.parametrize("often", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_factors_are_found_within_five_percent(seed: int, often: float) -> None:
    load = make_load(
        PLANTED, routes=3, statements=3, rate=3.0, takes=[0.02, 0.1, 1.0], seconds=300, margin=20, seed=seed
    )
    found = costed(load, seed, often)
    for one in found.routes:
        place = int(one.totals.key.route.removeprefix("/"))
        for key, share in one.of_statement.items():
            asked = PLANTED[place].get(int(key.digest.removeprefix("d")), 0)
            assert share.calls.value == pytest.approx(asked, rel=0.05, abs=0.1 if not asked else 0.0), (
                one.totals.key,
                key,
            )
        assert StatementKey("s", f"d{place}") in one.of_statement
