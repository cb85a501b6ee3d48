"""What findings say of routes alone. Pure."""

import json

from loadwatch_backend.evidence.cost.model import Cost, RouteTotals
from loadwatch_backend.evidence.route_folding import OTHER_ROUTES, RouteKey

LEAST_REQUESTS = 200.0
"""In what a share is taken of: fewer tell nothing of a mix."""


def total_requests(cost: Cost) -> float:
    """Of all routes."""
    return sum(one.totals.requests for one in cost.routes)


def named(cost: Cost) -> list[RouteTotals]:
    """Routes, without the rest that has no name of its own."""
    return [one.totals for one in cost.routes if one.totals.key != OTHER_ROUTES]


def of_route(cost: Cost, key: RouteKey | None, code: str = "") -> str:
    """PromQL of the requests per second of a route, or of all; with a status where one is named."""
    names = cost.requests
    if names is None:
        return "vector(0)"
    asked = {"job": cost.routes_job}
    if key is not None:
        asked |= {names.route: key.route, names.method: key.method}
    if code:
        asked[names.code] = code
    labels = ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in asked.items() if value)
    return f"sum(rate({names.count}{{{labels}}}[15s]))"
