"""Writes what an evaluation changed: episodes, their changes, and what is to be sent, in one transaction."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from loadwatch_backend.alerting.alerts.evaluation.explain import Step, TrackedAlert
from loadwatch_backend.alerting.alerts.evaluation.machine import shift_alert, shift_timers
from loadwatch_backend.alerting.alerts.history.episodes import (
    RuleFacts,
    changing_values,
    episode_values,
    kept_annotations,
    note_values,
    notified_alert,
    notified_annotations,
    to_json,
    tracked_alert,
    transition_values,
    words_of,
)
from loadwatch_backend.alerting.alerts.history.incidents import join, keys_of
from loadwatch_backend.alerting.alerts.history.repository import (
    Request,
    find_acknowledged,
    find_open,
    find_requests,
    find_returning,
    find_under_way,
    last_evaluation,
    note_evaluation,
    prune,
    read_swings,
    updates_of,
    withdraw,
    write_episodes,
    write_joining,
)
from loadwatch_backend.alerting.alerts.links import alert_path
from loadwatch_backend.alerting.alerts.ports import Dispatch, Lead
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.rules.model import SourceKey
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.faults import fault

HISTORY_MS = 400 * 86_400_000
JOINED = "joined"
"""Reason of the change at which an alert joins an incident that somebody has acknowledged."""
UNFIRED_MS = 86_400_000
"""Age at which alerts that were only ever pending are deleted: they are what `for` is there to keep quiet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    facts: RuleFacts
    step: Step
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    alerts: Mapping[str, Sequence[tuple[RuleFacts, TrackedAlert]]]
    """Open episodes, by rule id."""
    swings: Mapping[str, Mapping[SourceKey, tuple[int, ...]]]
    evaluated_ms: int | None
    """When rules were last evaluated by any server."""


