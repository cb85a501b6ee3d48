"""One name for one route: what one source learnt to be `/posts/:slug`, another may still count post by post. Pure.

Whoever counts requests by route learns by itself where names are values: each host, each import, a run and its
baseline. Where any of them has the placeholder, literals in its place are the same route, but for those that a source
with the placeholder keeps apart, since they have so much of its requests (`access_logs.routes`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from loadwatch_formats.access_logs.routes import SPREAD
from loadwatch_formats.access_logs.shapes import SLUG, slug_of

from loadwatch_backend.evidence.records.model import FloatArray


@dataclass(frozen=True, slots=True, order=True)
class RouteKey:
    method: str
    route: str

    @property
    def name(self) -> str:
        """As people write it: GET /users/:id."""
        return f"{self.method} {self.route}".strip()


OTHER_ROUTES = RouteKey("", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Names under which somebody counts requests by route; `seconds` and `sent_bytes` may not be there."""

    count: str
    seconds: str
    sent_bytes: str = ""
    route: str = "route"
    method: str = "method"
    code: str = "code"

    def job_of(self, labels: Mapping[str, str]) -> str | None:
        """Who counted a series; None of those that name no route."""
        return labels.get("job", "") if labels.get(self.route) else None


REQUESTS: Sequence[Requests] = (
    Requests(
        count="http_requests_total", seconds="http_request_duration_seconds_sum", sent_bytes="http_response_bytes_total"
    ),
    Requests(
        count="http_server_request_duration_seconds_count",
        seconds="http_server_request_duration_seconds_sum",
        route="http_route",
        method="http_request_method",
        code="http_response_status_code",
    ),
    Requests(count="http_request_duration_seconds_count", seconds="http_request_duration_seconds_sum"),
)
"""The first that is there is read: from access logs, by OpenTelemetry, and as many a library has it."""


def busiest_job(by_job: Mapping[str | None, FloatArray]) -> str | None:
    """Of several that count the same requests, as a proxy and the application behind it, the one that counted most."""
    counts = {job: float(values.sum()) for job, values in by_job.items() if job is not None}
    return max(sorted(counts), key=lambda job: counts[job], default=None)


KEPT_SHARE = 4 / SPREAD
"""A name with a larger share of a placeholder's requests stays a route of its own."""
Value = TypeVar("Value")


def folds(sources: Sequence[Mapping[RouteKey, float]]) -> dict[RouteKey, RouteKey]:
    """Which route each literal belongs to, by the requests of several sources by route; only what changes."""
    patterns: defaultdict[tuple[str, int], list[RouteKey]] = defaultdict(list)
    for key in sorted({key for source in sources for key in source}):
        if SLUG in key.route:
            patterns[_shape(key)].append(key)
    if not patterns:
        return {}
    found: dict[RouteKey, RouteKey] = {}
    for key in {key for source in sources for key in source if SLUG not in key.route}:
        for pattern in patterns.get(_shape(key), ()):
            if _covers(pattern.route, key.route):
                found[key] = pattern
                break
    kept = {
        key
        for source in sources
        for key, pattern in found.items()
        if pattern in source and _is_kept(key, source, found)
    }
    return {key: pattern for key, pattern in found.items() if key not in kept}


def folded(
    by: Mapping[RouteKey, Value], of: Mapping[RouteKey, RouteKey], add: Callable[[Value, Value], Value]
) -> dict[RouteKey, Value]:
    found: dict[RouteKey, Value] = {}
    for key, value in by.items():
        name = of.get(key, key)
        found[name] = add(found[name], value) if name in found else value
    return found


def by_source(
    labels: Iterable[Mapping[str, str]], totals: Iterable[float], key_of: Callable[[Mapping[str, str]], RouteKey | None]
) -> list[dict[RouteKey, float]]:
    """Requests by route of each instance, out of series and what each of them counted."""
    found: defaultdict[str, defaultdict[RouteKey, float]] = defaultdict(lambda: defaultdict(float))
    for one, total in zip(labels, totals, strict=True):
        key = key_of(one)
        if key is not None:
            found[one.get("instance", "")][key] += total
    return [dict(source) for source in found.values()]


def _is_kept(key: RouteKey, source: Mapping[RouteKey, float], found: Mapping[RouteKey, RouteKey]) -> bool:
    pattern = found[key]
    whole = source[pattern] + sum(count for one, count in source.items() if found.get(one) == pattern)
    return source.get(key, 0.0) > KEPT_SHARE * whole


def _shape(key: RouteKey) -> tuple[str, int]:
    return key.method, key.route.count("/")


def _covers(pattern: str, literal: str) -> bool:
    """Whether the pattern is the literal with slugs in the place of names."""
    parts = zip(pattern.split("/"), literal.split("/"), strict=True)
    return all(
        place == name or (SLUG in place and bool(name) and not name.startswith((":", "*")) and slug_of(name) == place)
        for place, name in parts
    )
