"""The stages of the demo, as data: how the measuring server stores hits, the load on it, and what to look at."""

from dataclasses import dataclass

from examples.rig.load import Load

MAX_CONNECTIONS = 60
"""The database's max_connections: small, so that a small machine reaches it."""

SCENARIO = "measuring-server"
THRESHOLDS = ("error_rate<1%", "p95<300ms", "max(lag_max)<5s over whole")
"""What every stage is held to: answers that are good and quick, and rows that are in the database soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: the measuring server's flags, the load, the limit that it meets and where the page shows it.

    `alerts` are the default rules that fire for this limit; others may, for what follows from it.
    """

    name: str
    title: str
    flags: tuple[str, ...]
    load: Load
    limit: str
    look_at: str
    alerts: tuple[str, ...]

    @property
    def note(self) -> str:
        """The text of the stage's annotation."""
        return f"{self.title}. Limit: {self.limit}. Look at: {self.look_at}."

    def run_options(self) -> list[str]:
        """The stage as options of `loadwatch run`."""
        flags = [flag.lstrip("-").partition("=") for flag in self.flags]
        parameters = {key: value for key, _, value in flags} | {"clients": str(self.load.workers)}
        return [
            f"--name={self.title}",
            f"--scenario={SCENARIO}",
            "--tool=measuring-load",
            "--tag=demo",
            "--author=make demo",
            f"--rate={self.load.target_rate:g}",
            *(f"--param={key}={value}" for key, value in parameters.items()),
            *(f"--threshold={threshold}" for threshold in THRESHOLDS),
        ]


STAGES = (
    Stage(
        name="naive",
        title="Stage 1, naive: a pool for each request",
        flags=("-stage=naive", "-db-delay=200ms"),
        load=Load(workers=100, rate_per_worker=5),
        limit=f"the database's max_connections ({MAX_CONNECTIONS}), error 1040 'Too many connections'",
        look_at="headroom of database connections, connections by user (the app crowds out the BI tool), "
        "failures by kind (5xx), and the pool's numbers, which are all zero",
        alerts=("DatabaseConnectionsHigh", "DatabaseConnectionsRefused", "PoolPerRequest"),
    ),
    Stage(
        name="default",
        title="Stage 2, default: one shared pool, database/sql's defaults",
        flags=("-stage=default", "-db-delay=5ms", "-keep-alive=false"),
        load=Load(workers=32, rate_per_worker=12, keep_alive=False),
        limit="two idle connections at most, so every burst opens and closes connections; sockets pile up in TIME_WAIT",
        look_at="pool: connections closed for MaxIdle; sockets: TIME_WAIT on both ports; no error anywhere",
        alerts=("PoolChurn",),
    ),
    Stage(
        name="bounded",
        title="Stage 3, bounded: MaxOpenConns 8",
        flags=("-stage=bounded", "-max-open=8", "-max-idle=8", "-db-delay=20ms"),
        load=Load(workers=100, rate_per_worker=8),
        limit="eight connections in use, none idle: requests wait for one",
        look_at="pool waits (waits/s and mean wait), headroom of the pool at zero, while the database has room",
        alerts=("PoolWaits", "PoolSaturated"),
    ),
    Stage(
        name="bulk",
        title="Stage 4, bulk: hits in memory, bulk insert behind a mutex",
        flags=("-stage=bulk", "-flush-interval=5s", "-batch-size=100", "-db-delay=150ms"),
        load=Load(workers=100, rate_per_worker=8, timeout_seconds=2),
        limit="the flush: while it runs, requests wait for its mutex, and what was accepted is not stored yet",
        look_at="ingest-to-DB lag (min and max far apart), queue length, accepted against stored, timeouts",
        # Nothing runs out: requests wait for a lock inside of the application, which no limit shows.
        alerts=("LoadTimeouts",),
    ),
    Stage(
        name="channel",
        title="Stage 5, channel: a writer behind a channel, at most 150 open files",
        flags=("-stage=channel", "-batch-size=100", "-db-delay=220ms", "-fd-limit=150"),
        # Twice as many clients that keep their connection as the process may have files open.
        load=Load(workers=320, rate_per_worker=2, timeout_seconds=1),
        limit="open files of the process, 'accept4: too many open files'; behind it the one writer",
        look_at="headroom of file descriptors, accept queue, timeouts; lag and queue that only grow; rows lost "
        "because the writer, too, found no file left for its connection",
        alerts=("FileDescriptorsHigh", "AcceptErrors", "AcceptQueueStanding"),
    ),
)


def stages_by_name() -> dict[str, Stage]:
    """The stages by name, in order."""
    return {stage.name: stage for stage in STAGES}
