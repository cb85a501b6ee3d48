"""Writes the series that rules make into the store: those of recording rules, ALERTS and ALERTS_FOR_STATE.

Series that a rule no longer makes get a stale marker, as in Prometheus (rules/group.go). ALERTS are written when
something changes and every 15 s: 10,000 alerts that go on would otherwise be 20,000 samples a second of no news.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.alerting.alerts.evaluation.state import TrackedAlert
from loadwatch_backend.alerting.alerts.evaluation.watch_list import ALERTS, ALERTS_FOR_STATE
from loadwatch_backend.alerting.rules.contract import Recorded
from loadwatch_backend.alerting.rules.model import Rule
from loadwatch_backend.series.promql.labels import LabelKey, label_key
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Labels, Writer

STALE = np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0]
ALERTS_EVERY_MS = 15_000
WRITE_SECONDS = 30


@dataclass(slots=True)
class _Made:
    """What a rule last wrote: label sets by key."""

    series: Mapping[LabelKey, Labels] = field(default_factory=dict[LabelKey, Labels])
    at_ms: int = 0
    signature: object = None


class Recorder:
    """Keeps, by rule id, what was written last. A rule is written by one thread at a time."""

    def __init__(self, store: Writer) -> None:
        self._store = store
        self._made: dict[str, _Made] = {}

    def record(self, rule: Rule, recorded: Recorded, at_ms: int, *, wait: bool) -> None:
        """Write what a recording rule made; with `wait` it can be read when this returns.

        Raises:
            SeriesLimitError, StoreBusyError, StoreWriteError: the store.
        """
        self._write(rule.id, recorded.series, recorded.values, at_ms - rule.query_offset_ms, wait=wait)

    def show(self, rule: Rule, alerts: Sequence[TrackedAlert], at_ms: int) -> None:
        """Write ALERTS and ALERTS_FOR_STATE of an alerting rule, when there is news; raises as `record`."""
        made = self._made.get(rule.id)
        signature = tuple((alert.id, alert.state) for alert in alerts)
        if made is None and not alerts:
            return
        if made is not None and made.signature == signature and 0 <= at_ms - made.at_ms < ALERTS_EVERY_MS:
            return
        series: list[Labels] = []
        values: list[float] = []
        for alert in alerts:
            series.append({**alert.labels, "__name__": ALERTS, "alertstate": str(alert.state)})
            values.append(1.0)
            series.append({**alert.labels, "__name__": ALERTS_FOR_STATE})
            values.append(alert.held_from_ms / 1_000)
        self._write(rule.id, series, values, at_ms, wait=False)
        self._made[rule.id].signature = signature

    def keep_only(self, rule_ids: frozenset[str], at_ms: int) -> None:
        """End the series of rules that are gone."""
        for rule_id in self._made.keys() - rule_ids:
            self._write(rule_id, (), (), at_ms, wait=False)
            del self._made[rule_id]

    def forget(self) -> None:
        """Another server writes from now on: its series must not be ended."""
        self._made.clear()

    def _write(
        self, rule_id: str, series: Sequence[Labels], values: Sequence[float], at_ms: int, *, wait: bool
    ) -> None:
        former = self._made.get(rule_id, _Made()).series
        made = {label_key(labels): labels for labels in series}
        ended = [labels for key, labels in former.items() if key not in made]
        if made or ended:
            ids = self._store.resolve([*series, *ended])
            batch = Batch(
                series=ids,
                timestamps=np.full(len(ids), at_ms, np.int64),
                values=np.concatenate([np.asarray(values, np.float64), np.full(len(ended), STALE)]),
                own=True,
            )
            future = self._store.append(batch)
            if wait:
                future.result(timeout=WRITE_SECONDS)
        self._made[rule_id] = _Made(series=made, at_ms=at_ms)
