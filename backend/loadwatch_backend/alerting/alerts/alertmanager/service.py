"""What Alertmanager's API answers here: alerts that fire, their groups, silences, receivers and the status."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.alerting.alerts.alertmanager.documents import (
    AlertmanagerParameterError,
    ShownAlert,
    alert_document,
    configuration_text,
    parse_filter,
    silence_document,
)
from loadwatch_backend.alerting.alerts.documents import asked_alert
from loadwatch_backend.alerting.alerts.history import repository
from loadwatch_backend.alerting.alerts.ports import Dispatch
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.notify.file.matchers import all_match
from loadwatch_backend.alerting.notify.file.model import Configuration, Route
from loadwatch_backend.alerting.notify.routing.routing import (
    fingerprint,
    group_key,
    group_labels,
    muting_intervals,
    routes_of,
)
from loadwatch_backend.alerting.notify.schemas import MatcherDocument, SilenceIn, SilenceState
from loadwatch_backend.alerting.notify.silences.service import SilenceOverError, SilenceService
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import full_matcher

ALERTMANAGER_VERSION = "0.28.0"
PATTERN_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertQuestion:
    matchers: Sequence[str] = ()
    receiver: str = ""
    active: bool = True
    silenced: bool = True
    inhibited: bool = True
    muted: bool = True


class AlertmanagerApi:
    """Documents for the endpoints; the same on a server that does not evaluate."""

    def __init__(
        self,
        *,
        relational: Relational,
        dispatch: Dispatch,
        configuration: Callable[[], Configuration],
        silences: SilenceService,
        external_url: str,
        clock: Clock,
    ) -> None:
        self._relational = relational
        self._dispatch = dispatch
        self._configuration = configuration
        self._silences = silences
        self._external_url = external_url
        self._clock = clock
        self._started_ms = clock()

    def status(self) -> dict[str, Any]:
        """Version, start, and the configuration without addresses and secrets."""
        return {
            "cluster": {"status": "disabled", "peers": []},
            "config": {"original": configuration_text(self._configuration())},
            "uptime": format_rfc3339(self._started_ms),
            "versionInfo": {
                "branch": "",
                "buildDate": "",
                "buildUser": "",
                "goVersion": "",
                "revision": f"loadwatch {VERSION}",
                "version": ALERTMANAGER_VERSION,
            },
        }

    def receivers(self) -> list[dict[str, Any]]:
        return [{"name": name} for name in self._configuration().receivers]

    # Alerts -----------------------------------------------------------------------------------------------------------

    def alerts(self, question: AlertQuestion) -> list[dict[str, Any]]:
        """What fires, in the order of fingerprints.

        Raises:
            AlertmanagerParameterError: a matcher or the receiver's expression cannot be read.
        """
        configuration, now_ms = self._configuration(), self._clock()
        receives = _pattern(question.receiver)
        found = [
            alert_document(shown, shown.quiet.receivers, now_ms)
            for shown in self._shown(configuration, question, now_ms)
            if any(map(receives, shown.quiet.receivers))
        ]
        return sorted(found, key=lambda one: one["fingerprint"])

    def groups(self, question: AlertQuestion) -> list[dict[str, Any]]:
        """What fires, in the groups of its routes; raises as `alerts`."""
        configuration, now_ms = self._configuration(), self._clock()
        receives = _pattern(question.receiver)
        found: dict[tuple[str, str], tuple[Route, Mapping[str, str], list[ShownAlert]]] = {}
        for shown in self._shown(configuration, question, now_ms):
            for route in routes_of(configuration, shown.alert.labels):
                if receives(route.receiver):
                    labels = group_labels(route, shown.alert.labels)
                    place = route.id, group_key(route, labels)
                    found.setdefault(place, (route, labels, []))[2].append(shown)
        groups = [
            {
                "alerts": [
                    alert_document(one, [route.receiver], now_ms)
                    for one in sorted(members, key=lambda one: one.fingerprint)
                ],
                "labels": dict(labels),
                "receiver": {"name": route.receiver},
            }
            for route, labels, members in found.values()
        ]
        return sorted(groups, key=lambda one: (sorted(one["labels"].items()), one["receiver"]["name"]))

    def _shown(self, configuration: Configuration, question: AlertQuestion, now_ms: int) -> list[ShownAlert]:
        matchers = parse_filter(question.matchers)
        with self._relational.transaction() as session:
            rows = [row for row in repository.find_open(session) if row.state == AlertState.FIRING]
        updated = {row.id: row.evaluated_ms for row in rows}
        alerts = [asked_alert(row, self._external_url) for row in rows]
        prints = {alert.key: fingerprint(alert.identity) for alert in alerts}
        quiet = self._dispatch.quiet(alerts, now_ms)
        found: list[ShownAlert] = []
        for alert in alerts:
            if not all_match(matchers, alert.labels):
                continue
            known = quiet[alert.key]
            shown = ShownAlert(
                alert=alert,
                fingerprint=prints[alert.key],
                updated_ms=updated[alert.key],
                quiet=known,
                inhibited_by=[prints[key] for key in known.inhibited_by if key in prints],
                muted_by=_muting(configuration, alert.labels, now_ms) if known.muted else (),
            )
            if _is_wanted(shown, question):
                found.append(shown)
        return found

    # Silences ---------------------------------------------------------------------------------------------------------

    def silences(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """All silences whose matchers meet the filter: those that hold first, then those to come, then the past.

        Raises:
            AlertmanagerParameterError: a matcher cannot be read.
        """
        wanted = parse_filter(texts)
        found = self._silences.list(None).silences
        # As Alertmanager does it: a filter is held against names and values of a silence's matchers, as if labels.
        return [
            silence_document(one)
            for one in found
            if all_match(wanted, {matcher.name: matcher.value for matcher in one.matchers})
        ]

    def silence(self, silence_id: str) -> dict[str, Any]:
        """One silence.

        Raises:
            SilenceNotFoundError: there is none.
        """
        return silence_document(self._silences.read(silence_id))

    def expire(self, silence_id: str) -> None:
        """End one now; of one that is over, this changes nothing.

        Raises:
            SilenceNotFoundError: there is none.
        """
        try:
            self._silences.expire(silence_id)
        except SilenceOverError:
            return

    def put(self, silence_id: str, given: SilenceIn, author: str) -> str:
        """Add a silence, or change one; the id under which it is found.

        As in Alertmanager, a change of the matchers, or of one that is over, makes a new silence and ends the old one.

        Raises:
            SilenceNotFoundError: there is none of the id.
            ProblemError: as `SilenceService.create`.
        """
        given = given.model_copy(update={"starts_ms": max(given.starts_ms, self._clock())})
        if not silence_id:
            return self._silences.create(given, author).id
        before = self._silences.read(silence_id)
        began_ms = before.starts_ms if before.state is SilenceState.ACTIVE else given.starts_ms
        given = given.model_copy(update={"starts_ms": began_ms, "recurrence": before.recurrence})
        if before.state is not SilenceState.EXPIRED and _same(before.matchers, given.matchers):
            return self._silences.replace(silence_id, given, author).id
        made = self._silences.create(given, author)
        self.expire(silence_id)
        return made.id


def _same(before: Sequence[MatcherDocument], after: Sequence[MatcherDocument]) -> bool:
    def key(one: MatcherDocument) -> tuple[str, str, str]:
        return one.name, one.operator.value, one.value

    return sorted(map(key, before)) == sorted(map(key, after))


def _muting(configuration: Configuration, labels: Mapping[str, str], now_ms: int) -> list[str]:
    found = [muting_intervals(one, configuration.time_intervals, now_ms) for one in routes_of(configuration, labels)]
    return list(dict.fromkeys(name for names in found for name in names))


def _is_wanted(shown: ShownAlert, question: AlertQuestion) -> bool:
    """As in Alertmanager: what is quiet for a reason that is not asked for is left out."""
    if not question.active and not shown.suppressed:
        return False
    if not question.silenced and shown.quiet.silences:
        return False
    if not question.muted and shown.muted_by:
        return False
    return question.inhibited or not shown.inhibited_by


def _pattern(text: str) -> Callable[[str], bool]:
    if not text:
        return lambda _name: True
    if len(text) > PATTERN_LENGTH:
        raise AlertmanagerParameterError(f"the receiver's expression is longer than {PATTERN_LENGTH} characters")
    try:
        return full_matcher(text, dot_matches_newline=False)
    except PatternError as error:
        raise AlertmanagerParameterError(f"failed to parse receiver param: {error.detail}") from error
