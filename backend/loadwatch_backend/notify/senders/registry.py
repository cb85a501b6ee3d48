"""All senders."""

from collections.abc import Mapping, Sequence

from loadwatch_backend.notify.file.model import Integration, IntegrationKind
from loadwatch_backend.notify.senders.apprise import AppriseSender
from loadwatch_backend.notify.senders.email import EmailSender
from loadwatch_backend.notify.senders.model import Sender
from loadwatch_backend.notify.senders.pagerduty import PagerDutySender
from loadwatch_backend.notify.senders.slack import SlackSender
from loadwatch_backend.notify.senders.webhook import WebhookSender

SENDERS: Sequence[Sender] = (WebhookSender(), SlackSender(), PagerDutySender(), EmailSender(), AppriseSender())
"""One for each kind of integration."""

_BY_KIND: Mapping[IntegrationKind, Sender] = {sender.kind: sender for sender in SENDERS}


def sender_of(integration: Integration) -> Sender:
    """The sender for an integration."""
    return _BY_KIND[integration.kind]
