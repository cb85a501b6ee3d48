"""The dispatcher: alerts that changed come in, deliveries go out, grouped as Alertmanager groups them.

All state is in the database. What takes alerts in is the transaction that changes their state, and what sends is the
outbox, written in the same transaction as the note that it was sent: a kill loses nothing and repeats nothing.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from loadwatch_backend.alerting.notify.file.configuration import ConfigurationFile
from loadwatch_backend.alerting.notify.file.model import Configuration, Route
from loadwatch_backend.alerting.notify.groups import repository as repository
from loadwatch_backend.alerting.notify.groups.flush import LATEST_MS, Changes, Flush, notified_ids
from loadwatch_backend.alerting.notify.groups.groups import members_of, next_tick
from loadwatch_backend.alerting.notify.groups.repository import Group, KeptAlert
from loadwatch_backend.alerting.notify.model import Envelope, Notice, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey
from loadwatch_backend.alerting.notify.outbox.outbox import Outbox, delivery_out
from loadwatch_backend.alerting.notify.outbox.repository import find_failing_integrations, find_of_alerts
from loadwatch_backend.alerting.notify.routing.holding import Holder, Holders
from loadwatch_backend.alerting.notify.routing.routing import (
    announce,
    fingerprint,
    group_key,
    group_labels,
    is_everybodys,
    muting_intervals,
    receiver_names,
    routes_of,
    short_hash,
)
from loadwatch_backend.alerting.notify.schemas import DeliveryOut, FollowsFromOut, Quiet
from loadwatch_backend.alerting.notify.silences.repository import forget_silences
from loadwatch_backend.core.database.relational import Relational, Session, Stillness
from loadwatch_backend.series.store.port import Labels

FLUSH_GROUPS = 500
"""Groups flushed in one transaction; others wait for the gate meanwhile."""
STILL_SECONDS = 10.0
"""How often the tables are queried while nobody writes and no group is due."""
CARE_MS = 3_600_000
"""Interval at which old silences and notifications are deleted."""

Fence = Callable[[Session], None]
"""Raises when this server does not lead any more; see store/leadership.py."""


def no_fence(session: Session) -> None:
    del session


class Dispatcher:
    def __init__(
        self,
        *,
        relational: Relational,
        file: ConfigurationFile,
        holders: Holders,
        outbox: Outbox,
        external_url: str,
        fence: Fence = no_fence,
    ) -> None:
        self._relational = relational
        self._file = file
        self._holders = holders
        self._outbox = outbox
        self._external_url = external_url
        self._fence = fence
        self._cared_ms: int | None = None
        self._still = Stillness(relational, STILL_SECONDS)
        self._queried: tuple[str, int, int | None] = ("", 0, None)
        """Of the last query: digest of the configuration, its time, and when the next group is due."""

    # In ---------------------------------------------------------------------------------------------------------------

    def take(self, session: Session, alerts: Sequence[NotifiedAlert], now_ms: int) -> None:
        """Alerts that began to fire, resolved, or were acknowledged, within the transaction that says so."""
        if not alerts:
            return
        configuration = self._file.current
        gate = repository.pass_gate(session)
        if gate.routed_by != configuration.digest:
            # What follows is routed by a file that `flush` has not seen yet, and may never see.
            repository.set_routed_by(session, "")
        latest = {alert.key: alert for alert in alerts}
        known = repository.find_alerts(session, latest)
        # The end of an alert that was never handed over is no news.
        fresh = [
            KeptAlert(fingerprint(alert.identity), alert)
            for key, alert in latest.items()
            if key not in known and alert.firing
        ]
        # Fingerprint and labels must stay what receivers know; only that of a run may go.
        changed = [
            KeptAlert(before.fingerprint, replace(alert, labels=_kept_labels(before.alert.labels, alert.labels)))
            for alert, before in ((latest[key], before) for key, before in known.items())
        ]
        repository.write_alerts(session, [*fresh, *changed], known)
        token = repository.new_token(session)
        self._holders.follow(gate.token, token, [kept.alert for kept in (*fresh, *changed)])
        gate = gate._replace(token=token)

        places = ((kept, route) for kept in fresh for route in routes_of(configuration, kept.alert.labels))
        due = self._join(session, places, now_ms)
        moved = [kept for kept in changed if kept.alert.labels != known[kept.alert.key].alert.labels]
        due += self._move(session, configuration, moved, now_ms)
        memberships = repository.groups_of(session, known)
        stirred, touched = _sort_changes(known, changed, memberships)
        due += self._stir(session, configuration, stirred, now_ms)
        holder = self._holders.at(session, configuration, gate, now_ms, lock=True)
        if touched:
            groups = repository.find_groups(session, touched).values()
            self._write(session, self._acknowledge(session, configuration, list(groups), now_ms))
        for some in repository.chunks({group.id: group for group in due}.values()):
            self._write(session, self._flush_groups(session, configuration, holder, some, now_ms))

    def _join(self, session: Session, places: Iterable[tuple[KeptAlert, Route]], now_ms: int) -> list[Group]:
        """Put alerts into the groups of routes; those that are due now."""
        wanted: dict[str, Group] = {}
        routes: dict[str, Route] = {}
        members: list[tuple[str, str]] = []
        for kept, route in places:
            group = _new_group(route, kept.alert, now_ms)
            first = wanted.setdefault(group.id, group)
            if group.due_ms is not None and first.due_ms is not None and group.due_ms < first.due_ms:
                wanted[group.id] = group
            routes[group.id] = route
            members.append((group.id, kept.alert.key))
        existing = repository.find_groups(session, wanted)
        repository.add_groups(session, [group for id, group in wanted.items() if id not in existing])
        repository.add_members(session, members)
        moved = [_sooner(_stirred(group, routes[id], now_ms), wanted[id]) for id, group in existing.items()]
        repository.set_times(session, [group for group in moved if group != existing[group.id]])
        new = [group for id, group in wanted.items() if id not in existing]
        return [group for group in (*new, *moved) if group.due_ms is not None and group.due_ms <= now_ms]

    def _move(
        self, session: Session, configuration: Configuration, alerts: Sequence[KeptAlert], now_ms: int
    ) -> list[Group]:
        """Put alerts into groups of the routes that take them now; those that are due now.

        In a group of a route that takes an alert still it stays, so that its end is sent where its beginning was.
        """
        before = repository.groups_of(session, [kept.alert.key for kept in alerts])
        groups = repository.find_groups(session, {id for ids in before.values() for id in ids})
        leaving: dict[str, list[str]] = {}
        joining: list[tuple[KeptAlert, Route]] = []
        for kept in alerts:
            there = {groups[id].route: id for id in before.get(kept.alert.key, ()) if id in groups}
            routes = {route.id: route for route in routes_of(configuration, kept.alert.labels)}
            joining += [(kept, route) for id, route in routes.items() if id not in there]
            for id in there.keys() - routes.keys():
                leaving.setdefault(there[id], []).append(kept.alert.key)
        repository.remove_members(session, leaving)
        # One that is left empty is forgotten when it is flushed.
        self._stir(session, configuration, leaving, now_ms)
        return self._join(session, joining, now_ms)

    def _stir(self, session: Session, configuration: Configuration, ids: Collection[str], now_ms: int) -> list[Group]:
        """Have groups flushed again at their next tick, as alerts in them have changed; those that are due now."""
        routes = configuration.routes
        groups = repository.find_groups(session, ids)
        moved = [
            _stirred(group, routes[group.route], now_ms) if group.route in routes else group._replace(due_ms=now_ms)
            for group in groups.values()
        ]
        repository.set_times(session, [group for group in moved if group != groups[group.id]])
        return [
            group for group in moved if group.due_ms is not None and group.due_ms <= now_ms and group.route in routes
        ]

    def annotate(self, session: Session, annotations: Mapping[str, Mapping[str, str]]) -> None:
        """More is known of alerts that fire, by key: what is sent of them later says it. No message of its own."""
        repository.pass_gate(session)
        known = repository.find_alerts(session, annotations)
        repository.annotate_alerts(session, {key: annotations[key] for key in known})

    # Out --------------------------------------------------------------------------------------------------------------

    def flush(self, now_ms: int) -> int | None:
        """Write the deliveries of groups that are due; milliseconds until the next one is."""
        configuration = self._file.current
        digest, queried_ms, first = self._queried
        # A clock that was set back makes groups due that were not.
        if self._still.holds and digest == configuration.digest and queried_ms <= now_ms < (first or math.inf):
            return None if first is None else first - now_ms
        written = self._relational.written
        with self._relational.transaction() as session:
            routed = repository.read_gate(session).routed_by == configuration.digest
            due = repository.any_due(session, now_ms)
            first = repository.first_due(session)
        if not routed:
            with self._relational.transaction() as session:
                self._fence(session)
                self._reroute(session, configuration, now_ms)
            due = True
        flushes = due
        self._queried = (configuration.digest, now_ms, first)
        self._still.note(None if flushes else written)
        while due:
            with self._relational.transaction() as session:
                self._fence(session)
                gate = repository.pass_gate(session)
                groups = repository.find_due(session, now_ms, FLUSH_GROUPS)
                holder = self._holders.at(session, configuration, gate, now_ms, lock=True)
                self._write(session, self._flush_groups(session, configuration, holder, groups, now_ms))
            due = len(groups) == FLUSH_GROUPS
        if flushes:
            with self._relational.transaction() as session:
                first = repository.first_due(session)
        self._care(now_ms)
        return None if first is None else max(0, first - now_ms)

    def _flush_groups(
        self, session: Session, configuration: Configuration, holder: Holder, groups: Sequence[Group], now_ms: int
    ) -> Changes:
        routes = configuration.routes
        kept = repository.members_of_groups(session, [group.id for group in groups])
        notified = repository.find_notified(session, notified_ids(configuration, routes, groups))
        known = {print_ for one in notified.values() for print_ in one.alerts}
        failing = _failing(session, configuration, kept)
        changes = Changes()
        turns = holder.consequences.order

        def turn(group: Group) -> int:
            return min((turns.get(one.alert.key, len(turns)) for one in kept.get(group.id, ())), default=len(turns))

        # Causes first: who has just been notified of one need not be notified of what follows.
        for group in sorted(groups, key=turn):
            route = routes.get(group.route)
            if route is None:  # The file has changed since; `_reroute` has found its alerts another place.
                changes.gone.append(group.id)
                continue
            alerts = [one._replace(alert=holder.with_finding(one.alert)) for one in kept.get(group.id, [])]
            if muting_intervals(route, configuration.time_intervals, now_ms):
                held = {one.alert.key for one in alerts}
            else:
                held = {one.alert.key for one in alerts if holder.holds(one.alert, route.receiver)}
            waiting = {
                one.alert.key: due_ms
                for one in alerts
                if one.alert.key not in held and one.fingerprint not in known
                if (due_ms := holder.finding_due_ms(one.alert, now_ms)) is not None
            }
            due_ms = min(waiting.values(), default=LATEST_MS)
            if waiting and len(waiting) == len(alerts) and group.flushed_ms is None:
                changes.times.append(group._replace(due_ms=due_ms, delay_ms=due_ms - now_ms))
                continue
            held |= waiting.keys()
            members = members_of(alerts, held)
            flush = Flush(self._external_url, configuration, group, route, members, now_ms)
            before = len(changes.envelopes)
            flush.run(
                notified, alerts, changes, failing if all(is_everybodys(one.alert.labels) for one in alerts) else ()
            )
            holder.note(changes.envelopes[before:])
            if waiting:
                changes.times[-1] = changes.times[-1]._replace(due_ms=due_ms, delay_ms=due_ms - now_ms)
        return changes

    def _acknowledge(
        self, session: Session, configuration: Configuration, groups: Sequence[Group], now_ms: int
    ) -> Changes:
        routes = configuration.routes
        kept = repository.members_of_groups(session, [group.id for group in groups])
        notified = repository.find_notified(session, notified_ids(configuration, routes, groups))
        changes = Changes()
        for group in groups:
            route = routes.get(group.route)
            if route is not None:
                members = members_of(kept.get(group.id, []), ())
                flush = Flush(self._external_url, configuration, group, route, members, now_ms)
                flush.acknowledge(notified, changes)
        return changes

    def _write(self, session: Session, changes: Changes) -> None:
        if changes.envelopes:
            self._outbox.put_all(session, changes.envelopes)
        repository.write_notified(session, changes.notified)
        repository.set_times(session, changes.times)
        repository.remove_members(
            session, {id: keys for id, keys in changes.ended.items() if id not in set(changes.gone)}
        )
        repository.remove_groups(session, changes.gone)
        repository.forget_alerts(session, {key for keys in changes.ended.values() for key in keys})

    # The file has changed ---------------------------------------------------------------------------------------------

    def _reroute(self, session: Session, configuration: Configuration, now_ms: int) -> None:
        """Give all alerts their places by a new configuration. Who was notified of what stays known."""
        repository.pass_gate(session)
        alerts = repository.all_alerts(session)
        before = repository.groups_of(session, [kept.alert.key for kept in alerts])
        joining: list[tuple[KeptAlert, Route]] = []
        wanted: set[str] = set()
        leaving: dict[str, list[str]] = {}
        for kept in alerts:
            routes = routes_of(configuration, kept.alert.labels)
            places = {_new_group(route, kept.alert, now_ms).id: route for route in routes}
            wanted |= places.keys()
            there = before.get(kept.alert.key, set())
            for id in there - places.keys():
                leaving.setdefault(id, []).append(kept.alert.key)
            joining += [(kept, route) for id, route in places.items() if id not in there]
        repository.remove_members(session, leaving)
        self._join(session, joining, now_ms)
        stale = {id for ids in before.values() for id in ids} - wanted
        repository.remove_groups(session, stale)
        repository.remove_strays(session)
        repository.new_token(session)
        repository.set_routed_by(session, configuration.digest)

    def _care(self, now_ms: int) -> None:
        if self._cared_ms is not None and abs(now_ms - self._cared_ms) < CARE_MS:
            return
        self._cared_ms = now_ms
        with self._relational.transaction() as session:
            self._fence(session)
            repository.pass_gate(session)
            forget_silences(session, now_ms)
            repository.forget_notified(session, now_ms)

    # For the page -----------------------------------------------------------------------------------------------------

    def quiet(self, alerts: Sequence[NotifiedAlert], now_ms: int) -> Mapping[str, Quiet]:
        if not alerts:
            return {}
        configuration = self._file.current
        found: dict[str, Quiet] = {}
        with self._relational.transaction() as session:
            gate = repository.read_gate(session)
            holder = self._holders.at(session, configuration, gate, now_ms, lock=False)
            failing = find_failing_integrations(session, configuration).failing
            # Within the transaction: what holds an alert back is read where it is asked for.
            for alert in alerts:
                routes = routes_of(configuration, alert.labels)
                cause = holder.cause_of(alert, receiver_names(routes))
                inhibitors = holder.inhibitors_of(alert, receiver_names(routes))
                found[alert.key] = Quiet(
                    silences=tuple(one.note(now_ms) for one in holder.silences_of(alert.labels)),
                    inhibited_by=inhibitors if cause is None else tuple(dict.fromkeys([*inhibitors, cause.alert])),
                    follows_from=None
                    if cause is None
                    else FollowsFromOut(finding=cause.finding.id, sentence=cause.finding.sentence, alert=cause.alert),
                    muted=all(muting_intervals(route, configuration.time_intervals, now_ms) for route in routes),
                    receivers=receiver_names(routes),
                    undelivered=[one for one in failing if one.receiver in receiver_names(routes)],
                )
        return found

    def notified(self, keys: Sequence[str], since_ms: int, now_ms: int) -> list[DeliveryOut]:
        """Who has been sent messages of alerts: of each integration the first that it took, else the last."""
        with self._relational.transaction() as session:
            return [delivery_out(row, now_ms) for row in find_of_alerts(session, keys, since_ms)]

    def notices(self, notice: Notice) -> list[Envelope]:
        return announce(self._file.current, notice)


def _kept_labels(before: Labels, after: Labels) -> Labels:
    return {name: text for name, text in before.items() if name != "run" or name in after}


# Groups in time -------------------------------------------------------------------------------------------------------


def _new_group(route: Route, alert: NotifiedAlert, now_ms: int) -> Group:
    """A group of one alert. One that has fired for longer than the wait does not wait again."""
    labels = group_labels(route, alert.labels)
    key = group_key(route, labels)
    wait_ms = 0 if alert.starts_ms + route.group_wait_ms <= now_ms else route.group_wait_ms
    return Group(
        id=short_hash(route.id, key),
        route=route.id,
        group_key=key,
        labels=labels,
        flushed_ms=None,
        due_ms=now_ms + wait_ms,
        delay_ms=wait_ms,
    )


def _stirred(group: Group, route: Route, now_ms: int) -> Group:
    """A group in which something has changed: it is flushed at its next tick at the latest."""
    if group.flushed_ms is None:
        return group
    tick = next_tick(group.flushed_ms, route.group_interval_ms, now_ms)
    if group.due_ms is not None and group.due_ms <= tick:
        return group
    return group._replace(due_ms=tick, delay_ms=tick - now_ms)


def _sooner(group: Group, other: Group) -> Group:
    """A group before its first time is due when either is: it may wait for a finding of others."""
    if group.flushed_ms is not None or (group.due_ms or 0) <= (other.due_ms or 0):
        return group
    return group._replace(due_ms=other.due_ms, delay_ms=other.delay_ms)


def _sort_changes(
    known: Mapping[str, KeptAlert], changed: Iterable[KeptAlert], memberships: Mapping[str, Collection[str]]
) -> tuple[set[str], set[str]]:
    """Groups to flush again, as an alert ended or repeats again; and those where one was acknowledged or not."""
    stirred: set[str] = set()
    touched: set[str] = set()
    for kept in changed:
        before, after = known[kept.alert.key].alert, kept.alert
        places = memberships.get(after.key, ())
        if before.firing != after.firing or before.acknowledged > after.acknowledged:
            stirred.update(places)
        if before.acknowledged != after.acknowledged and after.firing:
            touched.update(places)
    return stirred, touched


def _failing(
    session: Session, configuration: Configuration, kept: Mapping[str, Sequence[KeptAlert]]
) -> set[IntegrationKey]:
    """Integrations that fail, where an alert is everybody's: that one fails is no message for its own queue.

    It would wait there, and so keep the alert that reports it firing.
    """
    if not any(is_everybodys(one.alert.labels) for alerts in kept.values() for one in alerts):
        return set()
    return {(one.receiver, one.integration) for one in find_failing_integrations(session, configuration).failing}
