"""Documents of the alert and rule endpoints."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.alerting.notify.model import STOPPED_SENDING
from loadwatch_backend.alerting.notify.schemas import DeliveryOut, FollowsFromOut, SilenceReference, UndeliveredOut
from loadwatch_backend.alerting.rules.model import NoDataPolicy, RuleFileState, RuleKind
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.schemas import TextOut


class AlertState(StrEnum):
    """Where an alert stands."""

    PENDING = "pending"
    """The condition holds, and not yet for as long as the rule's `for`."""
    FIRING = "firing"
    RESOLVED = "resolved"


class ResolvedReason(StrEnum):
    """Why an alert is over."""

    RECOVERED = "recovered"
    """The data were there, and the condition no longer held."""
    NO_DATA = "no-data"
    """The data vanished, and the rule's policy takes that for good news."""
    DISMISSED = "dismissed"
    RULE_GONE = "rule-gone"
    RUN_ENDED = "run-ended"
    """It was about the load of a run, and that run has ended."""
    STOPPED_SENDING = STOPPED_SENDING
    """It had no data, and nobody sent its target for 15 minutes: whether it has recovered is not known."""


class Acknowledgement(Schema):
    """Somebody has seen it."""

    by: str
    at_ms: Milliseconds
    comment: str


class AcknowledgementIn(Schema):
    """What is said with an acknowledgement."""

    comment: str = Field(default="", max_length=2_000)
    incident: bool = Field(
        default=False,
        description="All alerts of its incident that fire are meant, and those of them that come back meanwhile.",
    )


class AlertRun(Schema):
    """The load-test run that was under way when the alert began."""

    id: str
    name: str


class AlertFinding(Schema):
    """What ran out when an alert fired; docs/reference/findings.md has the ids."""

    id: str
    sentence: TextOut
    certainty: Certainty
    said_ms: Milliseconds | None = Field(description="When; None of what is so now.")


class IncidentMark(Schema):
    """The incident of an alert."""

    id: str = Field(description="Its own of one that is alone.")
    head: str = Field(description="The most severe of its alerts that fire, of those that were asked for.")


class AlertOut(Schema):
    """One alert, from its first moment as pending to its end: an episode."""

    id: str = Field(description="Of this episode; the same in every notification of it.")
    rule_id: str
    group: str
    name: str = Field(description="The label `alertname`.")
    state: AlertState
    severity: str = Field(description="The label `severity`; empty without one.")
    labels: dict[str, str]
    annotations: dict[str, str]
    summary: str
    description: str
    runbook_url: str
    translations: dict[Language, dict[str, str]] = Field(
        description="By language: `summary`, `description` and `runbook_url`, where the rule gives them, and `finding`."
    )
    finding: AlertFinding | None = Field(description="What ran out when it fired, or first after that.")
    expression: str
    value: float | None = Field(description="Of the last evaluation at which the condition held; None when not finite.")
    unit: str
    active_ms: Milliseconds = Field(description="Since when the condition has held.")
    fired_ms: Milliseconds | None
    resolved_ms: Milliseconds | None
    resolved_reason: ResolvedReason | None
    evaluated_ms: Milliseconds
    no_data: bool = Field(description="The series are gone; the state is the last that is known.")
    no_data_since_ms: Milliseconds | None
    holding_until_ms: Milliseconds | None = Field(
        description="The condition no longer holds, and `keep_firing_for` or the damping of flapping keeps the alert."
    )
    flapping: bool
    recent_transitions: int = Field(description="Times that it began or ended to fire within the flapping window.")
    run: AlertRun | None
    incident: IncidentMark
    acknowledged: Acknowledgement | None
    silenced_by: list[SilenceReference]
    inhibited_by: list[str] = Field(description="Ids of alerts.")
    follows_from: FollowsFromOut | None = Field(
        description="It follows from another cause, of which all its receivers have been told; that alert is among "
        "`inhibited_by`."
    )
    muted: bool = Field(description="A time interval of its route keeps it quiet.")
    receivers: list[str]
    undelivered: list[UndeliveredOut] = Field(
        description="Those of its receivers that do not take messages at present."
    )
    sparkline: list[float | None] = Field(description="The rule's value over the last half hour, oldest first.")
    threshold: float | None = Field(description="What the value is compared to, where that is one number.")
    comparison: str = Field(description="How: `>`, `>=`, `<`, `<=`, `==` or `!=`; empty where that is not known.")
    signal: str = Field(description="Id of the signal that shows it best; may be empty.")
    moment_url: str = Field(description="Path of the live page around the moment it began.")


