"""What findings say of routes and statements. Pure."""

import json

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.cost.model import Cost, RouteCost, RouteTotals, Share, Statement, StatementCost
from loadwatch_backend.evidence.cost.solve import is_repeated
from loadwatch_backend.evidence.route_folding import OTHER_ROUTES, RouteKey
from loadwatch_backend.findings.window import Episode, Window

LEAST_SHARE = 0.2
"""Of all database time: less is not what anybody waits for."""
LEAST_SESSIONS = 0.5
"""Statements that run at once on average: below, the database has nothing to do."""
MOST_TEXT = 100


def whole(window: Window) -> Episode:
    return Episode(window.focus.start, window.focus.stop)


def share_of(cost: Cost, seconds: float) -> float:
    """Of all database time."""
    return seconds / cost.database_seconds if cost.database_seconds > 0 else 0.0


def sessions(cost: Cost) -> float:
    """Statements that ran at once, on average."""
    return cost.database_seconds / max((cost.to_ms - cost.from_ms) / 1_000, 1e-3)


def weighs(cost: Cost, seconds: float) -> bool:
    return share_of(cost, seconds) >= LEAST_SHARE and sessions(cost) >= LEAST_SESSIONS


def text_of(statement: Statement) -> str:
    text = " ".join(statement.text.split()) or statement.key.digest
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def callers(one: StatementCost) -> Words:
    """Who asks it, as a part of a sentence; nothing where nobody could be told."""
    names = [route.name for share in one.shares if len(share.routes) == 1 for route in share.routes][:2]
    return Words(f", asked by {' and '.join(names)}", f"({'、'.join(names)}が実行)") if names else Words("", "")


def of_digest(statement: Statement, metric: str) -> str:
    """PromQL of a statement's rate."""
    if statement.key.digest.isdigit():
        return f'sum(rate(pg_stat_statements_{metric}{{queryid="{statement.key.digest}"}}[15s]))'
    name = f"mysql_perf_schema_events_statements_{metric}"
    return f'sum(rate({name}{{digest="{statement.key.digest}"}}[15s]))'


def labels_of(statement: Statement, route: RouteCost | None = None) -> dict[str, str]:
    about = {"schema": statement.key.schema, "digest": statement.key.digest}
    return about if route is None else {"route": route.totals.key.name, **about}


def repeated(cost: Cost) -> list[tuple[RouteCost, StatementCost, Share]]:
    """Statements that one route asks again and again in each request, the dearest first."""
    of = {one.statement.key: one for one in cost.statements}
    found = [
        (route, of[key], share)
        for route in cost.routes
        for key, share in route.of_statement.items()
        if is_repeated(share) and key in of
    ]
    return sorted(found, key=lambda one: -one[2].total_seconds)


def longest_holder(window: Window) -> RouteCost | None:
    """The route whose statements take most of the database's time; None where none takes a fifth of it."""
    cost = window.cost
    if cost is None or cost.reason is not None or not cost.routes:
        return None
    first = max(cost.routes, key=lambda one: one.total_seconds)
    return first if share_of(cost, first.total_seconds) >= LEAST_SHARE else None


def largest_sender(window: Window) -> tuple[RouteCost, float] | None:
    """The route that sends most bytes, and its share of those of all routes; None where nobody counted."""
    sent = [] if window.cost is None else [one for one in window.cost.routes if one.totals.sent_bytes]
    whole_bytes = sum(one.totals.sent_bytes or 0.0 for one in sent)
    if whole_bytes <= 0:
        return None
    first = max(sent, key=lambda one: one.totals.sent_bytes or 0.0)
    return first, (first.totals.sent_bytes or 0.0) / whole_bytes


LEAST_REQUESTS = 200.0
"""In what a share is taken of: fewer tell nothing of a mix."""


def total_requests(cost: Cost) -> float:
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
