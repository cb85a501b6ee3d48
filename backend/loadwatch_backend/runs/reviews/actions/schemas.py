"""Actions, and their scores."""

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from loadwatch_backend.kit.schemas import Milliseconds, Schema
from loadwatch_backend.runs.fields import Finite, Line, RunId, printable

MOST_ACTIONS = 50
"""Of one review."""
OWNER_LENGTH = 100
ActionId = Annotated[
    str, Field(pattern=r"^[a-z0-9]{1,16}$", description="Made by whoever writes it; stays.", examples=["k7f3"])
]


class ActionState(StrEnum):
    """What people say of it."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    """Nobody will do it: later runs do not score it."""


class ReviewAction(Schema):
    """Something that the team decided to do, and what it should bring."""

    id: ActionId
    text: Annotated[str, Field(max_length=1_000), AfterValidator(printable)] = ""
    owner: Annotated[str, Field(max_length=OWNER_LENGTH), AfterValidator(printable)] = ""
    due: date | None = None
    state: ActionState = ActionState.OPEN
    expected: Line = Field(
        default="",
        description="As a threshold, such as `p95<300ms`, or `FINDING gone`; empty: nothing is scored.",
        examples=["p95<300ms", "pool-exhausted gone"],
    )


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
    """What a later run says of what was expected."""

    HELD = "held"
    MISSED = "missed"
    CANNOT_TELL = "cannot-tell"
    """`reason` says why."""


class ScoreReason(StrEnum):
    """Why a run cannot tell."""

    NONE = ""
    ABORTED = "aborted"
    NO_REQUESTS = "no-requests"
    NOT_ANALYSED = "not-analysed"
    OTHER_TARGETS = "other-targets"
    """No target was watched in both runs."""
    UNREADABLE = "unreadable"
    """The expectation is not written as it should be; `detail` says where."""
    NOT_MEASURED = "not-measured"
    NOT_CHECKED = "not-checked"
    """What the finding needs was not there."""
    NOT_THERE_BEFORE = "not-there-before"
    """The action's run did not have the finding either."""
    GENERATOR_SATURATED = "generator-saturated"
    LOAD_LOWER = "load-lower"
    LOAD_HIGHER = "load-higher"
    LOAD_UNKNOWN = "load-unknown"


class LoadKind(StrEnum):
    """By what the load of two runs is compared, the surest first."""

    TARGET_RATE = "target-rate"
    USERS = "users"
    RATE = "rate"
    """Requests that were really sent per second: slow answers make fewer of them."""


class LoadChange(Schema):
    """The load of both runs, over their steady windows."""

    kind: LoadKind
    before: Finite
    now: Finite


class ScoreFacts(Schema):
    """What a run says of an action; kept as it was said."""

    text: str = Field(description="Of the action, as it was then.")
    owner: str
    expected: str
    state: ScoreState
    reason: ScoreReason
    detail: str = Field(description="What else there is to say of the measurement.")
    detail_ja: str = Field(default="", description="The same in Japanese; empty where it was kept in English only.")
    unit: str = ""
    limit: Finite | None = None
    actual: Finite | None = Field(default=None, description="Null for a finding, and where nothing was measured.")
    before: Finite | None = Field(default=None, description="The same in the action's own run.")
    window: str = Field(
        default="", description="`steady`, `whole` (also where no steady part was found), or `60s..120s`."
    )
    load: LoadChange | None = Field(default=None, description="Where nobody knows of both: null.")


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


class ActionProblem(StrEnum):
    """Why an expectation cannot be scored as it stands."""

    NONE = ""
    UNREADABLE = "unreadable"
    NOT_THERE = "not-there"
    """The run does not have the finding, so that it cannot go."""


class ActionStanding(Schema):
    """What is known of an action of a review."""

    id: str
    problem: ActionProblem
    detail: str = Field(description="Of an expectation that cannot be read: where, and what may stand there.")
    detail_ja: str = Field(default="", description="The same in Japanese.")
    unit: str
    before: float | None = Field(description="What was expected of later runs, in this one.")
    scores: list[ActionScore] = Field(description="By later runs, the newest first; at most 20.")


class ActionLine(ReviewAction):
    """An action in a list over all runs."""

    run: str
    run_name: str
    scenario: str
    overdue: bool = Field(description="Open, and due before today, UTC.")
    score: ActionScore | None = Field(description="The newest.")


class ActionList(Schema):
    """Actions of all reviews: those that are due first, then those without a date, the newest run's first."""

    actions: list[ActionLine]
    total: int
    owners: list[str] = Field(description="Who owns any action, for suggestions.")