class AlertCounts(Schema):
    """How many alerts stand where, whatever the filter."""

    firing: int
    pending: int
    acknowledged: int
    silenced: int


class AlertList(Schema):
    """Alerts with the newest first, firing before pending."""

    alerts: list[AlertOut]
    counts: AlertCounts
    total: int = Field(description="How many match the filter; the list may be shorter.")
    evaluated_ms: Milliseconds | None = Field(description="When rules were last evaluated.")
    evaluator: str = Field(description="`here`, or `elsewhere` while another server on this database evaluates.")


class TransitionOut(Schema):
    """One change of state."""

    id: int
    alert_id: str
    from_state: AlertState | None
    to_state: AlertState
    at_ms: Milliseconds
    value: float | None
    reason: str = Field(
        description="Empty where the condition is the reason; else recovered, no-data, data-back, flapping, steady, "
        "dismissed, rule-gone, run-ended, outlived-run, stopped-sending, acknowledged, unacknowledged or joined "
        "(again, an acknowledged incident)."
    )
    by: str = Field(default="", description="Who did it, where somebody did.")


class RunbookPart(Schema):
    """A piece of a step: text, code, or a link."""

    text: str
    code: bool
    href: str = Field(description="A path of this server or an address; empty of what is no link.")


class IncidentOut(Schema):
    """Alerts with one cause."""

    id: str
    began_ms: Milliseconds = Field(description="When the condition of the first of them began to hold.")
    ended_ms: Milliseconds | None = Field(description="When the last of them ended; None while one fires or pends.")
    head: AlertOut = Field(description="The most severe alert that fires; after all are over, that did.")
    others: list[AlertOut] = Field(description="In the order in which they began; at most 200.")
    total: int = Field(description="How many alerts it has, the head among them.")
    firing: int
    acknowledged: int = Field(description="Of those that fire.")
    steps: dict[Language, list[list[RunbookPart]]] = Field(
        description="What to do first: what the head's finding says as it stands, then its runbook, where that is ours."
    )
    notified: list[DeliveryOut] = Field(
        description="Of each integration the first message of these alerts that it took, else the last one."
    )


class AlertDetail(Schema):
    """One alert with its incident and what happened to it."""

    alert: AlertOut
    incident: IncidentOut
    transitions: list[TransitionOut]
    earlier: list[AlertOut] = Field(description="Earlier episodes of the same alert, newest first, at most 20.")


class AlertSeries(Schema):
    """The rule's value over time, for a chart."""

    times_ms: list[Milliseconds]
    values: list[float | None]
    threshold: float | None
    unit: str


class HistoryList(Schema):
    """Alerts that overlap a span, newest first."""

    alerts: list[AlertOut]
    more: bool = Field(description="There are older ones; ask again with `end_ms` before the last one's start.")


# Rules ----------------------------------------------------------------------------------------------------------------


class RuleHealth(StrEnum):
    """How the last evaluation ended."""

    UNKNOWN = "unknown"
    OK = "ok"
    ERROR = "error"


class RuleState(StrEnum):
    """The worst state of a rule's alerts."""

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"


class RuleOut(Schema):
    """One rule and how it does."""

    id: str
    kind: RuleKind
    name: str
    expression: str
    line: int
    for_seconds: float
    keep_firing_for_seconds: float
    no_data: NoDataPolicy
    labels: dict[str, str]
    annotations: dict[str, str]
    translations: dict[Language, dict[str, str]] = Field(description="By language, as those of alerts; templates.")
    state: RuleState
    firing: int
    pending: int
    without_data: int
    health: RuleHealth
    error: str
    evaluated_ms: Milliseconds | None
    evaluation_seconds: float | None


class RuleGroupOut(Schema):
    """Rules that are evaluated together."""

    name: str
    file: str
    interval_seconds: float
    evaluated_ms: Milliseconds | None
    evaluation_seconds: float | None
    missed: int = Field(description="Evaluations that came too late to be made, since the server's start.")
    rules: list[RuleOut]


class RuleFileOut(Schema):
    """A rule file as it was last read."""

    path: str
    built_in: bool
    state: RuleFileState
    error: str
    line: int | None
    loaded_ms: Milliseconds
    rules: int


class RuleList(Schema):
    """All rules in force."""

    files: list[RuleFileOut]
    groups: list[RuleGroupOut]
