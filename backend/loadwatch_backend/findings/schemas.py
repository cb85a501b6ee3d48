"""What the interface says of findings, and what people say of them; every text in both languages."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.files.schemas import printable
from loadwatch_backend.findings.model import Certainty, DiagnosisState, HeadlineKind, Link, Opinion, Severity

Change = Literal["added", "gone", "other-certainty", "other-figures", "other-place"]


class TextOut(Schema):
    """The same text in English and in Japanese."""

    en: str
    ja: str


class ChartOut(Schema):
    """At most 60 values, the highest of each part; null where nothing is known."""

    start_ms: Milliseconds
    step_ms: int
    values: list[float | None]


class EvidenceOut(Schema):
    """One measured thing."""

    text: TextOut
    link: Link = Field(description="What it shows: `limit`, `demand`, `effect`. All three make a finding certain.")
    expression: str = Field(description="PromQL that shows it.")
    unit: Unit
    at_ms: Milliseconds
    value: float
    limit: float | None
    chart: ChartOut | None


class StepOut(Schema):
    """What to do next; `code` is to be pasted, empty where there is none."""

    text: TextOut
    code: str


class RuleOfThumb(Schema):
    """A rule with its source."""

    text: TextOut
    source: str


class MarkOut(Schema):
    """What somebody said of a finding. `confirmed` is only of marks by earlier versions."""

    id: int
    opinion: Opinion
    reason: str
    author: str
    said_ms: Milliseconds


class FindingOut(Schema):
    """A diagnosed limit with its evidence."""

    id: str = Field(description="Stable; docs/reference/findings.md lists all.", examples=["pool-exhausted"])
    key: str = Field(description="The id with its labels: tells it from others of the same window.")
    title: TextOut
    sentence: TextOut = Field(description="Says it aloud, with its figures.")
    severity: Severity = Field(description="`info` accuses nothing.")
    certainty: Certainty = Field(description="By the chain of evidence: limit, demand, effect.")
    from_ms: Milliseconds = Field(description="When harm began.")
    to_ms: Milliseconds
    labels: dict[str, str]
    instances: list[str] = Field(
        default=[], description="Of a fleet's finding: those it is about, the worst first. `labels` name none then."
    )
    because_of: list[str] = Field(description="Keys of the findings that this one follows from.")
    evidence: list[EvidenceOut]
    explanation: TextOut
    steps: list[StepOut]
    rule_of_thumb: RuleOfThumb
    refuted_by: TextOut
    mark: MarkOut | None = Field(default=None, description="Who marked it wrong in this run, and why.")
    muted: bool = Field(default=False, description="Muted on this target: kept, and not said.")
    mute: int | None = Field(default=None, description="Id of that mute.")
    began_earlier: bool = Field(default=False, description="It began at `from_ms` or before: more than an hour ago.")
    before_run: bool = Field(
        default=False, description="Of the present: it was over before the latest run began, and does not lead."
    )
    resource: str = Field(
        default="", description="The resource of `GET /api/headroom` that ran out; empty where it is none of those."
    )

    @property
    def step(self) -> Words | None:
        return Words(self.steps[0].text.en, self.steps[0].text.ja) if self.steps else None

    def labels_for(self, instance: str | None) -> Mapping[str, str]:
        """Its labels; those of a fleet with this instance where it is one of them, else with the worst."""
        if not self.instances:
            return self.labels
        return {**self.labels, "instance": instance if instance and instance in self.instances else self.instances[0]}

    @property
    def accuses(self) -> bool:
        """Whether it is worth a message: it says that something is wrong, and more than one sign says so."""
        return self.severity is not Severity.INFO and self.certainty is not Certainty.POSSIBLE


class CheckedOut(Schema):
    """A kind that was looked at and was not it, with its figure; or that could not be judged, with why."""

    id: str
    title: TextOut
    text: TextOut


class MissingOut(Schema):
    """What could not be looked at."""

    id: str
    title: TextOut
    needs: list[str] = Field(description="Metrics of which none was there.")
    config: str = Field(description="Lines of a target in loadwatch.yml that bring them; empty where none do.")
    usual: bool = Field(default=True, description="False where only some systems have such a thing.")


class RouteFigure(Schema):
    """What a request of a route asked of the database, over the whole run; see `GET /api/runs/{run_id}/cost`."""

    name: str
    requests: float
    calls: float = Field(description="Statements a request.")
    database_seconds: float = Field(description="Database time a request.")


class HeadlineOut(Schema):
    """What is said first of a window: the same on every page, in reports and in messages."""

    kind: HeadlineKind
    title: TextOut = Field(description="In a few words: of `found` the finding's title.")
    text: TextOut = Field(description="In a sentence: of `found` the finding's.")
    key: str = Field(default="", description="Of `found`: the key of the finding.")
    severity: Severity | None = None
    certainty: Certainty | None = None
    from_ms: Milliseconds | None = Field(default=None, description="Of `found`: when harm began.")
    began_earlier: bool = False
    instance: str = Field(default="", description="Of `found`: the instance that suffers most, where it names one.")
    resource: str = Field(default="", description="Of `found`: see the finding's `resource`.")
    more: int = Field(default=0, description="Of `found`: further ones that accuse; else notes, which accuse nothing.")


class DiagnosisOut(Schema):
    """What else is said of a window, beside its findings."""

    state: DiagnosisState
    headline: HeadlineOut | None = Field(default=None, description="Null only where nobody's opinions were read yet.")
    engine: int = Field(description="Version of the engine that said it.")
    from_ms: Milliseconds
    to_ms: Milliseconds
    said_ms: Milliseconds = Field(description="When it was said; of a run it stays as it was said then.")
    requests: Count | None = Field(default=None, description="Requests of the load that was known then.")
    observations: list[TextOut] = Field(description="What was full or unusual and hurt nobody.")
    checked: list[CheckedOut]
    unjudged: list[CheckedOut] = Field(
        default_factory=list[CheckedOut], description="Kinds that had their metrics and could not tell, each with why."
    )
    symptoms: list[TextOut] = Field(
        default_factory=list[TextOut],
        description="What went wrong with the load: failures, slow answers, a failed threshold, rows that are missing.",
    )
    cannot_tell: TextOut | None = Field(
        default=None, description="Of the state `cannot-tell`: the first symptom, and why nothing explains it."
    )
    missing: list[MissingOut]
    routes: list[RouteFigure] = Field(
        default_factory=list[RouteFigure], description="Routes whose cost could be told, by database time."
    )


class ChangeOut(Schema):
    """One difference between what was said and what is said now."""

    key: str
    title: TextOut
    change: Change


class FindingsOut(DiagnosisOut):
    """A diagnosis with its findings: causes before consequences, then by when harm began."""

    run: str = Field(
        default="", description="Of the present: the run whose own findings these are, where it lasts or just ended."
    )
    findings: list[FindingOut]


class FindingsAgain(Schema):
    """A run's findings computed again, beside what was said."""

    said: FindingsOut | None
    now: FindingsOut
    changes: list[ChangeOut]
    kept: bool = Field(description="Whether `now` is what the run says from now on.")


