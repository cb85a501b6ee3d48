"""Facts that say the same become one rung; a measurement that says otherwise overrules what is written. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set

from loadwatch_backend.timeouts.model import KINDS, Fact, Layer, Origin, Place, Rung, Said

TOLERANCE_SECONDS = 1.0
TOLERANCE_RATIO = 0.05
"""A measurement this near to a written value confirms it: servers look at their timers now and then only."""

PLACES = tuple(Place(layer, kind) for layer in Layer for kind in KINDS[layer])
"""All timeouts in the order of the page."""


def build_rungs(facts: Iterable[Fact]) -> tuple[Rung, ...]:
    """Rungs in the order of the path, the shorter first within one timeout."""
    given = list(facts)
    return tuple(rung for place in PLACES for rung in _rungs_of(place, [fact for fact in given if fact.place == place]))


def confirms(probe: Fact, seconds: float) -> bool:
    """Whether a measurement agrees with a written value."""
    if probe.at_least:
        return seconds > probe.seconds - TOLERANCE_SECONDS
    if math.isinf(seconds):
        return False
    return abs(probe.seconds - seconds) <= max(TOLERANCE_SECONDS, TOLERANCE_RATIO * seconds)


def _rungs_of(place: Place, facts: Sequence[Fact]) -> list[Rung]:
    written: dict[float, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.origin is not Origin.PROBE:
            written[fact.seconds].append(fact)
    alone: dict[tuple[float, bool], list[Fact]] = defaultdict(list)
    for probe in facts:
        if probe.origin is Origin.PROBE:
            agreeing = next((seconds for seconds in sorted(written) if confirms(probe, seconds)), None)
            if agreeing is None:
                # Measurements of ten instances differ by milliseconds; to three digits they are one value.
                alone[_round(probe.seconds), probe.at_least].append(probe)
            else:
                written[agreeing].append(probe)
    measured = {probe.name for probes in alone.values() for probe in probes}
    rungs = [
        *(_rung(place, seconds, group, overruled_by=measured) for seconds, group in written.items()),
        *(_rung(place, seconds, group, at_least=at_least) for (seconds, at_least), group in alone.items()),
    ]
    return sorted(rungs, key=lambda rung: (rung.seconds, rung.at_least))


def _rung(
    place: Place, seconds: float, group: Sequence[Fact], *, at_least: bool = False, overruled_by: Set[str] = frozenset()
) -> Rung:
    names = {fact.name for fact in group}
    # A probe of a balancer carries the name of the target that asked, not the balancer's.
    overruled = bool(overruled_by) and (names <= overruled_by or place.layer is Layer.LOAD_BALANCER)
    said = sorted({(fact.origin, fact.field) for fact in group})
    return Rung(
        id=f"{place.layer}.{place.kind}.{'over.' if at_least else ''}{seconds:g}",
        place=place,
        seconds=seconds,
        at_least=at_least,
        in_force=not overruled,
        said=tuple(Said(origin=origin, field=field) for origin, field in said),
        names=tuple(sorted(names - {""})),
        last_ms=max(fact.last_ms for fact in group),
    )


def _round(seconds: float) -> float:
    """To three significant digits."""
    return float(f"{seconds:.3g}")
