"""What senders are given and what they answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import Field

from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.record import INTERNAL, Duration, Flag, Record
from loadwatch_backend.alerting.notify.senders.sockets import HttpConfig
from loadwatch_backend.alerting.notify.senders.transport import Transport
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Words

TIMEOUT_SECONDS = 10.0
RESPONSE_LENGTH = 2_048
TEMPLATE = "it is a template there; Loadwatch writes the message itself"
"""What is said of the keys of Alertmanager that hold the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration(Record):
    """One way to notify a receiver: what all of them have; one that takes more of it declares it again.

    `id` is kind and place among those of its kind: `webhook-0`. `timeout_ms` 0 is the sender's default.
    """

    id: Annotated[str, INTERNAL] = ""
    send_resolved: Flag = False
    timeout_ms: Annotated[int, INTERNAL] = 0
    max_alerts: Annotated[int, INTERNAL] = 0
    """Most alerts in one message; 0 is no limit."""
    http: Annotated[HttpConfig, INTERNAL] = field(default_factory=HttpConfig)
    line: Annotated[int, INTERNAL] = 0
    language: Annotated[Language, INTERNAL] = Language.EN
    """Of the texts that Loadwatch writes, and of rules' annotations where these have it."""

    @property
    def kind(self) -> str:
        """By the id's first part."""
        return self.id.rpartition("-")[0]

    @property
    def signed(self) -> bool:
        """Whether receivers can check that a message is ours."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpIntegration(Integration):
    """One that posts to an address."""

    timeout_ms: Annotated[Duration, Field(alias="timeout")] = 0
    http: Annotated[HttpConfig, Field(alias="http_config")] = field(default_factory=HttpConfig)


Own = TypeVar("Own", bound=Integration)


class AttemptOutcome(StrEnum):
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

    outcome: AttemptOutcome
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

    `acknowledges`: it is notified at once when somebody has acknowledged all alerts of a group that fire.
    """

    parallel: int = 4
    pace_seconds: float = 0.0
    timeout_seconds: float = TIMEOUT_SECONDS
    acknowledges: bool = False


class Sender(ABC, Generic[Own]):
    """One kind of integration: what it is in the file, below `<kind>_configs`, and how it is sent."""

    kind: ClassVar[str]
    title: ClassVar[Words]
    record: ClassVar[type[Integration]]
    rules: ClassVar[SendRules] = SendRules()
    globals: ClassVar[Mapping[str, str]] = {}
    """Keys of `global`, and for which of the record's they stand where that is not given."""
    unsupported_globals: ClassVar[Mapping[str, str]] = {}
    """Keys of `global` that Alertmanager knows and Loadwatch does not, and what to do instead."""

    @abstractmethod
    def target(self, own: Own) -> str:
        """Where it goes, for people, without secrets."""

    @abstractmethod
    def send(self, own: Own, message: Message, context: SendContext, seconds: float) -> Result:
        """Make one attempt within the time.

        Raises:
            SecretError: a secret's file cannot be read.
        """


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
