"""PagerDuty's Events API v2: an incident for each group of alerts, a change event for news of runs.

https://developer.pagerduty.com/docs/events-api-v2-overview. The key of an incident is Alertmanager's: the SHA-256 of
the group's key, so that a team may change from one to the other with incidents open.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import orjson
from pydantic import Field

from loadwatch_backend.alerting.notify.record import Flag, SecretText, Text, Url, one_of
from loadwatch_backend.alerting.notify.senders.content import (
    SEVERITIES,
    AlertText,
    Content,
    content_of,
    describe_labels,
    describe_times,
)
from loadwatch_backend.alerting.notify.senders.model import (
    TEMPLATE,
    AttemptOutcome,
    HttpIntegration,
    Message,
    Result,
    SendContext,
    Sender,
    SendRules,
    cut,
    cut_bytes,
)
from loadwatch_backend.alerting.notify.senders.webhook import judge, post_json, shown_host
from loadwatch_backend.core.texts.words import Texts, Words

API_URL = "https://events.pagerduty.com/v2/enqueue"
SUMMARY_LENGTH = 1_024
DETAIL_BYTES = 32_768
"""Of one text in the details: PagerDuty takes 512 KiB in all."""
MOST_ALERTS = 50
MOST_LINKS = 10
SEVERITY: Mapping[str, str] = {
    "critical": "critical",
    "page": "critical",
    "error": "error",
    "high": "error",
    "warning": "warning",
    "warn": "warning",
    "info": "info",
    "none": "info",
    "low": "info",
}
_LINKS = "links are made from each alert's runbook and dashboard"
_UNSUPPORTED = {
    **dict.fromkeys(("service_key", "service_key_file"), "it belongs to Events API v1; use routing_key"),
    **dict.fromkeys(("description", "details"), TEMPLATE),
    "images": _LINKS,
    "links": _LINKS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutyIntegration(HttpIntegration):
    """Events API v2. `severity` empty: by the alert's label; others empty: left out."""

    unsupported: ClassVar[Mapping[str, str]] = _UNSUPPORTED
    missing: ClassVar[Mapping[str, str]] = {"routing_key": "pagerduty_configs need a routing_key or a routing_key_file"}
    send_resolved: Flag = True
    routing_key: SecretText
    url: Url = API_URL
    client: Text = ""
    client_url: Text = ""
    source: Text = ""
    severity: Annotated[
        str, one_of({severity: severity for severity in SEVERITIES}, "; without it the alert's label counts")
    ] = ""
    event_class: Annotated[Text, Field(alias="class")] = ""
    component: Text = ""
    group: Text = ""