class Journal:
    def __init__(
        self,
        relational: Relational,
        lead: Lead,
        dispatch: Dispatch,
        external_url: str,
        *,
        history_ms: int = HISTORY_MS,
        wake_notifier: Callable[[], None] = lambda: None,
    ) -> None:
        """Alerts are kept for `history_ms`; `wake_notifier` is called after transactions that gave receivers news."""
        self._history_ms = history_ms
        self._relational = relational
        self._lead = lead
        self._dispatch = dispatch
        self._external_url = external_url.rstrip("/")
        self._wake_notifier = wake_notifier
        self._joins = threading.Lock()
        """Two workers must not begin two incidents of one cause."""

    def write(self, entries: Sequence[Entry], now_ms: int) -> None:
        """All changes of a round of evaluations.

        Raises:
            LeadershipLostError: another server leads; nothing was written.
            DatabaseError: the database; whether it was written is not known.
        """
        news = [self.notified(one.alert) for entry in entries for one in entry.step.transitions if one.notifies]
        notified = {one.key for one in news}
        unbound = [one for entry in entries for one in entry.step.unbound]
        moved = [one for one in unbound if one.state is AlertState.FIRING and one.id not in notified]
        joins = {
            one.id: one
            for entry in entries
            for one in (*(change.alert for change in entry.step.transitions if change.notifies), *entry.step.explained)
            if one.state is AlertState.FIRING and keys_of(one)
        }
        explained = {
            alert.id: notified_annotations(kept_annotations(alert))
            for entry in entries
            for alert in entry.step.changed
            if alert.finding and alert.state is AlertState.FIRING and alert.id not in notified
        }
        # Everything is worked out before the transaction: on SQLite nobody else writes while it is open.
        begun, going = _sorted_episodes(entries, now_ms)
        changes = [transition_values(one, entry.actor) for entry in entries for one in entry.step.transitions]
        updates = updates_of(going, lambda alert: {**changing_values(alert, now_ms), **_texts_of(alert)})
        with self._joins if joins else nullcontext(), self._relational.transaction() as session:
            self._lead.check(session)
            write_episodes(session, begun, updates, changes)
            write_episodes(session, changed=updates_of(unbound, lambda alert: {"labels": to_json(alert.labels)}))
            note_evaluation(session, now_ms)
            if joins:
                news = self._join(session, joins, news, now_ms)
            seen = find_acknowledged(session, [one.id for one in moved])
            news += [self.notified(one, acknowledged=one.id in seen) for one in moved]
            if news:
                self._dispatch.take(session, news, now_ms)
            if explained:
                self._dispatch.annotate(session, explained)
            fault("transition-before-commit")
        fault("transition-after-commit")
        if news:
            self._wake_notifier()

    def _join(
        self, session: Session, joins: Mapping[str, TrackedAlert], news: Sequence[NotifiedAlert], now_ms: int
    ) -> list[NotifiedAlert]:
        """Put alerts into their incidents; the news, with those that come back to an incident that is acknowledged."""
        keys = sorted({key for alert in joins.values() for key in keys_of(alert)})
        joining = join(joins.values(), find_under_way(session, keys), now_ms)
        for id in joining.acknowledged.keys() - find_returning(session, joining):
            del joining.acknowledged[id]
        write_joining(session, joining)
        seen = joining.acknowledged
        said = [note_values(joins[id], now_ms, JOINED, given.by) for id, given in seen.items()]
        write_episodes(session, transitions=said)
        others = [one for one in news if one.key not in seen]
        return [*others, *(self.notified(joins[id], acknowledged=True) for id in seen)]

    def notified(self, alert: TrackedAlert, *, acknowledged: bool = False) -> NotifiedAlert:
        return notified_alert(alert, self._external_url + alert_path(alert.id), acknowledged=acknowledged)

    def load(self, now_ms: int, window_ms: int) -> Remembered:
        """Read open episodes, and count the time since the last evaluation for no duration.

        What was open when nobody evaluated is as it was: that time is added to what durations count from. Of a last
        evaluation in the future the clock was set back meanwhile, at least by that.

        Raises:
            LeadershipLostError, DatabaseError
        """
        with self._relational.transaction() as session:
            self._lead.check(session)
            evaluated_ms = last_evaluation(session)
            pause_ms = 0 if evaluated_ms is None else now_ms - evaluated_ms
            alerts: dict[str, list[tuple[RuleFacts, TrackedAlert]]] = {}
            moved: list[TrackedAlert] = []
            for row in find_open(session):
                alert = tracked_alert(row)
                if pause_ms:
                    alert = shift_timers(alert, pause_ms) if pause_ms > 0 else shift_alert(alert, pause_ms)
                    moved.append(alert)
                alerts.setdefault(row.rule_id, []).append((RuleFacts.from_json(row.rule), alert))
            write_episodes(session, changed=updates_of(moved, _times_of))
            note_evaluation(session, now_ms)
            swings = read_swings(session, min(now_ms, evaluated_ms or now_ms) - window_ms)
        return Remembered(alerts=alerts, swings=swings, evaluated_ms=evaluated_ms)

    def move(self, alerts: Iterable[TrackedAlert], now_ms: int) -> None:
        """The clock was set: write the moved times; raises as `write`."""
        updates = updates_of(list(alerts), _times_of)
        with self._relational.transaction() as session:
            self._lead.check(session)
            write_episodes(session, changed=updates)
            note_evaluation(session, now_ms)

    def beat(self, now_ms: int) -> Sequence[Request]:
        """Note that rules are being evaluated, and read what people ask for; raises as `write`."""
        with self._relational.transaction() as session:
            self._relational.pass_over(session)
            self._lead.check(session)
            note_evaluation(session, now_ms)
            return find_requests(session)

    def settle(self, request: Request) -> None:
        with self._relational.transaction() as session:
            withdraw(session, request.id)

    def prune(self, now_ms: int) -> int:
        """Delete some of what is too old to be kept; returns how many, 0 when there is no more; raises as `write`."""
        with self._relational.transaction() as session:
            self._lead.check(session)
            return prune(session, now_ms - self._history_ms, now_ms - UNFIRED_MS)


def _sorted_episodes(entries: Sequence[Entry], now_ms: int) -> tuple[list[dict[str, Any]], list[TrackedAlert]]:
    new = {one.alert.id for entry in entries for one in entry.step.transitions if one.before is None}
    changed = [(entry.facts, alert) for entry in entries for alert in entry.step.changed]
    begun = [episode_values(facts, alert, now_ms) for facts, alert in changed if alert.id in new]
    return begun, [alert for _, alert in changed if alert.id not in new]


def _texts_of(alert: TrackedAlert) -> dict[str, Any]:
    annotations = kept_annotations(alert)
    return {"annotations": to_json(annotations), "words": words_of(alert.labels, annotations)}


def _times_of(alert: TrackedAlert) -> dict[str, Any]:
    names = ("active_ms", "held_from_ms", "fired_ms", "false_since_ms", "swung_ms", "no_data_since_ms")
    return {name: getattr(alert, name) for name in names}
