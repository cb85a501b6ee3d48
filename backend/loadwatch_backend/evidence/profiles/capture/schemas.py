"""Documents of orders for profiles."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.profiles.capture.planning import Cause, OrderState
from loadwatch_backend.evidence.profiles.capture.tables import NAME_LENGTH

RUN_ID_PATTERN = r"^[a-z0-9][a-z0-9-]{2,39}$"
"""Of `runs.fields`, which this layer does not know."""
Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]


class ProfileKindName(StrEnum):
    """A kind of profile that agents take."""

    CPU = "cpu"
    MUTEX = "mutex"
    BLOCK = "block"
    HEAP = "heap"
    GOROUTINE = "goroutine"
    ALLOCS = "allocs"


class AgentOrder(Schema):
    """A profile to take, as an agent is told."""

    id: Count
    job: str
    instance: str
    kind: ProfileKindName
    seconds: Count


class AgentOrderList(Schema):
    """What agents are to take now: of each process no more than one."""

    orders: list[AgentOrder]


class ProfileFailure(Schema):
    """Why a profile could not be taken."""

    reason: str = Field(max_length=2_000)


class ProfileOrderIn(Schema):
    """Profiles to take now, of a run under way; of all its processes unless `job` and `instance` name one."""

    run: str = Field(pattern=RUN_ID_PATTERN)
    kinds: list[ProfileKindName] = Field(min_length=1, max_length=6)
    job: Name | None = None
    instance: Name | None = None


class ProfileOrderOut(Schema):
    """An order and what became of it."""

    id: Count
    job: str
    instance: str
    kind: ProfileKindName
    seconds: Count
    cause: Cause
    asked_by: str = Field(description="The rule of the alert, or the person.")
    state: OrderState
    created_ms: Milliseconds
    taken_ms: Milliseconds | None
    ended_ms: Milliseconds | None
    reason: str = Field(description="Why it failed, in the words of the agent.")


class ProfileProcess(Schema):
    """A process that profiles can be taken of now."""

    job: str
    instance: str
    kinds: list[ProfileKindName]
    seconds: Count


class ProfileOrderList(Schema):
    """The orders of a run, and the processes that there are."""

    orders: list[ProfileOrderOut]
    processes: list[ProfileProcess]
    under_way: bool = Field(description="Whether profiles can be taken now: the run goes on.")