class PagerDutySender(Sender[PagerDutyIntegration]):
    """Posts events; a test opens an incident of severity `info` and resolves it."""

    kind: ClassVar[str] = "pagerduty"
    title: ClassVar[Words] = Words("PagerDuty", "PagerDuty")
    record = PagerDutyIntegration
    globals: ClassVar[Mapping[str, str]] = {"http_config": "http_config", "pagerduty_url": "url"}
    rules: ClassVar[SendRules] = SendRules(acknowledges=True)

    def target(self, own: PagerDutyIntegration) -> str:
        """The address of the API, of one's own only the host; the routing key is a secret."""
        url = own.url
        return url if url == API_URL else shown_host(url)

    def send(self, own: PagerDutyIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        content = content_of(message, own.language)
        if content.is_news:
            # Change events go beside the address of alerts.
            url = own.url.replace("/v2/enqueue", "/v2/change/enqueue")
            return _post(own, url, change_event(own, content), context, seconds)
        event = alert_event(own, content)
        result = _post(own, own.url, event, context, seconds)
        if content.is_test and result.outcome is AttemptOutcome.DELIVERED:
            end = {"routing_key": event["routing_key"], "event_action": "resolve", "dedup_key": event["dedup_key"]}
            return _post(own, own.url, end, context, seconds)
        return result


def _post(
    own: PagerDutyIntegration, url: str, event: Mapping[str, Any], context: SendContext, seconds: float
) -> Result:
    return judge(post_json(url, orjson.dumps(event), {}, own.http, context, seconds), context.clock())


def dedup_key(group_key: str) -> str:
    return hashlib.sha256(group_key.encode()).hexdigest()


def alert_event(own: PagerDutyIntegration, content: Content) -> dict[str, Any]:
    """Trigger while an alert fires, acknowledge when somebody has seen all that do, resolve when none does.

    What has stopped sending resolves nothing: the incident stays open, and says so.
    """
    event: dict[str, Any] = {
        "routing_key": own.routing_key.reveal(),
        "dedup_key": dedup_key(content.group_key),
        "event_action": "resolve" if not content.open else "acknowledge" if content.acknowledged else "trigger",
    }
    if event["event_action"] != "trigger":
        return event
    severity = "info" if content.is_test else own.severity or content.severity
    payload: dict[str, Any] = {
        "summary": cut(_summary(content), SUMMARY_LENGTH),
        "source": cut(own.source or content.labels.get("instance") or content.labels.get("job") or "loadwatch", 255),
        "severity": SEVERITY.get(severity.lower(), "error"),
        "custom_details": _details(content),
    }
    since = min((alert.since for alert in content.firing_alerts or content.alerts if alert.since), default="")
    optional = {"timestamp": since, "class": own.event_class, "component": own.component, "group": own.group}
    event["payload"] = payload | {name: value for name, value in optional.items() if value}
    event["client"] = own.client or "Loadwatch"
    event["client_url"] = own.client_url or content.url
    event["links"] = _links(content)
    return event


def change_event(own: PagerDutyIntegration, content: Content) -> dict[str, Any]:
    """News of a run: it stands beside incidents, and wakes nobody."""
    facts = {label: cut_bytes(text, 2_000) for label, text in content.facts}
    return {
        "routing_key": own.routing_key.reveal(),
        "payload": {
            "summary": cut(content.sentence, SUMMARY_LENGTH),
            "source": cut(own.source or "loadwatch", 255),
            "custom_details": facts,
        },
        "links": _links(content),
    }


def _summary(content: Content) -> str:
    if not content.firing:
        return content.title
    first = next((alert.headline for alert in content.firing_alerts), "")
    more = len(content.firing_alerts) - 1 + content.hidden
    return content.texts("with_more", first=first, count=more) if first and more > 0 else first or content.title


def _details(content: Content) -> dict[str, Any]:
    found = next((alert.finding for alert in content.firing_alerts if alert.finding), "")
    return {
        **({"finding": cut_bytes(found, 2_000)} if found else {}),
        "firing": _list(content.firing_alerts, content.texts),
        "resolved": _list(content.resolved_alerts, content.texts),
        "num_firing": str(len(content.firing_alerts)),
        "num_resolved": str(len(content.resolved_alerts)),
        "labels": cut_bytes(describe_labels(content.labels), 4_000),
    }


def _list(alerts: list[AlertText], texts: Texts) -> str:
    lines: list[str] = []
    for alert in alerts[:MOST_ALERTS]:
        lines.append(f"{alert.headline} ({describe_labels(alert.labels)}), {describe_times(alert, texts)}")
        if alert.description:
            lines.append(f"  {alert.description}")
        if alert.finding:
            lines.append(f"  {alert.finding}")
    if len(alerts) > MOST_ALERTS:
        lines.append(texts("more", count=len(alerts) - MOST_ALERTS))
    return cut_bytes("\n".join(lines), DETAIL_BYTES)


def _links(content: Content) -> list[dict[str, str]]:
    found: dict[str, str] = {}
    if content.url:
        found[content.url] = content.texts("run" if content.is_news else "open_alert")
    for alert in content.alerts:
        if alert.runbook_url:
            found.setdefault(alert.runbook_url, content.texts("runbook_of", name=alert.name))
    usable = [(url, text) for url, text in found.items() if url.startswith(("http://", "https://"))]
    return [{"href": url, "text": text} for url, text in usable[:MOST_LINKS]]
