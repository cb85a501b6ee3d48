"""What counts lines needs of names: a cache of paths, requests by name, and settling when there are new names."""

from collections import Counter
from typing import Any, Self

from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.routes import OTHER, RouteNames
from loadwatch_formats.access_logs.tally import METHODS, OTHER_METHOD

_MOST_CACHED = 20_000
_LONGEST_CACHED = 200


def method_label(method: str) -> str:
    """The method as a label: one of few."""
    called = method.upper() or "-"
    return called if called in METHODS else OTHER_METHOD


class Naming:
    """Names paths, and remembers by what they were named.

    Attributes:
        names: the decisions.
        waiting: names that came since the last `settle` and are no route yet.
    """

    def __init__(self, names: RouteNames) -> None:
        self.names = names
        self.waiting: set[str] = set()
        self._routes = names.routes
        self._totals: Counter[str] = Counter()
        self._found: set[str] = set()
        self._cache: dict[str, str] = {}

    def name(self, path: str) -> str:
        """The name of a path until the next `settle`."""
        name = self._cache.get(path)
        if name is None:
            name = self.names.candidate(path)
            if len(path) <= _LONGEST_CACHED:
                if len(self._cache) >= _MOST_CACHED:
                    self._cache.clear()
                self._cache[path] = name
        return name

    def note(self, name: str, count: int, *, found: bool) -> None:
        """So many requests had the name; `found` if any was answered with anything but `tally.NOT_FOUND`."""
        self._totals[name] += count
        if found:
            self._found.add(name)
        if name not in self._routes:
            self.waiting.add(name)

    def settle(self) -> dict[str, str]:
        """Names that are others now: what was counted under the first is to be counted under the second."""
        if not self.waiting:
            return {}
        self.waiting.clear()
        renamed = self.names.settle(self._totals, self._totals.keys() - self._found)
        self._routes = self.names.routes
        for old, new in renamed.items():
            self._totals[new] += self._totals.pop(old, 0)
            if old in self._found:
                self._found.discard(old)
                self._found.add(new)
        if any(new != OTHER for new in renamed.values()):
            self._cache.clear()
        return renamed

    def forget_counts(self) -> None:
        """Keep the decisions and nothing else."""
        self._totals.clear()
        self._found.clear()

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it."""
        return {"names": self.names.to_json(), "totals": dict(self._totals), "found": sorted(self._found)}

    @classmethod
    def from_json(cls, document: Any, groups: MatchingGroups, limit: int) -> Self:
        """What `to_json` gave.

        Raises:
            ValueError: it is nothing of the kind.
        """
        try:
            naming = cls(RouteNames.from_json(document["names"], groups, limit))
            naming._totals = Counter({str(name): int(count) for name, count in document["totals"].items()})
            naming._found = {str(name) for name in document["found"]}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no names of routes: {error}") from error
        return naming
