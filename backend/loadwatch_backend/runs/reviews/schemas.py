"""Reviews, their history, and meetings."""

from typing import Annotated

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.files.schemas import MOST_FILES, FileId
from loadwatch_backend.runs.analysis.schemas import ThresholdState
from loadwatch_backend.runs.fields import Finite, Line, Text
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
    """The runs since the last review meeting, the newest first."""

    since_ms: Milliseconds | None
    runs: list[str]
    scenarios: list[str] = Field(description="Of each of `runs`; empty where a run has none.")


class MeetingIn(Schema):
    """A meeting has ended: the next one begins after the newest run of now."""

    attendees: Annotated[list[Line], Field(max_length=50)] = Field(default_factory=list[str])
    scenario: Line = Field(default="", description="Whose runs it went through; those of others stay. Empty for all.")


class ShareIn(Schema):
    """A link that shows the report of one run to whoever has it, until it expires."""

    days: Finite = Field(default=7, gt=0, le=365)
    note: Line = ""
    files: Annotated[list[FileId], Field(max_length=MOST_FILES)] = Field(
        default_factory=list, description="Ids of the run's files that it shows, with their notes; none by default."
    )


class ShareOut(Schema):
    """A link; its secret is shown once, when it is made."""

    id: str
    run: str
    note: str
    created_ms: Milliseconds
    expires_ms: Milliseconds
    files: list[FileId] = Field(description="The run's files that it shows.")
    path: str | None = Field(description="Path of the page, such as /share/…; only in the answer that made it.")


class ShareList(Schema):
    """Links of a run that have not expired."""

    shares: list[ShareOut]