KEY_LENGTH = 4_000
REASON_LENGTH = 2_000
MOST_LABELS = 5


FindingId = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,64}$", examples=["pool-exhausted"])]
Line = Annotated[str, Field(max_length=200), AfterValidator(printable)]
Author = Annotated[
    str, Field(max_length=100, description="Who says it; left empty, who is signed in."), AfterValidator(printable)
]
Reason = Annotated[str, Field(max_length=REASON_LENGTH), AfterValidator(printable)]


class MarkIn(Schema):
    """Of a run: its finding of this key is wrong. Else: findings of this id are muted on targets with these labels."""

    run: Annotated[str, Field(max_length=40)] = ""
    key: Annotated[str, Field(max_length=KEY_LENGTH), AfterValidator(printable)] = Field(
        default="", description="Of the run's finding."
    )
    finding_id: FindingId | None = None
    labels: Annotated[dict[Line, Line], Field(max_length=MOST_LABELS)] = Field(
        default_factory=dict[str, str],
        description="None mute the finding everywhere.",
        examples=[{"instance": "app-1"}],
    )
    reason: Reason = Field(default="", description="Required where a run's finding is marked wrong.")
    author: Author = ""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.run and not (self.key and self.reason.strip()):
            raise ValueError("a finding of a run is marked wrong by its key, with a reason")
        if not self.run and self.finding_id is None:
            raise ValueError("a mute names finding_id")
        return self


class MarkedOut(MarkOut):
    """A mark, with what it is about."""

    run: str | None = Field(description="Whose finding is marked wrong; null for a mute.")
    finding_id: str
    labels: dict[str, str]


class MarkList(Schema):
    """Mutes and marks, the newest first."""

    marks: list[MarkedOut]
