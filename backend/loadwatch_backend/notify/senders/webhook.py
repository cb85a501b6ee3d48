"""Webhooks: Alertmanager's v4 document for alerts, ours for runs; signed after Standard Webhooks."""

from typing import ClassVar

from loadwatch_backend.notify.file.model import Integration, IntegrationKind, WebhookIntegration
from loadwatch_backend.notify.senders.http import judge, post_json, shown_host
from loadwatch_backend.notify.senders.model import Message, Result, SendContext, SendRules, UnusableError
from loadwatch_backend.notify.senders.signing import SigningSecretError, headers, parse_secrets


class WebhookSender:
    """Posts the document as it was stored, byte by byte the same at each attempt."""

    kind: ClassVar[IntegrationKind] = IntegrationKind.WEBHOOK
    rules: ClassVar[SendRules] = SendRules()

    def target(self, integration: Integration) -> str:
        """The host; path and query of the URL are a secret."""
        return shown_host(_own(integration).url.reveal())

    def send(self, integration: Integration, message: Message, context: SendContext, seconds: float) -> Result:
        """Post once."""
        own = _own(integration)
        try:
            keys = tuple(key for secret in own.signing_secrets for key in parse_secrets(secret.reveal()))
        except SigningSecretError as error:
            raise UnusableError(f"signing_secret: {error}") from error
        now_ms = context.clock()
        signed = headers(keys, message.id, now_ms // 1_000, message.body)
        return judge(post_json(own.url.reveal(), message.body, signed, own.http, context, seconds), context.clock())


def _own(integration: Integration) -> WebhookIntegration:
    assert isinstance(integration, WebhookIntegration)
    return integration
