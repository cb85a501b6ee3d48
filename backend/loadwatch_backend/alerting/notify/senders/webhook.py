"""Webhooks: Alertmanager's v4 document for alerts, ours for runs; signed after Standard Webhooks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from loadwatch_backend.alerting.notify.record import Count, Flag, SecretText, SecretUrl, list_of
from loadwatch_backend.alerting.notify.senders.http import judge, post_json, shown_host
from loadwatch_backend.alerting.notify.senders.model import (
    HttpIntegration,
    Message,
    Result,
    SendContext,
    Sender,
    UnusableError,
)
from loadwatch_backend.alerting.notify.senders.signing import SigningSecretError, headers, parse_secrets
from loadwatch_backend.core.secret import Secret
from loadwatch_backend.core.texts.words import Words

_EMPTY = "signing_secret is empty; make one with `openssl rand -base64 32`, and put whsec_ before it"


def _secrets(value: object) -> object:
    """One, or a list while one replaces another."""
    secrets = [value] if isinstance(value, str | Secret) else list_of(value)
    if not secrets or "" in secrets:
        raise ValueError(_EMPTY)
    return secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookIntegration(HttpIntegration):
    """POST of Alertmanager's v4 document. Each of `signing_secrets` signs; two of them while one replaces the other."""

    unsupported: ClassVar[Mapping[str, str]] = {"payload": "the body is always Alertmanager's version 4"}
    missing: ClassVar[Mapping[str, str]] = {"url": "webhook_configs need a url or a url_file"}
    send_resolved: Flag = True
    max_alerts: Count = 0
    url: SecretUrl
    signing_secrets: Annotated[tuple[SecretText, ...], BeforeValidator(_secrets), Field(alias="signing_secret")] = ()

    @property
    def signed(self) -> bool:
        """Whether there is a secret to sign with."""
        return bool(self.signing_secrets)


class WebhookSender(Sender[WebhookIntegration]):
    """Posts the document as it was stored, byte by byte the same at each attempt."""

    kind: ClassVar[str] = "webhook"
    title: ClassVar[Words] = Words("Webhook", "Webhook")
    record = WebhookIntegration
    globals: ClassVar[Mapping[str, str]] = {"http_config": "http_config"}

    def target(self, own: WebhookIntegration) -> str:
        """The host; path and query of the URL are a secret."""
        return shown_host(own.url.reveal())

    def send(self, own: WebhookIntegration, message: Message, context: SendContext, seconds: float) -> Result:
        """Post once."""
        try:
            keys = tuple(key for secret in own.signing_secrets for key in parse_secrets(secret.reveal()))
        except SigningSecretError as error:
            raise UnusableError(f"signing_secret: {error}") from error
        now_ms = context.clock()
        signed = headers(keys, message.id, now_ms // 1_000, message.body)
        return judge(post_json(own.url.reveal(), message.body, signed, own.http, context, seconds), context.clock())
