"""Webhooks: Alertmanager's v4 document for alerts, ours for runs; signed after Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from loadwatch_formats.backoff import parse_retry_after
from pydantic import BeforeValidator, Field

from loadwatch_backend.alerting.notify.record import Count, Flag, SecretText, SecretUrl, list_of
from loadwatch_backend.alerting.notify.senders.model import (
    RESPONSE_LENGTH,
    AttemptOutcome,
    HttpIntegration,
    Message,
    Result,
    SendContext,
    Sender,
    UnusableError,
)
from loadwatch_backend.alerting.notify.senders.sockets import HttpConfig
from loadwatch_backend.alerting.notify.senders.transport import BadAddressError, HttpAnswer, HttpRequest, parse_address
from loadwatch_backend.core.secret import Secret
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.core.version import VERSION

AGENT = f"Loadwatch/{VERSION}"
PASSING = frozenset({408, 425, 429})
LONGEST_RETRY_AFTER_SECONDS = 3_600.0
"""The longest wait that a receiver may ask for, or one answer could silence its alerts."""
MOVED = frozenset({301, 308})
OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "webhook-id", "webhook-timestamp"}
    | {"webhook-signature"}
)


def post_json(
    url: str, body: bytes, headers: Mapping[str, str], http: HttpConfig, context: SendContext, seconds: float
) -> HttpAnswer:
    given = {"Content-Type": "application/json", "User-Agent": AGENT, **configured_headers(http), **headers}
    request = HttpRequest(url=url, body=body, headers=given, tls=http.tls)
    return context.transport.post(request, seconds)


def configured_headers(http: HttpConfig) -> dict[str, str]:
    """Headers of `http_config`; raises SecretError where a file cannot be read."""
    found: dict[str, str] = {}
    for name, header in http.headers.items():
        if name.lower() in OWN_HEADERS:
            raise UnusableError(f"the header {name} cannot be set: it is part of how messages are sent")
        found[name] = ", ".join(value.reveal() for value in header.all)
    if http.basic_auth is not None:
        password = "" if http.basic_auth.password is None else http.basic_auth.password.reveal()
        pair = f"{http.basic_auth.username.reveal()}:{password}"
        found["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    if http.bearer_token is not None:
        found["Authorization"] = f"Bearer {http.bearer_token.reveal()}"
    if http.authorization is not None:
        found["Authorization"] = f"{http.authorization.type} {http.authorization.credentials.reveal()}"
    return found


def judge(answer: HttpAnswer, now_ms: int) -> Result:
    """What an answer means for the message.

    A 2xx is the receiver's word that it has the message, whatever becomes of the rest of its answer.
    """
    status = answer.status
    response = answer.body[:RESPONSE_LENGTH].decode("utf-8", "replace")
    error = answer.error
    outcome = AttemptOutcome.PASSING
    retry_after: float | None = None
    if status is None:
        outcome = AttemptOutcome.PERMANENT if answer.forbidden or answer.unusable else AttemptOutcome.PASSING
    elif 200 <= status < 300:
        outcome = AttemptOutcome.DELIVERED
    else:
        permanent = status in MOVED or (400 <= status < 500 and status not in PASSING)
        outcome = AttemptOutcome.PERMANENT if permanent else AttemptOutcome.PASSING
        retry_after = parse_retry_after(answer.headers.get("retry-after"), now_ms, LONGEST_RETRY_AFTER_SECONDS)
        error = _refusal_text(status, answer)
        error += f" and asks to wait {retry_after:.0f} s" if retry_after is not None else ""
    return Result(
        outcome=outcome,
        status_code=status,
        error=error,
        response=response,
        address=answer.address,
        retry_after_seconds=retry_after,
    )


def _refusal_text(status: int, answer: HttpAnswer) -> str:
    if 300 <= status < 400:
        pointed = _pointed(answer.headers.get("location"))
        return f"answered {status}, pointing to {pointed}; redirects are not followed"
    if status == 410:
        return "answered 410 Gone: nobody takes messages there any more"
    return f"answered {status}"


def _pointed(location: str | None) -> str:
    """Where a redirect led, without its path, which is often that of the secret address."""
    if not location:
        return "nowhere"
    try:
        parts = urlsplit(location)
    except ValueError:
        return "something that is no address"
    if not parts.netloc:
        return "another path of its own"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/***"[:200]


def shown_host(url: str) -> str:
    """Scheme and host of a URL; the path of a webhook is often its only secret."""
    try:
        address = parse_address(url)
    except BadAddressError as error:
        return f"({error})"
    return f"{address.scheme}://{address.host_header}/***"


PREFIX = "whsec_"
LEAST_BYTES = 24
MOST_BYTES = 64


class SigningSecretError(ValueError):
    """A secret is not one; the text never holds it."""


def parse_secret(text: str) -> bytes:
    """The key in `whsec_` and base64 of 24 to 64 bytes.

    Raises:
        SigningSecretError: it is not one.
    """
    text = text.strip()
    if not text.startswith(PREFIX):
        raise SigningSecretError(f"a signing secret begins with {PREFIX}, followed by base64 of 24 to 64 bytes")
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SigningSecretError(f"what follows {PREFIX} in a signing secret is not base64") from error
    if not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise SigningSecretError(f"a signing secret holds {LEAST_BYTES} to {MOST_BYTES} bytes; this one {len(key)}")
    return key


def parse_secrets(text: str) -> tuple[bytes, ...]:
    """One secret or, while they are rotated, several, separated by spaces or lines.

    Raises:
        SigningSecretError: one of them is not a secret.
    """
    return tuple(parse_secret(part) for part in text.split())


def signature(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`, for each key."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}" for key in keys)


def headers(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of a message; unsigned ones have an id and a time too, so that receivers can recognise repeats."""
    found = {"webhook-id": message_id, "webhook-timestamp": str(timestamp)}
    if keys:
        found["webhook-signature"] = signature(keys, message_id, timestamp, body)
    return found


_EMPTY = "signing_secret is empty; make one with `openssl rand -base64 32`, and put whsec_ before it"


def _secrets(value: object) -> object:
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
        try:
            keys = tuple(key for secret in own.signing_secrets for key in parse_secrets(secret.reveal()))
        except SigningSecretError as error:
            raise UnusableError(f"signing_secret: {error}") from error
        now_ms = context.clock()
        signed = headers(keys, message.id, now_ms // 1_000, message.body)
        return judge(post_json(own.url.reveal(), message.body, signed, own.http, context, seconds), context.clock())
