"""Readings that say the same become one rung; a measurement that says otherwise overrules what is written. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set

from loadwatch_backend.findings.timeouts.readings import KINDS, Layer, Origin, Rung, Said, TimeoutKey, TimeoutReading

TOLERANCE_SECONDS = 1.0
TOLERANCE_RATIO = 0.05
"""A measurement this near to a written value confirms it: servers look at their timers now and then only."""

PLACES = tuple(TimeoutKey(layer, kind) for layer in Layer for kind in KINDS[layer])
"""All timeouts in the order of the page."""


def build_rungs(readings: Iterable[TimeoutReading]) -> tuple[Rung, ...]:
    """Rungs in the order of the path, the shorter first within one timeout."""
    given = list(readings)
    return tuple(
        rung for place in PLACES for rung in _rungs_of(place, [reading for reading in given if reading.place == place])
    )


def confirms(probe: TimeoutReading, seconds: float) -> bool:
    """Whether a measurement agrees with a written value."""
    if probe.at_least:
        return seconds > probe.seconds - TOLERANCE_SECONDS
    if math.isinf(seconds):
        return False
    return abs(probe.seconds - seconds) <= max(TOLERANCE_SECONDS, TOLERANCE_RATIO * seconds)


def _rungs_of(place: TimeoutKey, readings: Sequence[TimeoutReading]) -> list[Rung]:
    written: dict[float, list[TimeoutReading]] = defaultdict(list)
    for reading in readings:
        if reading.origin is not Origin.PROBE:
            written[reading.seconds].append(reading)
    alone: dict[tuple[float, bool], list[TimeoutReading]] = defaultdict(list)
    for probe in readings:
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
    place: TimeoutKey,
    seconds: float,
    group: Sequence[TimeoutReading],
    *,
    at_least: bool = False,
    overruled_by: Set[str] = frozenset(),
) -> Rung:
    names = {reading.name for reading in group}
    # A probe of a balancer carries the name of the target that asked, not the balancer's.
    overruled = bool(overruled_by) and (names <= overruled_by or place.layer is Layer.LOAD_BALANCER)
    said = sorted({(reading.origin, reading.field) for reading in group})
    return Rung(
        id=f"{place.layer}.{place.kind}.{'over.' if at_least else ''}{seconds:g}",
        place=place,
        seconds=seconds,
        at_least=at_least,
        in_force=not overruled,
        said=tuple(Said(origin=origin, field=field) for origin, field in said),
        names=tuple(sorted(names - {""})),
        last_ms=max(reading.last_ms for reading in group),
    )


def _round(seconds: float) -> float:
    """To three significant digits."""
    return float(f"{seconds:.3g}")
