"""Documents of routes, silences, receivers and deliveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from loadwatch_backend.alerting.notify.file.matchers import MatchOperatorName
from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.schemas import TextOut


class MatcherDocument(Schema):
    """One condition on a label; regular expressions are RE2 and match the whole value."""

    name: str = Field(min_length=1, max_length=200)
    operator: MatchOperatorName
    value: str = Field(max_length=2_000)


# Routes ---------------------------------------------------------------------------------------------------------------


class RouteOut(Schema):
    """One route with those below it; durations are those in force, inherited where the file names none."""

    id: str = Field(description="Its place in the tree: `0`, `0.1`, `0.1.0`.")
    receiver: str
    matchers: list[str]
    continues: bool
    group_by: list[str] = Field(description="`...` is every label.")
    group_wait_seconds: float
    group_interval_seconds: float
    repeat_interval_seconds: float
    mute_time_intervals: list[str]
    active_time_intervals: list[str]
    muted_now: bool
    groups: int = Field(description="Groups with firing alerts at present.")
    routes: list["RouteOut"]


class TimeIntervalOut(Schema):
    """A named time interval."""

    name: str
    lines: list[str] = Field(description="As the file has it, a line for each part.")
    active_now: bool


class InhibitRuleOut(Schema):
    """Alerts that match `source` keep those that match `target` quiet, where they agree on the labels `equal`."""

    name: str
    source: list[str]
    target: list[str]
    equal: list[str]


class NoticeRouteOut(Schema):
    """Which runs a receiver is told of."""

    receiver: str
    events: list[str]
    matchers: list[str]


class RoutingOut(Schema):
    """The configuration in force, and what is wrong with the file if it is not the one in force."""

    path: str | None = Field(description="None: no file is configured, and the built-in configuration is in force.")
    loaded_ms: Milliseconds
    error: str
    line: int | None
    root: RouteOut
    time_intervals: list[TimeIntervalOut]
    inhibit_rules: list[InhibitRuleOut]
    run_notices: list[NoticeRouteOut]


class RouteQuestion(Schema):
    """Labels of an alert that may not exist."""

    labels: dict[str, str] = Field(max_length=64)
    at_ms: Milliseconds | None = None


class RouteMatch(Schema):
    """A route that would take the alert."""

    route_id: str
    path: list[str] = Field(description="Ids from the root to it.")
    receiver: str
    integrations: int = Field(description="None means that nobody is told: it is on the page only.")
    group_labels: dict[str, str]
    muted: bool
    muted_by: list[str]


class RouteAnswer(Schema):
    """Where the labels would go."""

    matches: list[RouteMatch]
    silenced_by: list[str] = Field(description="Ids of silences.")
    inhibited_by: list[str] = Field(description="Keys of firing alerts.")


# Silences -------------------------------------------------------------------------------------------------------------


class SilenceState(StrEnum):
    """Where a silence stands."""

    PENDING = "pending"
    ACTIVE = "active"
    EXPIRED = "expired"


class Recurrence(Schema):
    """Only in these hours of these days, between the silence's start and end."""

    weekdays: list[Annotated[int, Field(ge=0, le=6)]] = Field(
        default_factory=lambda: list(range(7)), min_length=1, max_length=7, description="0 is Monday."
    )
    from_time: str = Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="Local time, HH:MM.")
    to_time: str = Field(
        pattern=r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$", description="At or before `from_time`: on the next day."
    )
    time_zone: str = Field(default="UTC", max_length=60, description="IANA name.")


class SilenceIn(Schema):
    """A silence to be."""

    matchers: list[MatcherDocument] = Field(min_length=1, max_length=20, description="All must hold.")
    starts_ms: Milliseconds
    ends_ms: Milliseconds
    comment: str = Field(min_length=1, max_length=2_000)
    recurrence: Recurrence | None = None


class SilenceOut(Schema):
    """A silence. One that is over stays in the list for 30 days."""

    id: str
    matchers: list[MatcherDocument]
    starts_ms: Milliseconds
    ends_ms: Milliseconds
    comment: str
    author: str
    recurrence: Recurrence | None
    state: SilenceState
    holds_now: bool = Field(description="Active, and within its recurrence.")
    next_ms: Milliseconds | None = Field(description="When it holds next, if it does not now.")
    created_ms: Milliseconds
    updated_ms: Milliseconds
    alerts: int = Field(description="Alerts of now that it matches.")


class SilenceList(Schema):
    """Silences, those that hold first."""

    silences: list[SilenceOut]


class SilenceReference(Schema):
    """A silence that keeps an alert quiet at present."""

    id: str
    comment: str
    ends_ms: Milliseconds


