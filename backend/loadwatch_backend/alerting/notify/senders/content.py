"""What a message says, for senders that write for people: read from the document, and from nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from loadwatch_backend.alerting.notify.model import RUN_NAME, EnvelopeKind, has_stopped
from loadwatch_backend.alerting.notify.senders.model import Message
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts

NEVER = "0001-01-01"
SEVERITIES: Sequence[str] = ("critical", "error", "warning", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertText:
    """One alert, for people. `own_labels` are those that not all alerts of the message have.

    `finding` says what ran out, while the alert fires and that is known; of one that is over because its target has
    `stopped` sending, that this is no recovery.
    """

    name: str
    firing: bool
    severity: str
    summary: str
    description: str
    runbook_url: str
    url: str
    since: str
    ended: str
    labels: Mapping[str, str]
    own_labels: Mapping[str, str]
    finding: str = ""
    stopped: bool = False

    @property
    def state(self) -> str:
        """Key of the word for it: firing, stopped or resolved."""
        return "firing" if self.firing else "stopped" if self.stopped else "resolved"

    @property
    def headline(self) -> str:
        return self.summary or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A message. `alerts` is empty for news of a run, which have a text and facts; `hidden` alerts were left out."""

    title: str
    url: str
    group_key: str
    labels: Mapping[str, str]
    language: Language
    is_news: bool = False
    is_test: bool = False
    firing: bool = False
    acknowledged: bool = False
    text: str = ""
    alerts: Sequence[AlertText] = ()
    facts: Sequence[tuple[str, str]] = ()
    hidden: int = 0

    @property
    def texts(self) -> Texts:
        return Texts("notify", self.language)

    @property
    def sentence(self) -> str:
        return f"{self.title}: {self.text}" if self.text else self.title

    def more(self, most: int) -> str:
        """A text that counts the alerts beyond the first `most`; empty where there are none."""
        left = max(0, len(self.alerts) - most) + self.hidden
        return self.texts("more", count=left) if left else ""

    @property
    def firing_alerts(self) -> list[AlertText]:
        return [alert for alert in self.alerts if alert.firing]

    @property
    def resolved_alerts(self) -> list[AlertText]:
        return [alert for alert in self.alerts if not alert.firing]

    @property
    def open(self) -> bool:
        """Whether somebody has to look: something fires, or has stopped sending and may be worse than before."""
        return self.firing or any(alert.stopped for alert in self.alerts)

    @property
    def severity(self) -> str:
        """The worst of those that fire (of all, when none does); empty when none says."""
        known = [alert.severity for alert in self.firing_alerts or self.alerts]
        return next((severity for severity in SEVERITIES if severity in known), known[0] if known else "")


def content_of(message: Message, language: Language) -> Content:
    """Read a message's document; `language` is that of the words around it."""
    document = message.document
    if "alerts" not in document:
        return _news(message, document, language)
    common = _named(_labels(document.get("commonLabels")), _texts(document.get("commonAnnotations")))
    alerts = [_alert(alert, common, Texts("notify", language)) for alert in document["alerts"]]
    return Content(
        title=one_line(message.subject),
        firing=document.get("status") == "firing",
        is_test=message.kind is EnvelopeKind.TEST,
        acknowledged=bool(document.get("loadwatch", {}).get("acknowledged")),
        url=next((alert.url for alert in alerts if alert.url), str(document.get("externalURL", ""))),
        group_key=str(document.get("groupKey", message.order_key)),
        labels=common,
        alerts=alerts,
        hidden=int(document.get("truncatedAlerts", 0)),
        language=language,
    )


def _news(message: Message, document: Mapping[str, Any], language: Language) -> Content:
    facts = [(str(fact["label"]), one_line(str(fact["text"]))) for fact in document.get("facts", ())]
    return Content(
        title=one_line(str(document.get("title", message.subject))),
        is_news=True,
        text=str(document.get("text", "")),
        url=str(document.get("url", "")),
        group_key=message.order_key,
        labels=_texts(document.get("labels")),
        facts=facts,
        language=language,
    )


def _texts(value: Any) -> Mapping[str, str]:
    return {str(name): str(text) for name, text in cast(Mapping[Any, Any], value or {}).items()}


def _labels(value: Any) -> Mapping[str, str]:
    """On one line each: a line feed in a value would make lines that look like the server's own."""
    return {name: one_line(text) for name, text in _texts(value).items()}


