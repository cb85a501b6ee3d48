"""A thing that several sources see has one alert, though its rule finds a series of each."""

from collections.abc import Callable
from dataclasses import replace

from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates
from loadwatch_backend.alerting.rules.contract import RuleResult
from loadwatch_backend.alerting.rules.model import Rule
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.interval import IntervalDetector
from loadwatch_backend.catalogue.signals.model import Sighting
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.series.promql.labels import label_key
from loadwatch_backend.series.store.port import Reader

SEEN_MS = 60_000
"""How far back samples tell which source is the faster one."""


def one_alert_of(
    store: Reader, clock: Clock, library: Library
) -> Callable[[Rule, RuleStates, RuleResult, int], RuleResult]:
    """For `Machine.merge`: the source that counts says whether the condition holds, and an open alert stays itself."""
    intervals = IntervalDetector(store, clock)

    def merge(rule: Rule, before: RuleStates, result: RuleResult, at_ms: int) -> RuleResult:
        resource = library.current().by_alert.get(rule.name)
        if resource is None or result.present is None or not (result.active or before.alerts):
            return result
        active = {label_key(one.source): one for one in result.active}
        present = active.keys() | set(result.present)
        keys = dict.fromkeys((*before.alerts, *sorted(present)))
        things = Sightings(store, intervals, at_ms - SEEN_MS, at_ms).by_thing(
            [Sighting(resource=resource, labels=dict(key)) for key in keys] if len(keys) > 1 else []
        )
        for thing in things:
            sources = [label_key(one.labels) for one in thing]
            counting = next((key for key in sources if key in present), None)
            if len(sources) < 2 or counting is None:
                continue
            own = next((key for key in sources if key in before.alerts), counting)
            holds = active.get(counting)
            active = {key: one for key, one in active.items() if key not in sources}
            present |= {own}
            if holds is not None:
                active[own] = replace(holds, source=dict(own))
        return RuleResult(active=list(active.values()), present=present)

    return merge
