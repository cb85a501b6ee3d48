"""What the interface says of pools and their sizes; every text in both languages."""

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.advisor.model import SettingName, Weight
from loadwatch_backend.findings.schemas import TextOut


class PoolNoteOut(Schema):
    """Something to know."""

    id: str
    weight: Weight = Field(description="wrong: change this. unknown: this cannot be told.")
    text: TextOut
    config: str = Field(description="What makes an unknown known, to be pasted; empty where nothing does.")


class PoolDemandOut(Schema):
    """What was asked of a pool while it was busiest."""

    at_ms: Milliseconds
    in_use: float = Field(description="Connections in use, mean.")
    waiting: float = Field(description="Requests that waited for one at once, mean.")
    connections: float = Field(description="So many would do for nobody to wait.")
    hold_seconds: float | None = Field(description="How long one request holds its connection; null: cannot be told.")
    short: bool = Field(description="Requests waited while all connections were in use.")


class PoolOut(Schema):
    """A pool of one instance; a setting is null where the application does not say."""

    instance: str
    max_open: float | None = Field(description="0 is unlimited.")
    max_idle: float | None
    lifetime_seconds: float | None = Field(description="0 is for ever.")
    idle_seconds: float | None = Field(description="0 is for ever.")
    most_open: float = Field(description="Connections at one instant, most over the window.")
    most_used: float
    waits: float = Field(description="Waits that began in the window.")
    wait_seconds: float = Field(description="Time waited in the window, of all who waited.")
    closed_idle: float = Field(description="Closed in the window because enough were idle.")
    closed_old: float = Field(description="Closed in the window because of their age.")
    demand: PoolDemandOut | None = Field(description="Null: the pool was hardly used.")


class PoolSettingOut(Schema):
    """One setting: connections, or seconds."""

    name: SettingName
    now: list[float] = Field(description="As it is set, each value once; empty where nobody says.")
    advised: float | None = Field(description="Null: cannot be told.")
    formula: TextOut
    source: str


class PoolGroupOut(Schema):
    """The pools of one name of all instances of a job."""

    job: str
    pool: str
    instances: int = Field(description="So many are reckoned with.")
    seen: int
    wanted: int | None = Field(description="Connections each would get if the database had room.")
    most_instances: int | None = Field(description="So many fit at that size beside all else.")
    settings: list[PoolSettingOut]
    notes: list[PoolNoteOut]
    code: str = Field(description="Lines of Go; empty where nothing is advised.")
    members: list[PoolOut]


class PoolServerUserOut(Schema):
    """Connections of one user of the database, most over the window."""

    user: str
    connections: float


class PoolServerOut(Schema):
    """The database and who uses its connections."""

    job: str
    instance: str
    max_connections: float
    connected: float = Field(description="Mean of the busiest ten seconds.")
    others: float | None = Field(
        description="Of these at the end, those that belong to none of the pools; null where nothing tells."
    )
    users: list[PoolServerUserOut]
    wait_timeout_seconds: float | None


class PoolAdviceOut(Schema):
    """How large each pool should be, over one window."""

    from_ms: Milliseconds
    to_ms: Milliseconds
    servers: list[str] = Field(description="Instances of databases that are seen.")
    server: PoolServerOut | None = Field(description="Null: none is seen, or several and none was chosen.")
    reserve: int = Field(description="Connections left for people and monitoring.")
    room: int | None = Field(description="max_connections without other clients and the reserve.")
    now: float | None = Field(description="Sum of the pools' limits; null where one is unlimited or unknown.")
    wanted: int | None
    advised: int | None
    groups: list[PoolGroupOut]
    notes: list[PoolNoteOut]
