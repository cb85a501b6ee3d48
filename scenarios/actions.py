"""What happens beside the load of a case, and when: data. `performing.py` does it."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """An instance ends at once, by SIGKILL."""

    at: float
    app: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """An instance is asked to end (SIGTERM), and is started again after `pause` seconds; with other flags: a deploy."""

    at: float
    app: int = 0
    pause: float = 0.0
    flags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """An instance stands still (SIGSTOP) and goes on (SIGCONT)."""

    at: float
    seconds: float
    app: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseAgent:
    """The agent stands still: a gap in all that it collects."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnCpu:
    """Processes that have nothing to do with the system use the CPU, each one core."""

    at: float
    seconds: float
    processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldConnections:
    """Another client of the database opens connections and keeps them without a question."""

    at: float
    seconds: float
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskNowAndThen:
    """Another client of the database holds few connections and asks a small question every second or so."""

    at: float
    seconds: float
    connections: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldSockets:
    """Somebody opens TCP connections to an instance and sends nothing."""

    at: float
    seconds: float
    connections: int
    app: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyStatements:
    """Another client keeps the database's CPU busy: each connection computes all the time."""

    at: float
    seconds: float
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRows:
    """Another client's transaction locks all rows of the table, and the end of it, and stays open."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlocks:
    """Two other clients change rows of the table in opposite order, again and again."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """`mysqldump --single-transaction` of the schema, once."""

    at: float


Action: TypeAlias = (
    Kill
    | Restart
    | Freeze
    | PauseAgent
    | BurnCpu
    | HoldConnections
    | AskNowAndThen
    | HoldSockets
    | HeavyStatements
    | LockRows
    | Deadlocks
    | Backup
)
