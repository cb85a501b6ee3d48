"""Advice on pools from the samples of a window; safe to use from any thread."""

from collections.abc import Callable, Mapping

from pydantic import Field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.findings.advisor.advise import (
    Advice,
    Advised,
    GroupAdvice,
    MeasuredPool,
    SettingName,
    Weight,
    advise,
)
from loadwatch_backend.findings.advisor.measure import HOST_CPU, METRICS, count_cores, measure
from loadwatch_backend.findings.load import load_of_tables
from loadwatch_backend.findings.read import Span, grid_of, read_tables
from loadwatch_backend.findings.schemas import TextOut
from loadwatch_backend.findings.window import Window, empty_table
from loadwatch_backend.series.store.port import Reader


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


def advice_out(advice: Advice) -> PoolAdviceOut:
    measured = advice.measured
    return PoolAdviceOut.model_validate(
        {
            **{name: getattr(advice, name) for name in ("reserve", "room", "now", "wanted", "advised", "notes")},
            "from_ms": measured.from_ms,
            "to_ms": measured.to_ms,
            "servers": [one.instance for one in measured.servers],
            "server": advice.server,
            "groups": [_group(one) for one in advice.groups],
        },
        from_attributes=True,
    )


_OF_GROUP = ("job", "instances", "wanted", "most_instances", "notes", "code", "members")


def _group(group: GroupAdvice) -> Mapping[str, object]:
    return {
        **{name: getattr(group, name) for name in _OF_GROUP},
        "pool": group.name,
        "seen": len(group.members),
        "settings": [_setting(one, group) for one in group.settings],
    }


def _setting(advised: Advised, group: GroupAdvice) -> Mapping[str, object]:
    now = {_AS_SET[advised.name](one) for one in group.members}
    return {
        **{name: getattr(advised, name) for name in ("name", "advised", "formula", "source")},
        "now": sorted(value for value in now if value is not None),
    }


_AS_SET: Mapping[SettingName, Callable[[MeasuredPool], float | None]] = {
    SettingName.MAX_OPEN: lambda pool: pool.max_open,
    SettingName.MAX_IDLE: lambda pool: pool.max_idle,
    SettingName.LIFETIME: lambda pool: pool.lifetime_seconds,
    SettingName.IDLE_TIME: lambda pool: pool.idle_seconds,
}


USUAL_MS = 900_000
"""Length of the window where none is given."""
MOST_MS = 6 * 3_600_000
LEAST_MS = 5_000
MARGIN_MS = 15_000
MOMENT_MS = 60_000

RunSpan = Callable[[str], Span]
"""When a run was; raises a ProblemError for one that there is not."""


class TooLongError(InvalidError, code="invalid-window", title="Invalid window"):
    """A window that is empty, or too long to be read."""


class PoolAdvisor:
    def __init__(self, store: Reader, clock: Clock, run_span: RunSpan) -> None:
        self._store = store
        self._clock = clock
        self._run_span = run_span

    def advise(
        self, run: str, start_ms: int | None, end_ms: int | None, server: str, instances: Mapping[str, int]
    ) -> PoolAdviceOut:
        """The advice over a window; a run goes before times. `server` and `instances` are as in `advise`.

        Raises:
            TooLongError: the window ends before it begins, or is longer than six hours.
            ProblemError: there is no such run; of the store.
        """
        span = self._span(run, start_ms, end_ms)
        grid = grid_of(span, MARGIN_MS)
        tables = read_tables(self._store, METRICS, grid)
        window = Window(
            grid=grid, from_ms=span.from_ms, to_ms=span.to_ms, tables=tables, load=load_of_tables(tables, grid)
        )
        cores = self._cores(span.to_ms)
        return advice_out(advise(measure(window, cores), server, instances))

    def _cores(self, at_ms: int) -> dict[str, int]:
        grid = grid_of(Span(from_ms=max(at_ms - MOMENT_MS, 0), to_ms=at_ms), 0)
        return count_cores(read_tables(self._store, (HOST_CPU,), grid).get(HOST_CPU) or empty_table(grid))

    def _span(self, run: str, start_ms: int | None, end_ms: int | None) -> Span:
        if run:
            span = self._run_span(run)
            # Of a run of a day the last hours: the rest is as much as can be read at once.
            return Span(from_ms=max(span.from_ms, span.to_ms - MOST_MS), to_ms=max(span.to_ms, span.from_ms + LEAST_MS))
        end_ms = self._clock() if end_ms is None else end_ms
        start_ms = max(end_ms - USUAL_MS, 0) if start_ms is None else start_ms
        if end_ms - start_ms > MOST_MS:
            raise TooLongError(f"The window may have at most {MOST_MS // 3_600_000} hours; ask for a shorter one.")
        if end_ms <= start_ms:
            raise TooLongError("The window ends before it begins: end_ms has to be more than start_ms.")
        return Span(from_ms=start_ms, to_ms=end_ms)
