"""All senders."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_backend.notify.senders.apprise import AppriseSender
from loadwatch_backend.notify.senders.email import EmailSender
from loadwatch_backend.notify.senders.model import Integration, Sender
from loadwatch_backend.notify.senders.pagerduty import PagerDutySender
from loadwatch_backend.notify.senders.slack import SlackSender
from loadwatch_backend.notify.senders.webhook import WebhookSender

SENDERS: Sequence[Sender[Any]] = (WebhookSender(), SlackSender(), PagerDutySender(), EmailSender(), AppriseSender())
"""One for each kind of integration, in the order in which a receiver is told."""

_BY_KIND: Mapping[str, Sender[Any]] = {sender.kind: sender for sender in SENDERS}


def sender_of(integration: Integration) -> Sender[Any]:
    """The sender for an integration."""
    return _BY_KIND[integration.kind]
