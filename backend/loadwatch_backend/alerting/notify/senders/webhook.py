"""Webhooks: Alertmanager's v4 document for alerts, ours for runs; signed after Standard Webhooks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from loadwatch_backend.alerting.notify.nodes import Section
from loadwatch_backend.alerting.notify.senders.http import judge, post_json, shown_host
from loadwatch_backend.alerting.notify.senders.http_config import HttpConfig, read_http
from loadwatch_backend.alerting.notify.senders.model import (
    Integration,
    Message,
    Result,
    SendContext,
    Sender,
    UnusableError,
)
from loadwatch_backend.alerting.notify.senders.signing import SigningSecretError, headers, parse_secrets
from loadwatch_backend.core.secret import Secret
from loadwatch_backend.core.texts.words import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookIntegration(Integration):
    """POST of Alertmanager's v4 document. Each of `signing_secrets` signs; two of them while one replaces the other."""

    url: Secret
    signing_secrets: Sequence[Secret] = ()

    @property
    def signed(self) -> bool:
        """Whether there is a secret to sign with."""
        return bool(self.signing_secrets)


class WebhookSender(Sender[WebhookIntegration]):
    """Posts the document as it was stored, byte by byte the same at each attempt."""

    kind: ClassVar[str] = "webhook"
    title: ClassVar[Words] = Words("Webhook", "Webhook")

    def reader(self, common: Section, http: HttpConfig) -> Callable[[Section, str], WebhookIntegration]:
        """Nothing of `global` but `http_config`."""
        del common
        return lambda section, id: _read(section, id, http)

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


def _read(section: Section, id: str, http: HttpConfig) -> WebhookIntegration:
    url = section.secret_url("url")
    if url is None:
        raise section.error("webhook_configs need a url or a url_file")
    made = WebhookIntegration(
        id=id,
        send_resolved=section.flag("send_resolved", True),
        timeout_ms=section.duration("timeout") or 0,
        max_alerts=section.count("max_alerts"),
        http=read_http(section.section("http_config")) or http,
        line=section.line,
        url=url,
        signing_secrets=_signing_secrets(section),
    )
    section.finish("webhook_configs", {"payload": "the body is always Alertmanager's version 4"})
    return made


def _signing_secrets(section: Section) -> tuple[Secret, ...]:
    """One, or a list while one replaces another."""
    found, path = section.take("signing_secret"), section.path("signing_secret_file")
    if found is not None and path is not None:
        raise found.error("give signing_secret or signing_secret_file, not both")
    if path is not None:
        return (Secret(path=path),)
    if found is None:
        return ()
    texts = [found.plain()] if found.node.id == "scalar" else [item.plain() for item in found.items()]
    if not texts or not all(texts):
        raise found.error("signing_secret is empty; make one with `openssl rand -base64 32`, and put whsec_ before it")
    return tuple(map(Secret, texts))