def one_line(text: str) -> str:
    """A text from outside on one line, without characters that cannot be printed."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


def chat_text(text: str) -> str:
    """A text from outside for a chat: it names nobody who would be notified (`@here`), and is no link to elsewhere.

    A vendor's own signs are escaped by its sender; other chats read Markdown and names in any text.
    """
    return text.replace("@", "@\u200b").replace("](", "]\u200b(")


def _named(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Mapping[str, str]:
    return {**labels, "run": annotations[RUN_NAME]} if RUN_NAME in annotations and "run" in labels else labels


def _alert(given: Mapping[str, Any], common: Mapping[str, str], texts: Texts) -> AlertText:
    annotations = _texts(given.get("annotations"))
    labels = _named(_labels(given.get("labels")), annotations)
    shown = {name: text for name, text in labels.items() if name not in common}
    firing = given.get("status") == "firing"
    stopped = not firing and has_stopped(annotations)
    return AlertText(
        name=labels.get("alertname", "alert"),
        firing=firing,
        stopped=stopped,
        severity=labels.get("severity", ""),
        summary=one_line(annotations.get("summary", "")),
        description="".join(sign for sign in annotations.get("description", "") if sign.isprintable() or sign == "\n"),
        runbook_url=annotations.get("runbook_url", ""),
        url=str(given.get("generatorURL", "")),
        since=str(given.get("startsAt", "")),
        ended="" if str(given.get("endsAt", NEVER)).startswith(NEVER) else str(given["endsAt"]),
        labels=labels,
        own_labels=shown,
        finding=_finding(annotations, texts) if firing else texts("stopped_help") if stopped else "",
    )


def _finding(annotations: Mapping[str, str], texts: Texts) -> str:
    """The finding's sentence, from the annotations of `notify.causes` or those that a rule gives itself."""
    sentence, certainty = annotations.get("finding", ""), annotations.get("finding_certainty", "")
    if not sentence:
        return ""
    shown = Texts("findings", texts.language).known(certainty, certainty)
    return texts("ran_out", sentence=sentence) if not shown else texts("ran_out_so", sentence=sentence, certainty=shown)


def describe_labels(labels: Mapping[str, str]) -> str:
    """`job=api, instance=db-1`, without the alert's name."""
    return ", ".join(f"{name}={text}" for name, text in sorted(labels.items()) if name != "alertname")


def describe_times(alert: AlertText, texts: Texts) -> str:
    since = short_time(alert.since)
    if not alert.ended:
        return texts("since", since=since)
    length = _length(alert.since, alert.ended, texts)
    return texts("span", since=since, ended=short_time(alert.ended), length=length)


def short_time(text: str) -> str:
    """`2026-11-21 14:20:53 UTC`."""
    moment = _moment(text)
    return text if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _length(since: str, ended: str, texts: Texts) -> str:
    first, last = _moment(since), _moment(ended)
    if first is None or last is None:
        return ""
    seconds = max(0, round((last - first).total_seconds()))
    if seconds < 60:
        return texts("seconds", seconds=seconds)
    if seconds < 3_600:
        return texts("minutes", minutes=seconds // 60, seconds=seconds % 60)
    return texts("hours", hours=seconds // 3_600, minutes=seconds % 3_600 // 60)


def plain_text(content: Content, most_alerts: int = 50) -> str:
    lines: list[str] = []
    if content.text:
        lines += [content.text, ""]
    lines += [f"{label}: {text}" for label, text in content.facts]
    for alert in content.alerts[:most_alerts]:
        lines += _alert_lines(alert, content.texts)
    if more := content.more(most_alerts):
        lines += ["", more]
    if content.url:
        lines += ["", content.texts("open", url=content.url)]
    return "\n".join(lines).strip() + "\n"


def _alert_lines(alert: AlertText, texts: Texts) -> list[str]:
    mark = texts(alert.state.upper())
    lines = ["", f"[{mark}] {alert.headline}"]
    if alert.description and alert.description != alert.headline:
        lines.append(alert.description.replace("\n", "\n    "))
    if alert.finding:
        lines.append(alert.finding.replace("\n", "\n    "))
    lines += [describe_labels(alert.labels), describe_times(alert, texts)]
    if alert.runbook_url:
        lines.append(f"{texts('runbook')}: {alert.runbook_url}")
    if alert.url:
        lines.append(f"{texts('open_alert')}: {alert.url}")
    return [line for line in lines if line or line == ""]
