"""Reviews, their history, and meetings."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, model_validator

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.files.schemas import MOST_FILES, FileId
from loadwatch_backend.runs.analysis.schemas import ThresholdState
from loadwatch_backend.runs.fields import Finite, Line, RunId, Text, printable

MOST_ACTIONS = 50
OWNER_LENGTH = 100
ActionId = Annotated[str, Field(pattern=r"^[a-z0-9]{1,16}$", description="Made by whoever writes it; stays.")]


class ActionState(StrEnum):
    """What people say of it."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    """Nobody will do it: later runs are not measured by it."""


class ReviewAction(Schema):
    """Something that the team decided to do, and what it should bring."""

    id: ActionId
    text: Annotated[str, Field(max_length=1_000), AfterValidator(printable)] = ""
    owner: Annotated[str, Field(max_length=OWNER_LENGTH), AfterValidator(printable)] = ""
    due: date | None = None
    state: ActionState = ActionState.OPEN
    expected: Line = Field(default="", description="A threshold for later runs of the scenario, as `p95<300ms`.")


def each_once(actions: list[ReviewAction]) -> list[ReviewAction]:
    """The actions, if each has an id of its own.

    Raises:
        ValueError: two have the same.
    """
    if len({one.id for one in actions}) < len(actions):
        raise ValueError("two actions have the same id")
    return actions


ReviewActions = Annotated[list[ReviewAction], Field(max_length=MOST_ACTIONS), AfterValidator(each_once)]


class ScoreState(StrEnum):
    """What a later run measured of what was expected."""

    MET = "met"
    MISSED = "missed"
    NOT_MEASURED = "not-measured"
    """`detail` says why."""


_EARLIER_STATES = {"held": ScoreState.MET, "cannot-tell": ScoreState.NOT_MEASURED}


class ScoreFacts(Schema):
    """What a run says of an action; kept as it was said."""

    text: str = Field(description="Of the action, as it was then.")
    owner: str
    expected: str
    state: ScoreState
    detail: str = Field(description="What else there is to say of the measurement.")
    detail_ja: str = Field(default="", description="The same in Japanese; empty where it was kept in English only.")
    unit: str = ""
    limit: Finite | None = None
    actual: Finite | None = Field(default=None, description="Null where nothing was measured.")
    window: str = Field(default="", description="`steady`, `whole` (or no steady part was found), or `60s..120s`.")

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_versions(cls, given: Any) -> Any:
        """What earlier versions kept, in rows and archives, had other states, and a reason beside the detail."""
        document = cast("dict[str, Any]", given)
        if not isinstance(given, dict) or "reason" not in document:
            return document
        facts = {key: value for key, value in document.items() if key not in ("reason", "load", "before")}
        facts["state"] = _EARLIER_STATES.get(document.get("state", ""), document.get("state"))
        if facts["state"] is ScoreState.NOT_MEASURED:
            facts["actual"] = None
            facts["detail"] = facts.get("detail") or document["reason"]
        return facts


class ActionScore(ScoreFacts):
    """A score, with both of its runs."""

    action: str
    of_run: str = Field(description="Whose review has the action.")
    of_name: str | None = Field(description="That run's name; null when it was deleted, or is not on this server.")
    run: str = Field(description="The run that scored it.")
    run_name: str
    run_started_ms: Milliseconds
    scored_ms: Milliseconds


class ArchivedScore(Schema):
    """A score in the archive of the run that gave it."""

    action: ActionId
    of_run: RunId
    scored_ms: Milliseconds
    facts: ScoreFacts


class ActionStanding(Schema):
    """What is known of an action of a review."""

    id: str
    detail: str = Field(description="Why the expectation is no threshold; empty where it is one.")
    detail_ja: str = Field(default="", description="The same in Japanese.")
    unit: str
    before: float | None = Field(description="What was expected of later runs, in this one.")
    scores: list[ActionScore] = Field(description="By later runs, the newest first; at most 20.")


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
