"""Routes for the endpoints: the tree in force, and where labels would go."""

from loadwatch_backend.alerting.notify.file.configuration import ConfigurationFile, InForce
from loadwatch_backend.alerting.notify.file.model import Configuration, Route
from loadwatch_backend.alerting.notify.groups.repository import count_groups, read_gate
from loadwatch_backend.alerting.notify.model import NoticeKind, NotifiedAlert
from loadwatch_backend.alerting.notify.routing.holding import Holders
from loadwatch_backend.alerting.notify.routing.routing import (
    group_labels,
    holds,
    muting_intervals,
    receiver_names,
    routes_of,
)
from loadwatch_backend.alerting.notify.schemas import (
    InhibitRuleOut,
    NoticeRouteOut,
    RouteAnswer,
    RouteMatch,
    RouteOut,
    RouteQuestion,
    RoutingOut,
    TimeIntervalOut,
)
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational

EVENT_NAMES = {NoticeKind.RUN_STARTED: "started", NoticeKind.RUN_FINISHED: "finished"}


class RoutingService:
    def __init__(self, relational: Relational, file: ConfigurationFile, holders: Holders, clock: Clock) -> None:
        self._relational = relational
        self._file = file
        self._holders = holders
        self._clock = clock

    def read(self) -> RoutingOut:
        return self._describe(self._file.in_force)

    def reload(self) -> RoutingOut:
        return self._describe(self._file.reload())

    def resolve(self, question: RouteQuestion) -> RouteAnswer:
        at_ms = self._clock() if question.at_ms is None else question.at_ms
        configuration = self._file.current
        labels = {name: value for name, value in question.labels.items() if value}
        with self._relational.transaction() as session:
            holder = self._holders.at(session, configuration, read_gate(session), at_ms, lock=False)
        alert = NotifiedAlert(key="", labels=labels, annotations={}, starts_ms=at_ms, ends_ms=None, generator_url="")
        routes = routes_of(configuration, labels)
        return RouteAnswer(
            matches=[_match_out(configuration, route, alert, at_ms) for route in routes],
            silenced_by=[silence.id for silence in holder.silences_of(labels)],
            inhibited_by=list(holder.inhibitors_of(alert, receiver_names(routes))),
        )

    def _describe(self, in_force: InForce) -> RoutingOut:
        configuration = in_force.configuration
        now_ms = self._clock()
        with self._relational.transaction() as session:
            groups = count_groups(session)
        return RoutingOut.from_object(
            in_force,
            root=_route_out(configuration, configuration.root, groups, now_ms),
            time_intervals=[
                TimeIntervalOut.from_object(interval, active_now=holds(configuration.time_intervals, name, now_ms))
                for name, interval in configuration.time_intervals.items()
            ],
            inhibit_rules=[
                InhibitRuleOut.from_object(rule, source=list(map(str, rule.source)), target=list(map(str, rule.target)))
                for rule in configuration.inhibit_rules
            ],
            run_notices=[
                NoticeRouteOut.from_object(
                    route,
                    events=[EVENT_NAMES[event] for event in route.events],
                    matchers=list(map(str, route.matchers)),
                )
                for route in configuration.notices
            ],
        )


def _route_out(configuration: Configuration, route: Route, groups: dict[str, int], now_ms: int) -> RouteOut:
    return RouteOut.from_object(
        route,
        matchers=list(map(str, route.matchers)),
        group_by=["..."] if route.group_by is None else list(route.group_by),
        group_wait_seconds=route.group_wait_ms / 1000,
        group_interval_seconds=route.group_interval_ms / 1000,
        repeat_interval_seconds=route.repeat_interval_ms / 1000,
        muted_now=bool(muting_intervals(route, configuration.time_intervals, now_ms)),
        groups=groups.get(route.id, 0),
        routes=[_route_out(configuration, child, groups, now_ms) for child in route.routes],
    )


def _match_out(configuration: Configuration, route: Route, alert: NotifiedAlert, at_ms: int) -> RouteMatch:
    muted_by = muting_intervals(route, configuration.time_intervals, at_ms)
    parts = route.id.split(".")
    return RouteMatch(
        route_id=route.id,
        path=[".".join(parts[: depth + 1]) for depth in range(len(parts))],
        receiver=route.receiver,
        integrations=len(configuration.receivers[route.receiver].integrations),
        group_labels=group_labels(route, alert.labels),
        muted=bool(muted_by),
        muted_by=list(muted_by),
    )
