"""All senders."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_backend.alerting.notify.senders.email import EmailSender
from loadwatch_backend.alerting.notify.senders.model import Integration, Sender
from loadwatch_backend.alerting.notify.senders.pagerduty import PagerDutySender
from loadwatch_backend.alerting.notify.senders.slack import SlackSender
from loadwatch_backend.alerting.notify.senders.webhook import WebhookSender

SENDERS: Sequence[Sender[Any]] = (WebhookSender(), SlackSender(), PagerDutySender(), EmailSender())
"""One for each kind of integration, in the order in which a receiver is notified."""

_LIKE_SLACK = "use slack_configs with the address of its incoming webhook that takes Slack's messages"
_BRIDGE = "use email_configs with the service's address for mails, or webhook_configs with a bridge such as Apprise API"
_WITHOUT_SENDER: Mapping[str, tuple[str, Sequence[str]]] = {
    "apprise": (_BRIDGE, ()),
    "discord": (_LIKE_SLACK, ()),
    "incidentio": (_BRIDGE, ()),
    "jira": (_BRIDGE, ("api_url",)),
    "mattermost": (_LIKE_SLACK, ("webhook_url", "webhook_url_file")),
    "msteams": (_BRIDGE, ()),
    "msteamsv2": (_BRIDGE, ()),
    "opsgenie": (_BRIDGE, ("api_url", "api_key", "api_key_file")),
    "pushover": (_BRIDGE, ()),
    "rocketchat": (_LIKE_SLACK, ("api_url", "token", "token_file", "token_id", "token_id_file")),
    "sns": (_BRIDGE, ()),
    "telegram": (_BRIDGE, ("api_url", "bot_token", "bot_token_file")),
    "victorops": (_BRIDGE, ("api_url", "api_key", "api_key_file")),
    "webex": (_BRIDGE, ("api_url",)),
    "wechat": (_BRIDGE, ("api_url", "api_secret", "api_secret_file", "api_corp_id")),
}
"""Services that Alertmanager has a sender for (and apprise's), what to do instead, and their keys in `global`."""
UNSUPPORTED_CONFIGS = {f"{service}_configs": instead for service, (instead, _) in _WITHOUT_SENDER.items()}
UNSUPPORTED_GLOBALS = {
    **{f"{service}_{key}": instead for service, (instead, keys) in _WITHOUT_SENDER.items() for key in keys},
    **{key: text for sender in SENDERS for key, text in sender.unsupported_globals.items()},
}

_BY_KIND: Mapping[str, Sender[Any]] = {sender.kind: sender for sender in SENDERS}


def sender_of(integration: Integration) -> Sender[Any]:
    return _BY_KIND[integration.kind]
