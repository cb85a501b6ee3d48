"""Reviews, their history, and meetings."""

from typing import Annotated

from pydantic import Field

from loadwatch_backend.kit.schemas import Count, Milliseconds, Schema
from loadwatch_backend.runs.analysis.schemas import ThresholdState
from loadwatch_backend.runs.fields import Line, Text
from loadwatch_backend.runs.reviews.actions.schemas import ActionScore, ActionStanding, ReviewAction, ReviewActions


class ExpectedImpact(Schema):
    """A signal with a figure, such as `p95<300ms`."""

    expression: Line
    note: Line = ""


class ReviewFields(Schema):
    """What the team writes about a run."""

    approach: Text = ""
    expected: Annotated[list[ExpectedImpact], Field(max_length=20)] = Field(default_factory=list[ExpectedImpact])
    monitored: Annotated[list[Line], Field(max_length=50)] = Field(
        default_factory=list[str], description="Ids of signals or of run metrics."
    )
    outcome: Text = ""
    next_action: Text = ""
    feedback: Text = ""
    attendees: Annotated[list[Line], Field(max_length=50)] = Field(default_factory=list[str])
    actions: ReviewActions = Field(default_factory=list[ReviewAction])


class ReviewIn(ReviewFields):
    """A review as it is typed; `version` is the one that was read, so that nobody's words are lost."""

    version: Count = Field(description="0 for the first.")
    author: Line = ""


class MeasuredImpact(Schema):
    """What became of an expectation, or of a monitored signal."""

    expression: str
    expected: float | None
    actual: float | None
    unit: str
    baseline: float | None = Field(description="The same in the scenario's baseline.")
    state: ThresholdState
    detail: str
    detail_ja: str = Field(default="", description="The same in Japanese.")


class ReviewOut(ReviewFields):
    """A review with what was measured."""

    version: int
    author: str
    updated_ms: Milliseconds | None
    measured: list[MeasuredImpact]
    standings: list[ActionStanding] = Field(description="Of the actions, in their order.")
    scored: list[ActionScore] = Field(description="What this run says of actions of runs before it.")


class ReviewVersion(ReviewFields):
    """A review as it was."""

    version: int
    author: str
    updated_ms: Milliseconds


class ReviewHistory(Schema):
    """All versions, the newest first."""

    versions: list[ReviewVersion]


class Meeting(Schema):
    """The runs since the last review meeting, in order of their start."""

    since_ms: Milliseconds | None
    runs: list[str]


class MeetingIn(Schema):
    """A meeting has ended: the next one begins after the newest run of now."""

    attendees: Annotated[list[Line], Field(max_length=50)] = Field(default_factory=list[str])
    scenario: Line = Field(default="", description="Whose runs it went through; those of others stay. Empty for all.")
