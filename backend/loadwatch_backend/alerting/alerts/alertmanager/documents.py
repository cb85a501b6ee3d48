"""Documents of Alertmanager's API v2, in both directions. No I/O.

Shapes: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml. Two differences: a firing alert's
`endsAt` is `RESOLVE_MS` after the answer, as for an alert that its sender renews; and matchers of silences keep
the order in which they were given.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.alerting.notify.file.matchers import (
    LabelMatcher,
    MatcherError,
    MatchOperatorName,
    parse_matchers,
)
from loadwatch_backend.alerting.notify.file.model import Configuration, NamedInterval, Route
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.schemas import MatcherDocument, Quiet, SilenceOut
from loadwatch_backend.core.errors import BadRequestError, MethodNotAllowedError
from loadwatch_backend.core.language import Language, in_language
from loadwatch_backend.core.schemas import LAST_MILLISECOND


class AlertmanagerParameterError(BadRequestError, code="alertmanager-parameter"):
    """A parameter or a field of the body cannot be read."""


class AlertsByRulesError(MethodNotAllowedError, code="alerts-by-rules"):
    """Somebody wants to post alerts; here rules make them."""


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RESOLVE_MS = 300_000
"""Alertmanager's default `resolve_timeout`."""

_OPERATORS = {
    (True, False): MatchOperatorName.EQUAL,
    (False, False): MatchOperatorName.NOT_EQUAL,
    (True, True): MatchOperatorName.MATCHES,
    (False, True): MatchOperatorName.MATCHES_NOT,
}
_SIGNS = {operator: sign for sign, operator in _OPERATORS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAlert:
    alert: NotifiedAlert
    fingerprint: str
    updated_ms: int
    quiet: Quiet
    inhibited_by: Sequence[str] = ()
    """Fingerprints."""
    muted_by: Sequence[str] = ()

    @property
    def suppressed(self) -> bool:
        return bool(self.quiet.silences or self.inhibited_by or self.muted_by)


def alert_document(shown: ShownAlert, receivers: Sequence[str], now_ms: int) -> dict[str, Any]:
    """`gettableAlert`."""
    alert = shown.alert
    return {
        "annotations": dict(sorted(in_language(alert.annotations, Language.EN).items())),
        "endsAt": format_rfc3339(now_ms + RESOLVE_MS if alert.ends_ms is None else alert.ends_ms),
        "fingerprint": shown.fingerprint,
        "receivers": [{"name": name} for name in receivers],
        "startsAt": format_rfc3339(alert.starts_ms),
        "status": {
            "inhibitedBy": list(shown.inhibited_by),
            "mutedBy": list(shown.muted_by),
            "silencedBy": [silence.id for silence in shown.quiet.silences],
            "state": "suppressed" if shown.suppressed else "active",
        },
        "updatedAt": format_rfc3339(shown.updated_ms),
        "generatorURL": alert.generator_url,
        "labels": dict(sorted(alert.labels.items())),
    }


def silence_document(silence: SilenceOut) -> dict[str, Any]:
    """`gettableSilence`."""
    return {
        "id": silence.id,
        "status": {"state": str(silence.state)},
        "updatedAt": format_rfc3339(silence.updated_ms),
        "comment": silence.comment,
        "createdBy": silence.author,
        "endsAt": format_rfc3339(silence.ends_ms),
        "matchers": [_matcher(one) for one in silence.matchers],
        "startsAt": format_rfc3339(silence.starts_ms),
    }


def _matcher(given: MatcherDocument) -> dict[str, Any]:
    is_equal, is_regex = _SIGNS[given.operator]
    return {"isEqual": is_equal, "isRegex": is_regex, "name": given.name, "value": given.value}


def matcher_of(*, name: str, value: str, is_regex: bool, is_equal: bool) -> MatcherDocument:
    return MatcherDocument(name=name, operator=_OPERATORS[is_equal, is_regex], value=value)


def parse_filter(texts: Iterable[str]) -> list[LabelMatcher]:
    """Matchers of `filter=` parameters.

    Raises:
        AlertmanagerParameterError: one cannot be read.
    """
    try:
        return [one for text in texts for one in parse_matchers(text)]
    except MatcherError as error:
        raise AlertmanagerParameterError(f"bad matcher format: {error}") from error


def milliseconds(moment: datetime, name: str) -> int:
    """A time of a posted silence.

    Raises:
        AlertmanagerParameterError: it has no time zone, or lies before 1970.
    """
    if moment.tzinfo is None:
        raise AlertmanagerParameterError(f"{name} needs a time zone, as in 2026-11-21T14:00:00Z")
    at_ms = (moment - EPOCH) // timedelta(milliseconds=1)
    if not 0 <= at_ms <= LAST_MILLISECOND:
        raise AlertmanagerParameterError(f"{name} lies outside of the years 1970 to 9999")
    return at_ms


# The configuration ----------------------------------------------------------------------------------------------------


def configuration_text(configuration: Configuration) -> str:
    """Routes, inhibition and time intervals as Alertmanager's file has them, with no address and no secret.

    Receivers are names without integrations: what these hold is shown nowhere.
    """
    document: dict[str, Any] = {
        "route": _route(configuration.root),
        "receivers": [{"name": name} for name in configuration.receivers],
    }
    if configuration.inhibit_rules:
        document["inhibit_rules"] = [
            {
                "source_matchers": list(map(str, rule.source)),
                "target_matchers": list(map(str, rule.target)),
                "equal": list(rule.equal),
            }
            for rule in configuration.inhibit_rules
        ]
    if configuration.time_intervals:
        document["time_intervals"] = [_interval(one) for one in configuration.time_intervals.values()]
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _route(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {"receiver": route.receiver}
    if route.matchers:
        found["matchers"] = list(map(str, route.matchers))
    if route.continues:
        found["continue"] = True
    found |= {
        "group_by": ["..."] if route.group_by is None else list(route.group_by),
        "group_wait": f"{route.group_wait_ms}ms",
        "group_interval": f"{route.group_interval_ms}ms",
        "repeat_interval": f"{route.repeat_interval_ms}ms",
    }
    for name in ("mute_time_intervals", "active_time_intervals"):
        if given := getattr(route, name):
            found[name] = list(given)
    if route.routes:
        found["routes"] = [_route(child) for child in route.routes]
    return found


def _interval(named: NamedInterval) -> dict[str, Any]:
    return {"name": named.name, "time_intervals": [_parts(line) for line in named.lines]}


def _parts(line: str) -> Mapping[str, Any]:
    """Parse an interval's line, as the page shows it: `times: 09:00-17:00; weekdays: monday:friday`."""
    found: dict[str, Any] = {}
    for part in line.split("; ") if line != "always" else ():
        name, _, text = part.partition(": ")
        values = text.split(", ")
        if name == "times":
            spans = [value.partition("-") for value in values]
            found[name] = [{"start_time": start, "end_time": end} for start, _, end in spans]
        else:
            found[name] = text if name == "location" else values
    return found
