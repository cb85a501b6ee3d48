"""Documents of the page Connect."""

from typing import Annotated, Literal

from loadwatch_formats.listeners import ListenerKind
from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema

AgentPlace = Literal["here", "displaced", "elsewhere"]


class SeemingOut(Schema):
    """What a listener seems to be, and how that was told."""

    kind: ListenerKind
    told: Literal["program", "greeting", "answer"] = Field(
        description="By the program's name, by what it says first, or by what it answers."
    )
    path: str = Field(description="What was asked for; empty where nothing was.")


class WatchedOut(Schema):
    """A source that watches the listener already."""

    source: str
    job: str
    where: str = Field(description="File and line.")


class ListenerOut(Schema):
    """A program that listens on a port of the agent's host."""

    port: int
    addresses: list[str]
    program: str | None = Field(description="Null where the process may not be seen.")
    owner_seen: bool = Field(description="False where the program is known only as the one that its user runs.")
    user: str
    pids: list[int] = Field(description="Eight at most.")
    asked: bool = Field(description="Whether the port was asked what it is.")
    seems: list[SeemingOut]
    watched: list[WatchedOut]
    lines: str = Field(description="A target for loadwatch.yml; empty where nothing is left to watch.")
    digest: str = Field(description="Of the lines; checks and changes are asked for by it.")


class ConnectOut(Schema):
    """What listens beside the server, and whether the page may configure the agent there."""

    agent: AgentPlace = Field(
        description="`here`: this server's own, which the page may configure; `displaced`: another agent of this host; "
        "`elsewhere`: the server was not started by `loadwatch up`, and knows of no host but its own samples."
    )
    config: str | None = Field(description="The file that the agent reads; it need not be there yet.")
    host: str | None
    listeners: list[ListenerOut]
    more: int = Field(description="Listeners beyond those that are told.")
    looked_ms: Milliseconds


class ConnectIn(Schema):
    """The lines of one listener, as they were shown."""

    port: Annotated[int, Field(ge=1, le=65_535)]
    digest: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]


class CheckedSampleOut(Schema):
    """A series that a collector saw, and its value; null for what is no number."""

    series: str
    value: float | None


class LackedPermissionOut(Schema):
    """A permission that a collector lacks."""

    permission: str
    lost: str
    remedy: str


class CheckedCollectorOut(Schema):
    """What `loadwatch check` says of one collector."""

    job: str
    instance: str
    collector: str
    error: str | None
    samples: int
    shown: list[CheckedSampleOut]
    cpu_share: float = Field(description="Of one core, at the collector's own pace.")
    missing: list[LackedPermissionOut]
    notes: list[str]
    exposed: list[str] = Field(description="What its connections show to others.")


class ConnectWrittenOut(Schema):
    """The file that was written, and the copy of what it was."""

    path: str
    backup: str | None


class ConnectCheckOut(Schema):
    """What came of the lines: each collector's answer, and the file if they were added to it."""

    works: bool
    collectors: list[CheckedCollectorOut]
    written: ConnectWrittenOut | None
