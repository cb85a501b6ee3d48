"""The thirteen cases of the measuring server that `make live-cases` plays, at any length of load.

Labels and least load times are fixed here, before a case is played. They have no recordings: each is played anew.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from examples.rig.load import Load
from scenarios.actions import Action, AskNowAndThen, Kill, Restart
from scenarios.case import App, Case, Kind, Purpose
from scenarios.cases.apps import bounded, staged, writer

SECONDS = (5, 15, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCase:
    """A case whose load may be of any length; `expected`, `allowed` and `why` as in `Case`.

    Attributes:
        least_seconds: of load, from which on the cause can be named; of less, "cannot tell" is right too.
        actions: what happens beside a load of so many seconds.
    """

    name: str
    title: str
    expected: tuple[str, ...]
    allowed: frozenset[str] = frozenset()
    why: str
    least_seconds: float = 5
    app: App
    load: Load
    max_connections: int = 100
    sysctls: Mapping[str, str] = field(default_factory=dict[str, str])
    actions: Callable[[float], tuple[Action, ...]] = lambda _: ()
    after_seconds: float = 5

    def lasting(self, seconds: float) -> Case:
        """The case with a load of so many seconds."""
        return Case(
            name=f"live-{self.name}-{seconds:g}s",
            title=self.title,
            purpose=Purpose.TUNE,
            kind=Kind.SINGLE if self.expected else Kind.HEALTHY,
            expected=self.expected,
            allowed=self.allowed,
            why=self.why,
            apps=(self.app,),
            load=self.load,
            seconds=seconds,
            max_connections=self.max_connections,
            sysctls=self.sysctls,
            actions=self.actions(seconds),
            after_seconds=self.after_seconds,
        )


LIVE_CASES = (
    LiveCase(
        name="control",
        title="Nothing is wrong",
        expected=(),
        why="30 connections of 2 ms each carry some 10,000 hits/s; 200 are sent.",
        least_seconds=12,
        app=bounded(30, "2ms"),
        load=Load(workers=40, rate_per_worker=5),
    ),
    LiveCase(
        name="naive",
        title="A pool for each request",
        expected=("pool-per-request",),
        allowed=frozenset({"database-connections-exhausted", "clients-locked-out"}),
        why="Each hit opens a pool and a connection of its own; 100 clients at once need more than 60 connections.",
        app=staged("naive", "-db-delay=200ms"),
        load=Load(workers=100, rate_per_worker=3),
        max_connections=60,
    ),
    LiveCase(
        name="pooled-default",
        title="A shared pool without a limit",
        expected=("pool-unlimited|database-connections-exhausted",),
        allowed=frozenset({"pool-churn", "clients-locked-out", "database-connections-exhausted", "pool-unlimited"}),
        why="300 hits/s of 300 ms need 90 connections; nothing stops the pool at the database's 60.",
        app=staged("default", "-db-delay=300ms"),
        load=Load(workers=100, rate_per_worker=3),
        max_connections=60,
    ),
    LiveCase(
        name="churn",
        title="Two idle connections under bursts of 32",
        expected=("pool-churn",),
        allowed=frozenset({"pool-unlimited", "time-wait-buildup"}),
        why="Two connections stay idle, so each burst of 32 hits opens some 30 connections and closes them.",
        least_seconds=12,
        app=staged("default", "-db-delay=5ms"),
        load=Load(workers=32, rate_per_worker=8),
    ),
    LiveCase(
        name="pool-waits",
        title="A pool of 8 connections",
        expected=("pool-exhausted",),
        why="8 connections of 40 ms each carry 200 hits/s; 300 are sent. The database has 90 connections to spare.",
        app=bounded(8, "40ms"),
        load=Load(workers=60, rate_per_worker=5),
    ),
    LiveCase(
        name="locked-out",
        title="An idle pool keeps its connections after the load",
        expected=("clients-locked-out",),
        allowed=frozenset({"database-connections-exhausted"}),
        why="55 of 60 connections stay open and idle when the load is over; a client that wants 8 then finds none.",
        app=bounded(55, "100ms"),
        load=Load(workers=55, rate_per_worker=4),
        max_connections=60,
        actions=lambda seconds: (AskNowAndThen(at=seconds + 3, seconds=60, connections=8),),
        after_seconds=20,
    ),
    LiveCase(
        name="bulk",
        title="A writer that keeps up with 1,200 hits/s",
        expected=(),
        why="Each half second some 600 hits are stored in one statement of 10 ms.",
        least_seconds=12,
        app=writer(2000, "10ms", "-flush-interval=500ms"),
        load=Load(workers=60, rate_per_worker=20),
    ),
    LiveCase(
        name="bulk-too-slow",
        title="A writer of 950 rows/s before 1,200 hits/s",
        expected=("ingest-lag-growing",),
        why="Batches of 190 take 200 ms each; the backlog grows by 250 rows a second. Answers are quick.",
        app=writer(190, "198ms"),
        load=Load(workers=60, rate_per_worker=20),
    ),
    LiveCase(
        name="bulk-that-drops",
        title="10 % of the accepted hits are never stored",
        expected=("rows-lost",),
        why="The application answers 200 and drops each tenth hit without counting it; the writer keeps up.",
        app=writer(2000, "10ms", "-flush-interval=500ms", "-drop-share=0.1"),
        load=Load(workers=60, rate_per_worker=10),
        after_seconds=26,
    ),
    LiveCase(
        name="bulk-behind-a-mutex",
        title="Requests wait for a mutex that is held while batches are stored",
        expected=("app-lock-stall",),
        why="Each 3 s some 600 hits are stored in batches of 50, 150 ms each: all requests wait 1.8 s.",
        least_seconds=12,
        app=staged("bulk", "-flush-interval=3s", "-batch-size=50", "-db-delay=150ms"),
        load=Load(workers=50, rate_per_worker=4, timeout_seconds=4),
    ),
    LiveCase(
        name="descriptors",
        title="At most 100 open files and 200 clients",
        expected=("file-descriptors-exhausted",),
        allowed=frozenset({"accept-queue-full", "rows-lost"}),
        why="200 clients keep a connection each; the process may have 100 files open.",
        app=writer(1000, "5ms", "-fd-limit=100"),
        load=Load(workers=200, rate_per_worker=1, timeout_seconds=1),
    ),
    LiveCase(
        name="time-wait",
        title="300 sockets may be in TIME_WAIT",
        expected=("time-wait-overflow|time-wait-buildup|keep-alive-off",),
        allowed=frozenset({"keep-alive-off", "time-wait-buildup", "time-wait-overflow"}),
        why="150 connections a second fill the 300 places for TIME_WAIT in 2 s; the level is flat from then on.",
        app=bounded(30, "5ms"),
        load=Load(workers=30, rate_per_worker=5, keep_alive=False),
        sysctls={"net.ipv4.tcp_max_tw_buckets": "300"},
    ),
    LiveCase(
        name="kill",
        title="SIGKILL with rows in memory, and a new start",
        expected=("rows-lost-at-kill|process-died",),
        allowed=frozenset({"process-died", "rows-lost-at-kill", "connections-refused"}),
        why="Hits are stored each 6 s; SIGKILL in the middle of the load takes those in memory along. A new process"
        " answers a second later.",
        app=writer(5000, "5ms", "-flush-interval=6s"),
        load=Load(workers=40, rate_per_worker=5),
        actions=lambda seconds: (Kill(at=seconds * 0.6), Restart(at=seconds * 0.6 + 0.2, pause=0.8)),
        after_seconds=8,
    ),
)


def live_by_name() -> dict[str, Case]:
    """Each case at each length, by its name."""
    return {one.name: one for one in (case.lasting(seconds) for case in LIVE_CASES for seconds in SECONDS)}
