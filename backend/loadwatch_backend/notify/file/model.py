"""What a notification file says, after it has been read: receivers, routes, inhibition, time intervals.

Secrets are `Secret`s, whose text no repr, log line or document shows. Durations are in milliseconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from loadwatch_backend.kit.language import Language
from loadwatch_backend.notify.file.intervals import TimeInterval
from loadwatch_backend.notify.file.matchers import LabelMatcher
from loadwatch_backend.notify.model import NoticeKind

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"


class SecretError(Exception):
    """A secret's file cannot be read, or is empty; the text names the file."""


class Secret:
    """A text that is shown nowhere: given in the file itself, or as the path of a file that is read at each use."""

    __slots__ = ("_text", "path")

    def __init__(self, text: str | None = None, path: Path | None = None) -> None:
        self._text = text
        self.path = path

    def reveal(self) -> str:
        """The text, without white space at its ends when it comes from a file.

        Raises:
            SecretError: the file cannot be read, or is empty.
        """
        if self._text is not None:
            return self._text
        try:
            text = (self.path or Path()).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SecretError(f"cannot read the secret's file {self.path}: {reason}") from error
        if not text:
            raise SecretError(f"the secret's file {self.path} is empty")
        return text

    def __repr__(self) -> str:
        return f"Secret(path={str(self.path)!r})" if self.path else "Secret(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self._text, self.path) == (other._text, other.path)

    def __hash__(self) -> int:
        return hash((self._text, self.path))


# Integrations: one way in which a receiver is told --------------------------------------------------------------------


class IntegrationKind(StrEnum):
    """Which sender an integration needs."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    PAGERDUTY = "pagerduty"
    EMAIL = "email"
    APPRISE = "apprise"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig:
    """How the other side's certificate is checked, and ours."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    server_name: str = ""
    insecure_skip_verify: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuth:
    """User and password of an HTTP request."""

    username: Secret
    password: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """The header `Authorization: <type> <credentials>`."""

    type: str = "Bearer"
    credentials: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig:
    """What of Prometheus' `http_config` is supported; `headers` are added as they are."""

    basic_auth: BasicAuth | None = None
    authorization: Authorization | None = None
    tls: TlsConfig = field(default_factory=TlsConfig)
    headers: Mapping[str, Sequence[Secret]] = field(default_factory=dict[str, Sequence[Secret]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """What all integrations have.

    `id` is kind and place among those of its kind: `webhook-0`. `timeout_ms` 0 is the sender's default.
    """

    id: str
    send_resolved: bool
    timeout_ms: int = 0
    max_alerts: int = 0
    """Most alerts in one message; 0 is no limit."""
    http: HttpConfig = field(default_factory=HttpConfig)
    line: int = 0
    language: Language = Language.EN
    """Of the texts that Loadwatch writes, and of rules' annotations where these have it."""

    @property
    def kind(self) -> IntegrationKind:
        """By the id's first part."""
        return IntegrationKind(self.id.rpartition("-")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookIntegration(Integration):
    """POST of Alertmanager's v4 document. Each of `signing_secrets` signs; two of them while one replaces the other."""

    url: Secret
    signing_secrets: Sequence[Secret] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIntegration(Integration):
    """A message by an incoming webhook; `channel` and the following are sent when they are not empty."""

    api_url: Secret
    channel: str = ""
    username: str = ""
    icon_emoji: str = ""
    icon_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutyIntegration(Integration):
    """Events API v2. `severity` empty: by the alert's label; others empty: left out."""

    routing_key: Secret
    url: str = PAGERDUTY_URL
    client: str = ""
    client_url: str = ""
    source: str = ""
    severity: str = ""
    event_class: str = ""
    component: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailIntegration(Integration):
    """SMTP. `implicit_tls` None: by the port, 465. `auth_secret` is for CRAM-MD5. `to` are addresses."""

    to: Sequence[str]
    sender: str
    host: str
    port: int
    hello: str = "localhost"
    auth_username: str = ""
    auth_password: Secret | None = None
    auth_secret: Secret | None = None
    auth_identity: str = ""
    require_tls: bool = True
    implicit_tls: bool | None = None
    tls: TlsConfig = field(default_factory=TlsConfig)
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class AppriseIntegration(Integration):
    """Any service that the apprise library knows; `url` in its form (https://github.com/caronc/apprise/wiki)."""

    url: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A name and the ways in which it is told; none means: on the page only."""

    name: str
    integrations: Sequence[Integration] = ()

    def integration(self, id: str) -> Integration | None:
        """The one with this id."""
        return next((one for one in self.integrations if one.id == id), None)


# Routes ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One node of the route tree, with what it inherits.

    `id` is its place: `0`, `0.1`. `key` is Alertmanager's own: the matchers on the way from the root. `group_by`
    None is every label.
    """

    id: str
    key: str
    receiver: str
    matchers: Sequence[LabelMatcher] = ()
    continues: bool = False
    group_by: Sequence[str] | None = ()
    group_wait_ms: int = 30_000
    group_interval_ms: int = 300_000
    repeat_interval_ms: int = 14_400_000
    mute_time_intervals: Sequence[str] = ()
    active_time_intervals: Sequence[str] = ()
    routes: "Sequence[Route]" = ()
    line: int = 0

    def walk(self) -> "Iterator[Route]":
        """This one and all below, depth first."""
        yield self
        for child in self.routes:
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInterval:
    """A named time interval: any of `intervals`; `lines` are as the file has them, for the page."""

    name: str
    intervals: Sequence[TimeInterval]
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InhibitRule:
    """Firing alerts that match `source` hold those that match `target`, where they agree on the labels `equal`."""

    name: str = ""
    source: Sequence[LabelMatcher]
    target: Sequence[LabelMatcher]
    equal: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRoute:
    """Which runs a receiver is told of."""

    receiver: str
    events: Sequence[NoticeKind]
    matchers: Sequence[LabelMatcher] = ()


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A whole notification file. `digest` changes with anything that changes where alerts go."""

    digest: str
    root: Route
    receivers: Mapping[str, Receiver]
    inhibit_rules: Sequence[InhibitRule] = ()
    time_intervals: Mapping[str, NamedInterval] = field(default_factory=dict[str, NamedInterval])
    notices: Sequence[NoticeRoute] = ()

    @cached_property
    def everybody(self) -> "Sequence[Route]":
        """A route to each receiver that alerts can reach, for those that are everybody's: see `routing.routes_of`."""
        names = dict.fromkeys(route.receiver for route in self.root.walk())
        return [
            Route(
                id=f"everybody:{place}",
                key=f"{{everybody}}:{name}",
                receiver=name,
                group_by=self.root.group_by,
                group_wait_ms=0,
                group_interval_ms=self.root.group_interval_ms,
                repeat_interval_ms=self.root.repeat_interval_ms,
            )
            for place, name in enumerate(names)
            if self.receivers[name].integrations
        ]

    @cached_property
    def routes(self) -> "Mapping[str, Route]":
        """All routes by id."""
        return {route.id: route for route in (*self.root.walk(), *self.everybody)}
