"""Names of routes: matching groups first, then shapes, then slugs, which are seen from many names only.

What was decided is kept: once `/posts` has more names below it than a person writes, whatever stands there is
`/posts/:slug`, also tomorrow and in the next file. The decisions are a document (`to_json`), which a collector keeps
and a comparison of two files shares.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from loadwatch_formats.access_logs.groups import MatchingGroups, is_value, without_values
from loadwatch_formats.access_logs.shapes import HASH, is_like_hash, shape_of, slug_of

OTHER = "other"
"""The route of what is beyond the bound."""
MOST_ROUTES = 500
SPREAD = 50
"""So many names below one place are routes; more of them are values."""
MOST_UNFOUND = 50
"""Routes of names that were never answered with anything but "not found": scanners ask for thousands."""
_KEPT_SHARE = 4 / SPREAD
"""A name with so much of a place's requests is a route, however many others there are: four times an even share."""
_TWIN_SHARE = 0.1
_MOST_DECISIONS = 2_000
_VERSION = 1
_QUERY = "?"

Names = list[tuple[tuple[str, ...], int]]


class RouteNames:
    """Gives routes their names, and learns.

    A caller counts under `candidate(path)`, which is pure between two calls of `settle`, and now and then gives all its
    counts to `settle`, which says what is to be renamed.

    Args:
        groups: expressions that name routes before anything else does.
        limit: routes; what comes later is `OTHER`.
    """

    def __init__(self, groups: MatchingGroups | None = None, limit: int = MOST_ROUTES) -> None:
        self._groups = groups or MatchingGroups()
        self._own = frozenset(self._groups.patterns)
        self._limit = limit
        self._kept: dict[str, frozenset[str]] = {}
        """Places whose names are slugs, each with the names there that are routes all the same."""
        self._hashes: set[str] = set()
        """Places below which hashes stand: a segment there that may be a hash by its form is one."""
        self._routes: set[str] = set()
        self._unfound: set[str] = set()
        """Those of the routes that were never answered with anything but "not found"."""

    @property
    def routes(self) -> frozenset[str]:
        return frozenset(self._routes)

    def candidate(self, path: str) -> str:
        """The name of a path by what was decided so far; the bound of routes is for `settle`."""
        found = self._groups.find(path)
        if found is not None:
            return found
        shape = shape_of(path)
        kept = self._groups.kept.query_of(path) if shape.startswith("/") else ""
        return self._decided(shape + kept)

    def route(self, path: str) -> str:
        """The name of a path once its counts are settled: that of a known route, else `OTHER`."""
        name = self.candidate(path)
        return name if name in self._routes else OTHER

    def settle(self, counts: Mapping[str, int], unfound: Collection[str] = ()) -> dict[str, str]:
        """Learn from requests by name, and say which names are new: {old: new}, only what changed.

        Args:
            counts: requests by name, from `candidate` or from an earlier call, of as long as the caller has counted.
            unfound: those whose requests were all answered with 404 or the like. Nothing is learnt from them, and few
                are admitted: a scanner asks for thousands of names, beside which `/login` must stay.
        """
        names = {name: self._settled(name) for name in counts}
        found = defaultdict(int, dict.fromkeys(self._routes - self._unfound, 0))
        for name, count in counts.items():
            if name not in unfound:
                found[names[name]] += count
        paths = [(name, count) for name, count in found.items() if name.startswith("/") and name not in self._own]
        self._learn("", [(_segments(name), count) for name, count in paths])
        names = {name: self._settled(now) for name, now in names.items()}
        totals: defaultdict[str, int] = defaultdict(int)
        for name, count in counts.items():
            totals[names[name]] += count
        self._admit(totals, {names[name] for name in counts if name not in unfound})
        answers = ((name, now if now in self._routes else OTHER) for name, now in names.items())
        return {name: now for name, now in answers if now != name}

    def adopt(self, document: Mapping[str, Any]) -> None:
        """Take over what another has decided of the same log, but for its routes: `settle` comes after it.

        Where both have decided, a name stays among slugs only if both kept it.

        Raises:
            ValueError: it is no such document.
        """
        other = RouteNames.from_json(document, self._groups)
        for place, kept in other._kept.items():
            self._kept[place] = self._kept.get(place, kept) & kept
        self._hashes |= other._hashes

    def to_json(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "slugs": {place: sorted(kept) for place, kept in sorted(self._kept.items())},
            "hashes": sorted(self._hashes),
            "routes": sorted(self._routes - self._unfound),
            "unfound": sorted(self._unfound),
        }

    @classmethod
    def from_json(
        cls, document: Mapping[str, Any], groups: MatchingGroups | None = None, limit: int = MOST_ROUTES
    ) -> Self:
        """Go on from what was decided before.

        Raises:
            ValueError: it is no such document.
        """
        names = cls(groups, limit)
        try:
            if document["version"] != _VERSION:
                raise ValueError(f"version {document['version']!r} is not {_VERSION}")
            slugs = sorted(dict(document["slugs"]).items())[:_MOST_DECISIONS]
            names._kept = {_text(place): frozenset(map(_text, kept)) for place, kept in slugs}
            names._hashes = {_text(place) for place in list(document["hashes"])[:_MOST_DECISIONS]}
            known, unfound = ([_text(route) for route in document[part]] for part in ("routes", "unfound"))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"no decisions on routes: {error}") from None
        # A matching group that is gone names nothing any more.
        there = [route for route in (*known, *unfound) if route[:1] in ("/", "*", "-") or route in names._own]
        names._routes = set(there[:limit])
        names._unfound = names._routes & set(unfound)
        return names

    def _settled(self, name: str) -> str:
        return name if name in self._own or name == OTHER else self._decided(name)

    def _decided(self, shape: str) -> str:
        if not (self._kept or self._hashes) or not shape.startswith("/"):
            return shape
        place, parts = "", list[str]()
        for segment in _segments(shape):
            now = self._segment(place, segment)
            parts.append(now)
            place = f"{place}/{now}"
        return _joined(parts)

    def _segment(self, place: str, segment: str) -> str:
        if place in self._hashes and is_like_hash(segment):
            return HASH
        kept = self._kept.get(place)
        if kept is None or segment in kept or not _is_literal(place, segment):
            return segment
        return without_values(segment) if _is_query(place) else slug_of(segment)

    def _learn(self, place: str, names: Names) -> None:
        below: defaultdict[str, Names] = defaultdict(list)
        for segments, count in names:
            below[segments[0]].append((segments[1:], count))
        weights = {segment: sum(count for _, count in rest) for segment, rest in below.items()}
        decided = len(self._kept) + len(self._hashes) < _MOST_DECISIONS and (
            self._decide_hashes(place, weights) | self._decide_slugs(place, weights)
        )
        if decided:
            renamed: defaultdict[str, Names] = defaultdict(list)
            for segment, rest in below.items():
                renamed[self._segment(place, segment)] += rest
            below = renamed
        for segment, rest in below.items():
            deeper = [(segments, count) for segments, count in rest if segments]
            if deeper:
                self._learn(f"{place}/{segment}", _summed(deeper) if decided else deeper)

    def _decide_hashes(self, place: str, weights: Mapping[str, int]) -> bool:
        most = weights.get(HASH, 0) * _TWIN_SHARE
        if place in self._hashes or not any(0 < weights[one] <= most for one in weights if is_like_hash(one)):
            return False
        if any(weights[one] > most for one in weights if is_like_hash(one)):
            return False
        self._hashes.add(place)
        return True

    def _decide_slugs(self, place: str, weights: Mapping[str, int]) -> bool:
        literals = {segment: count for segment, count in weights.items() if _is_literal(place, segment)}
        if place in self._kept or len(literals) <= SPREAD:
            return False
        enough = max(sum(literals.values()) * _KEPT_SHARE, 2)
        kept = frozenset(segment for segment, count in literals.items() if count > enough)
        self._kept[place] = kept
        # What was decided below one of the names holds below the slug.
        for known in [known for known in (*self._kept, *self._hashes) if known.startswith(f"{place}/")]:
            segment, _, rest = known[len(place) + 1 :].partition("/")
            if (now := self._segment(place, segment)) == segment:
                continue
            moved = f"{place}/{now}" + (f"/{rest}" if rest else "")
            if known in self._kept:
                self._kept[moved] = self._kept.get(moved, frozenset()) | self._kept.pop(known)
            if known in self._hashes:
                self._hashes.remove(known)
                self._hashes.add(moved)
        return True

    def _admit(self, totals: Mapping[str, int], found: Collection[str]) -> None:
        unfound = {self._settled(route) for route in self._unfound}.difference(found)
        self._routes = {self._settled(route) for route in self._routes} | (self._own & totals.keys())
        self._unfound = unfound & self._routes
        new = [name for name in totals if name not in self._routes and name != OTHER]
        new.sort(key=lambda name: (-totals[name], name))
        room = max(0, self._limit - len(self._routes))
        self._routes.update([name for name in new if name in found][:room])
        room = max(0, min(self._limit - len(self._routes), MOST_UNFOUND - len(self._unfound)))
        admitted = [name for name in new if name not in found][:room]
        self._routes.update(admitted)
        self._unfound.update(admitted)


def _segments(name: str) -> tuple[str, ...]:
    """Return the path's segments, then `?` and the kept query, so that the query is learnt apart."""
    path, mark, query = name[1:].partition(_QUERY)
    return (*path.split("/"), mark, query) if mark else tuple(path.split("/"))


def _joined(segments: Sequence[str]) -> str:
    if segments[-2:-1] == [_QUERY]:
        return "/" + "/".join(segments[:-2]) + _QUERY + segments[-1]
    return "/" + "/".join(segments)


def _is_query(place: str) -> bool:
    return place.endswith("/" + _QUERY)


def _is_literal(place: str, segment: str) -> bool:
    if _is_query(place):
        return is_value(segment)
    # The empty segment is the end of `/users/`; `*` stands for what is too deep.
    return segment not in ("", "*", "@:slug", _QUERY) and not segment.startswith(":")


def _summed(names: Iterable[tuple[Sequence[str], int]]) -> Names:
    sums: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for segments, count in names:
        sums[tuple(segments)] += count
    return list(sums.items())


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 4_096:
        raise ValueError(f"{str(value)[:50]!r} is no name")
    return value
