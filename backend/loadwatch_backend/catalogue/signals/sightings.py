"""A thing that several sources see, such as PostgreSQL by our collector and by postgres_exporter, is one thing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from loadwatch_backend.catalogue.signals.cadence import FACTS_LOOKBACK_MS
from loadwatch_backend.catalogue.signals.interval import IntervalDetector, any_tree_of, slowest
from loadwatch_backend.catalogue.signals.model import InfoJoin, Sighting
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.labels import label_key
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader

TARGET = InfoJoin(info="collector_target_info", on=("job", "instance"), take=("address",))
LOCAL = ("localhost", "127.0.0.1", "::1", "")


Seen = TypeVar("Seen", bound=Sighting)


class Sightings:
    def __init__(self, store: Reader, intervals: IntervalDetector, start_ms: int, end_ms: int) -> None:
        self._store = store
        self._intervals = intervals
        self._span_ms = start_ms, end_ms
        self._infos: dict[InfoJoin, Mapping[Sequence[str], Sequence[str]]] = {}

    def by_thing(self, sightings: Sequence[Seen]) -> list[list[Seen]]:
        """Sightings of each thing: first the source that counts, whose samples come most often. In order of those.

        Raises:
            ProblemError: of the store.
        """
        for one in sightings:
            joins = one.resource.entity.names if one.resource.entity else ()
            one.names = [name for join in joins for name in self._called(join, one.labels)]
            one.places = _places(one, self._called(TARGET, one.labels))
        things: list[list[Seen]] = []
        known: dict[object, list[list[Seen]]] = defaultdict(list)
        # Of several ports of a host, one without a port does not tell which it is.
        for one in sorted(sightings, key=lambda one: not any(port for _, port in one.places)):
            own = (one.resource.id, label_key(one.labels))
            rest = (one.resource.id, label_key(_own(one)))
            keys = {key for host, port in one.places for key in ((rest, host), (rest, host, port))}
            # Only what may be the same is compared: a host may have a thousand pools or ports.
            asked = {
                key
                for host, port in one.places
                for key in (((rest, host, port), (rest, host, "")) if port else ((rest, host),))
            }
            near = {id(thing): thing for key in asked for thing in known[key] if _is_same(thing[0], one)}
            alike = known[own] or list(near.values())
            if len(alike) == 1:
                alike[0].append(one)
                continue
            thing = [one]
            things.append(thing)
            for key in (own, *keys):
                known[key].append(thing)
        for thing in things:
            if len(thing) > 1:
                for one in thing:
                    self._measure(one)
                thing.sort(key=lambda one: (one.sparse, one.interval_ms))
        places = {id(one): place for place, one in enumerate(sightings)}
        return sorted(things, key=lambda thing: places[id(thing[0])])

    def _measure(self, one: Sighting) -> None:
        """Measure the source by itself: of the whole expression, the slowest source would tell for all."""
        if one.resource.cadence is not None:
            return
        own = [Matcher(name, MatchOperator.EQUAL, text) for name, text in one.labels.items()]
        with suppress(ProblemError):
            found = [
                slowest(self._intervals.detect(any_tree_of(text), *self._span_ms, own)) for text in one.resource.use
            ]
            one.interval_ms = next((each for each in found if each), one.interval_ms)

    def _called(self, join: InfoJoin, labels: Labels) -> Sequence[str]:
        if join not in self._infos:
            start_ms, end_ms = self._span_ms
            matcher = Matcher("__name__", MatchOperator.EQUAL, join.info)
            names: dict[Sequence[str], dict[str, None]] = defaultdict(dict)
            for info in self._store.series([[matcher]], max(start_ms - FACTS_LOOKBACK_MS, 0), end_ms):
                on = tuple(info.get(name, "") for name in join.on)
                names[on].update(dict.fromkeys(info[name] for name in join.take if info.get(name)))
            self._infos[join] = {on: list(one) for on, one in names.items()}
        return self._infos[join].get(tuple(labels.get(name, "") for name in join.on), ())


def _places(one: Sighting, addresses: Sequence[str]) -> frozenset[tuple[str, str]]:
    """What the target is called: host and port, the latter empty where it is not known; never this host itself.

    Programs of one host often share its name, and have pools and files of their own: they need a port.
    """
    found: set[tuple[str, str]] = set()
    is_program = one.resource.entity is None or one.resource.entity.kind in ("", "app")
    for name in (one.labels.get("instance", ""), *addresses, *one.names):
        host, _, port = name.lower().rpartition(":")
        host, port = (host, port) if host and port.isdecimal() else (name.lower(), "")
        if host.strip("[]") not in LOCAL and (port or not is_program):
            found.add((host, port))
    return frozenset(found)


def _is_same(one: Sighting, other: Sighting) -> bool:
    """Whether two that are equal but for their target share a name, and where both have a port, that too."""
    pairs = [(own, foreign) for host, own in one.places for name, foreign in other.places if host == name]
    ports = [own == foreign for own, foreign in pairs if own and foreign]
    return bool(pairs) and (any(ports) or not ports)


def _own(one: Sighting) -> Mapping[str, str]:
    by = ("job", "instance") if one.resource.entity is None else one.resource.entity.by
    return {name: text for name, text in one.labels.items() if name not in by}