class FollowsFromOut(Schema):
    """Why an alert is held back: the finding that explains it, and the alert by which its receivers know of that."""

    finding: str
    sentence: TextOut
    alert: str


class SilencePreview(Schema):
    """What matchers would match."""

    alerts: int
    names: list[str] = Field(description="Names of the alerts of now that match, at most 20.")
    everything: bool = Field(description="The matchers match alerts without labels: nearly everything.")


class SilenceQuestion(Schema):
    """Matchers to try."""

    matchers: list[MatcherDocument] = Field(min_length=1, max_length=20)


# Receivers and deliveries ---------------------------------------------------------------------------------------------


class IntegrationState(StrEnum):
    """How an integration does."""

    UNUSED = "unused"
    OK = "ok"
    FAILING = "failing"
    """What was sent last did not arrive; it is tried again."""
    REFUSING = "refusing"
    """The same, and the answer looks permanent: tried ever more seldom."""


class IntegrationOut(Schema):
    """One way in which a receiver is told."""

    id: str = Field(description="`webhook-0`, `email-1`: kind and place in the file.")
    kind: str
    title: str = Field(description="The kind's name.")
    title_ja: str
    target: str = Field(description="Where it goes, without secrets.")
    send_resolved: bool
    signed: bool
    state: IntegrationState
    state_reason: str
    last_success_ms: Milliseconds | None
    last_failure_ms: Milliseconds | None
    failing_since_ms: Milliseconds | None
    next_attempt_ms: Milliseconds | None = Field(description="When what waits is tried next, while it fails.")
    waiting: int
    dead: int


class UndeliveredOut(Schema):
    """An integration that does not take messages at present."""

    receiver: str
    integration: str
    reason: str = Field(description="What it answered last, or why there was no answer.")
    since_ms: Milliseconds
    next_attempt_ms: Milliseconds
    waiting: int


class ReceiverOut(Schema):
    """A receiver with its integrations; one without any is read on the page only."""

    name: str
    integrations: list[IntegrationOut]
    routes: list[str] = Field(description="Ids of the routes that lead to it.")


class ReceiverList(Schema):
    """Receivers in the order of the file."""

    receivers: list[ReceiverOut]


class TrialResult(Schema):
    """How one integration took a test message."""

    integration: str
    ok: bool
    status_code: int | None
    seconds: float
    error: str
    response: str


class TrialResults(Schema):
    """How a receiver took a test message."""

    results: list[TrialResult]


class DeliveryState(StrEnum):
    """Where a delivery stands."""

    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    WITHDRAWN = "withdrawn"
    """No longer to be sent: a later message tells it, or a person said stop; it can be sent on purpose."""
    DEAD = "dead"
    """Given up, for the reason that is said; it can be sent again."""


class DeliveryOut(Schema):
    """One message to one integration."""

    id: str = Field(description="The `webhook-id`: the same at every attempt.")
    kind: EnvelopeKind
    receiver: str
    integration: str
    integration_kind: str
    subject: str
    state: DeliveryState
    reason: str = Field(description="Why it waits or was given up; empty when delivered.")
    firing: int
    resolved: int
    created_ms: Milliseconds
    delivered_ms: Milliseconds | None
    next_attempt_ms: Milliseconds | None
    attempts: int
    last_status_code: int | None
    last_seconds: float | None


class AttemptOut(Schema):
    """One try."""

    number: int
    at_ms: Milliseconds
    seconds: float
    status_code: int | None
    outcome: str = Field(description="`delivered`, `passing` or `permanent`.")
    error: str
    response: str = Field(description="The head of the answer, at most 2 KiB.")
    address: str = Field(description="The address that was connected to; empty when there was no connection.")


class DeliveryDetail(Schema):
    """One delivery, its attempts and what was sent."""

    delivery: DeliveryOut
    attempts: list[AttemptOut]
    document: dict[str, Any]
    alert_keys: list[str]


class DeliveryList(Schema):
    """Deliveries, newest first."""

    deliveries: list[DeliveryOut]
    counts: dict[DeliveryState, int]
    next_before: str | None = Field(description="Pass as `before` for older ones.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Why an alert is not sent, and who would be told. `inhibited_by` are keys of alerts."""

    silences: Sequence[SilenceReference] = ()
    inhibited_by: Sequence[str] = ()
    follows_from: FollowsFromOut | None = None
    muted: bool = False
    receivers: Sequence[str] = ()
    undelivered: Sequence[UndeliveredOut] = ()
    """Integrations of these receivers that do not take messages at present."""
