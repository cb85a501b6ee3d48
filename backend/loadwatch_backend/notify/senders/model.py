"""What senders are given and what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.notify.contract import EnvelopeKind
from loadwatch_backend.notify.file.model import Integration, IntegrationKind
from loadwatch_backend.notify.senders.transport import Transport

TIMEOUT_SECONDS = 10.0
RESPONSE_LENGTH = 2_048


class Outcome(StrEnum):
    """What became of one attempt."""

    DELIVERED = "delivered"
    PASSING = "passing"
    """It may work later."""
    PERMANENT = "permanent"
    """It looks as if the same message could never be delivered; it is tried all the same, ever more seldom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as a sender sees it: `body` is `document` as JSON, the same bytes at each attempt."""

    id: str
    kind: EnvelopeKind
    receiver: str
    subject: str
    document: Mapping[str, Any]
    body: bytes
    order_key: str
    created_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How an attempt went; `response` is the head of the answer, `address` what was connected to."""

    outcome: Outcome
    status_code: int | None = None
    error: str = ""
    response: str = ""
    address: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendContext:
    """What senders need of the server."""

    transport: Transport
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRules:
    """How many messages one integration may be sent at once, and the least pause between two, in seconds.

    `acknowledges`: it is told at once when somebody has acknowledged all alerts of a group that fire.
    """

    parallel: int = 4
    pace_seconds: float = 0.0
    timeout_seconds: float = TIMEOUT_SECONDS
    acknowledges: bool = False


class Sender(Protocol):
    """Sends the messages of one kind of integration."""

    kind: ClassVar[IntegrationKind]
    rules: ClassVar[SendRules]

    def target(self, integration: Integration) -> str:
        """Where it goes, for people, without secrets."""
        ...

    def send(self, integration: Integration, message: Message, context: SendContext, seconds: float) -> Result:
        """Make one attempt within the time.

        Raises:
            SecretError: a secret's file cannot be read.
        """
        ...


class UnusableError(Exception):
    """The configuration of an integration cannot be used; the text says why, without a secret."""


def cut(text: str, most: int) -> str:
    """The text, or its head with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_bytes(text: str, most: int) -> str:
    """The same for a limit in bytes of UTF-8."""
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode("utf-8", "ignore") + "…"
