"""One attempt to deliver one message: by workers and by the test button alike."""

import hashlib
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import structlog

from loadwatch_backend.alerting.notify.senders.model import (
    AttemptOutcome,
    Integration,
    Message,
    Result,
    SendContext,
    UnusableError,
)
from loadwatch_backend.alerting.notify.senders.registry import sender_of
from loadwatch_backend.core.secret import SecretError, secrets_in

logger = structlog.get_logger(__name__)

LEAST_SECRET = 4
"""Shorter texts occur by chance: hiding them would only garble answers."""
LEAST_PATH_SECRET = 12
"""The same for parts of a path, most of which are words."""


def attempt(integration: Integration, message: Message, context: SendContext) -> Result:
    """Send once; whatever happens is a result, without the integration's secrets in its texts."""
    sender = sender_of(integration)
    seconds = integration.timeout_ms / 1_000 or sender.rules.timeout_seconds
    try:
        result = sender.send(integration, message, context, seconds)
    except SecretError as error:
        # The file may be mounted again in a minute.
        result = Result(outcome=AttemptOutcome.PASSING, error=str(error))
    except UnusableError as error:
        result = Result(outcome=AttemptOutcome.PERMANENT, error=str(error))
    except Exception:
        logger.exception("a sender made a mistake", kind=integration.kind, delivery=message.id)
        result = Result(outcome=AttemptOutcome.PASSING, error="a mistake of Loadwatch's; the server's log has the rest")
    return without_secrets(result, integration)


def without_secrets(result: Result, integration: Integration) -> Result:
    """The result with secrets of the integration hidden: receivers like to repeat what they were sent."""
    error, response = result.error, result.response
    for text in sorted(_revealed(integration), key=len, reverse=True):
        error, response = error.replace(text, "***"), response.replace(text, "***")
    return replace(result, error=error, response=response)


def target_of(integration: Integration) -> str:
    """Where an integration leads, for people."""
    try:
        return sender_of(integration).target(integration)
    except SecretError as error:
        return f"({error})"


def digest_of(integration: Integration) -> str:
    """Changes when the integration leads elsewhere; tells nothing of where."""
    known = "\0".join([integration.kind, target_of(integration), *_revealed(integration)])
    return hashlib.sha256(known.encode()).hexdigest()


def _revealed(value: object) -> list[str]:
    found: list[str] = []
    for secret in secrets_in(value):
        try:
            found += [part for text in secret.reveal().split() for part in _parts(text)]
        except SecretError:
            continue
    return found


def _parts(text: str) -> list[str]:
    """A secret and, of a URL, those parts that may be secret by themselves."""
    found = [text]
    if "://" in text:
        try:
            url = urlsplit(text)
        except ValueError:
            return found
        found += [value for _, value in parse_qsl(url.query)]
        found += [part for part in (url.username, url.password, url.path.rstrip("/"), url.query) if part]
        found += [part for part in url.path.split("/") if len(part) >= LEAST_PATH_SECRET]
    return [part for part in found if len(part) >= LEAST_SECRET]
