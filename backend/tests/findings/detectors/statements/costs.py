"""Costs made for tests of detectors: a minute in which a database was busy."""

from dataclasses import replace
from typing import Any

from loadwatch_backend.evidence.cost.model import (
    Basis,
    Cost,
    Estimate,
    RouteCost,
    RouteTotals,
    Share,
    Statement,
    StatementCost,
    StatementKey,
)
from loadwatch_backend.evidence.route_folding import REQUESTS as REQUESTS_NAMES
from loadwatch_backend.evidence.route_folding import RouteKey
from loadwatch_backend.findings.window import Window

from backend.tests.findings.windows import START_MS, load, window

TIMELINE = RouteKey("GET", "/timeline")
KEY = StatementKey("shop", "d0")
REQUESTS = 600.0


def statement(**values: Any) -> Statement:
    """600 requests with one call each, 20 ms a call."""
    usual: dict[str, Any] = {
        "key": KEY,
        "text": "SELECT * FROM `users` WHERE `id` = ?",
        "calls": REQUESTS,
        "seconds": REQUESTS * 0.02,
    }
    return Statement(**(usual | values))


def share(
    calls: float, seconds: float, *, least: float | None = None, routes: tuple[RouteKey, ...] = (TIMELINE,)
) -> Share:
    """So many calls a request, and so many seconds."""
    return Share(
        routes=routes,
        basis=Basis.FITTED if len(routes) == 1 else Basis.TOGETHER,
        calls=Estimate(calls, calls * 0.98, calls * 1.02),
        seconds=Estimate(seconds, seconds * 0.98, seconds * 1.02),
        total_calls=calls * REQUESTS,
        total_seconds=seconds * REQUESTS,
        least_calls=calls * 0.96 if least is None else least,
    )


def costing(one: Statement, asked: Share | None = None, *, others: float = 0.0, slow: bool = True) -> Window:
    """A window with one statement, and so much database time of others; `slow`: the load felt it."""
    shares = [] if asked is None else [asked]
    own = {KEY: asked} if asked is not None and len(asked.routes) == 1 else {}
    route = RouteCost(
        totals=RouteTotals(key=TIMELINE, requests=REQUESTS, seconds=REQUESTS * 0.1),
        calls=Estimate(0.0, 0.0, 0.0) if asked is None else asked.calls,
        seconds=Estimate(0.0, 0.0, 0.0) if asked is None else asked.seconds,
        total_seconds=0.0 if asked is None else asked.total_seconds,
        of_statement=own,
    )
    cost = Cost(
        from_ms=START_MS,
        to_ms=START_MS + 60_000,
        routes=[route],
        statements=[StatementCost(statement=one, shares=shares)],
        database_seconds=one.seconds + others,
    )
    impact = load(9.0, p95=[0.05] * 20 + [2.0] * 40)
    return replace(window({"up": 1.0}, load=impact if slow else load(10.0)), cost=cost)


def of_routes(*totals: RouteTotals) -> Cost:
    """Routes without statements, over a minute."""
    nothing = Estimate(0.0, 0.0, 0.0)
    return Cost(
        from_ms=START_MS,
        to_ms=START_MS + 60_000,
        routes=[RouteCost(totals=one, calls=nothing, seconds=nothing, total_seconds=0.0) for one in totals],
        routes_job="nginx",
        requests=REQUESTS_NAMES[0],
    )


def route(name: str, requests: float, **values: Any) -> RouteTotals:
    """GET of a path; its requests are spread evenly unless `thirds` tells."""
    usual: dict[str, Any] = {"thirds": (requests / 3,) * 3}
    return RouteTotals(key=RouteKey("GET", name), requests=requests, **(usual | values))
