"""Slack's incoming webhooks, and what understands the same: Mattermost, Rocket.Chat, Discord's /slack.

Limits: https://docs.slack.dev/reference/block-kit/blocks (50 blocks, 3,000 characters of a section, 150 of a header).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import orjson

from loadwatch_backend.alerting.notify.record import SecretUrl, Text
from loadwatch_backend.alerting.notify.senders.content import (
    AlertText,
    Content,
    chat_text,
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
)
from loadwatch_backend.alerting.notify.senders.webhook import judge, post_json, shown_host
from loadwatch_backend.core.texts.words import Texts, Words

HEADER_LENGTH = 150
SECTION_LENGTH = 3_000
TEXT_LENGTH = 4_000
FIELDS = 10
FIELD_LENGTH = 2_000
MOST_ALERTS = 20
PASSING_ERRORS = frozenset(
    {"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
    | {"team_added_to_org", "accesslimited"}
)
_APP = ("app_token", "app_token_file", "app_url")
_UNSUPPORTED = {
    **dict.fromkeys((*_APP, "update_message"), "use api_url, an incoming webhook"),
    **dict.fromkeys(
        ("title", "title_link", "pretext", "text", "message_text", "fields", "footer", "fallback", "color", "actions"),
        TEMPLATE,
    ),
    **dict.fromkeys(
        ("short_fields", "callback_id", "image_url", "thumb_url", "link_names", "mrkdwn_in"),
        "messages are made of blocks, which have no such thing",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIntegration(HttpIntegration):
    """A message by an incoming webhook; `channel` and the following are sent when they are not empty."""

    unsupported: ClassVar[Mapping[str, str]] = _UNSUPPORTED
    missing: ClassVar[Mapping[str, str]] = {
        "api_url": "slack_configs need an api_url or api_url_file, here or as slack_api_url in global"
    }
    api_url: SecretUrl
    channel: Text = ""
    username: Text = ""
    icon_emoji: Text = ""
    icon_url: Text = ""


class SlackSender(Sender[SlackIntegration]):
    """Slack takes about one message a second from one webhook."""

    kind: ClassVar[str] = "slack"
    title: ClassVar[Words] = Words("Slack", "Slack")
    record = SlackIntegration
    globals: ClassVar[Mapping[str, str]] = {"http_config": "http_config", "slack_api_url": "api_url"}
    rules: ClassVar[SendRules] = SendRules(parallel=1, pace_seconds=1.0)
    unsupported_globals = dict.fromkeys((f"slack_{key}" for key in _APP), "use slack_api_url")

    def target(self, own: SlackIntegration) -> str:
        """Host and channel; the path of the URL is a secret."""
        return shown_host(own.api_url.reveal()) + (f" {own.channel}" if own.channel else "")

    def send(self, own: SlackIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        body = orjson.dumps(render(own, content_of(message, own.language)))
        answer = post_json(own.api_url.reveal(), body, {}, own.http, context, seconds)
        result = judge(answer, context.clock())
        return _refused(result) if result.outcome is AttemptOutcome.DELIVERED else result


def _refused(result: Result) -> Result:
    """Slack's Web API says 200 to what it refuses: `{"ok": false, "error": "channel_not_found"}`."""
    try:
        said: Any = orjson.loads(result.response)
    except orjson.JSONDecodeError:
        return result
    answer = cast(dict[str, Any], said) if isinstance(said, dict) else {}
    if answer.get("ok") is not False:
        return result
    error = str(answer.get("error", "unknown"))[:100]
    return Result(
        outcome=AttemptOutcome.PASSING if error in PASSING_ERRORS else AttemptOutcome.PERMANENT,
        status_code=result.status_code,
        error=f"refused: {error}",
        response=result.response,
        address=result.address,
    )


def escape(text: str) -> str:
    """The three characters that mean something in Slack's texts, and what means something in other chats'."""
    return chat_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def render(integration: SlackIntegration, content: Content) -> dict[str, Any]:
    """The document to post: a text for notices and screen readers, blocks for the eye."""
    mark = _mark(content)
    document: dict[str, Any] = {
        "text": cut(f"{mark} {_fallback(content)}", TEXT_LENGTH),
        "blocks": _blocks(content, mark),
        "unfurl_links": False,
    }
    given = {
        "channel": integration.channel,
        "username": integration.username,
        "icon_emoji": integration.icon_emoji,
        "icon_url": integration.icon_url,
    }
    return document | {name: value for name, value in given.items() if value}


def _mark(content: Content) -> str:
    if content.is_news:
        verdict = content.labels.get("verdict", "")
        return {"passed": ":white_check_mark:", "failed": ":x:", "invalid": ":warning:"}.get(verdict, ":rocket:")
    if not content.open:
        return ":white_check_mark:"
    return ":rotating_light:" if content.firing and content.severity in ("critical", "error") else ":warning:"


def _fallback(content: Content) -> str:
    if content.is_news:
        return escape(content.sentence)
    first = content.alerts[0].headline if content.alerts else ""
    return escape(f"{content.title}: {first}" if first and first not in content.title else content.title)


def _blocks(content: Content, mark: str) -> list[dict[str, Any]]:
    header = {"type": "plain_text", "text": cut(f"{mark} {chat_text(content.title)}", HEADER_LENGTH), "emoji": True}
    blocks: list[dict[str, Any]] = [{"type": "header", "text": header}]
    if content.text:
        blocks.append(_section(escape(content.text)))
    for start in range(0, len(content.facts), FIELDS):
        fields = [
            {"type": "mrkdwn", "text": cut(f"*{escape(label)}*\n{escape(text) or '–'}", FIELD_LENGTH)}
            for label, text in content.facts[start : start + FIELDS]
        ]
        blocks.append({"type": "section", "fields": fields})
    blocks += [_section(_alert(alert, content.texts)) for alert in content.alerts[:MOST_ALERTS]]
    texts = content.texts
    notes = [more] if (more := content.more(MOST_ALERTS)) else []
    if content.url.startswith(("http://", "https://")):
        notes.append(_link(content.url, texts("open_run" if content.is_news else "open_alert")))
    if notes:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": " · ".join(notes)}]})
    return blocks


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": _cut_escaped(text, SECTION_LENGTH)}}


def _cut_escaped(text: str, most: int) -> str:
    """Cut without leaving half of an escape such as `&am`."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    last = head.rfind("&")
    if last >= 0 and ";" not in head[last:]:
        head = head[:last]
    return head + "…"


def _link(url: str, text: str) -> str:
    return f"<{url.replace('|', '%7C').replace('>', '%3E').replace('<', '%3C').replace('&', '&amp;')}|{escape(text)}>"


def _alert(alert: AlertText, texts: Texts) -> str:
    marks = {"firing": ":red_circle:", "stopped": ":white_circle:"}
    mark = marks.get(alert.state, ":large_green_circle:")
    lines = [f"{mark} *{escape(cut(alert.headline, 500))}*"]
    if alert.description and alert.description != alert.headline:
        lines.append(escape(cut(alert.description, 1_000)))
    if alert.finding:
        lines.append(escape(cut(alert.finding, 500)))
    labels = describe_labels(alert.own_labels or alert.labels)
    lines.append(escape(cut(" · ".join(part for part in (labels, describe_times(alert, texts)) if part), 700)))
    links = [(texts("runbook"), alert.runbook_url), (texts("open_alert"), alert.url)]
    shown = [_link(url, name) for name, url in links if url.startswith(("http://", "https://")) and len(url) < 600]
    return "\n".join([*lines, " · ".join(shown)] if shown else lines)
