"""One name for one route: what one source learnt to be `/posts/:slug`, another may still count post by post. Pure.

Whoever counts requests by route learns by itself where names are values: each host, each import, a run and its
baseline. Where any of them has the placeholder, literals in its place are the same route, but for those that a source
with the placeholder keeps apart, since they have so much of its requests (`access_logs.routes`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from loadwatch_formats.access_logs.routes import SPREAD
from loadwatch_formats.access_logs.shapes import SLUG, slug_of

from loadwatch_backend.evidence.route_names import RouteKey

KEPT_SHARE = 4 / SPREAD
"""A name with more of a place's requests is a route of its own: as whoever learnt the placeholder decides."""
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
    """Values by route, each under the name of `folds`; those of one name added up."""
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
