"""What a load tool's file has to provide: how its command is recognised, and what makes it leave a result file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a tool's plan may use.

    Attributes:
        run: the run's id.
        directory: an existing folder of this run for the tool's files.
        working_directory: where the command runs.
        environment: the environment that the command inherits.
        stdout_is_terminal: whether the command's output goes to a terminal.
        remote_write: where the tool may send samples itself; None while offline.
        token: bearer token for it.
        started_s: when the run began, seconds since the epoch; result files are younger.
    """

    run: str
    directory: Path
    working_directory: Path
    environment: Mapping[str, str]
    stdout_is_terminal: bool
    remote_write: str | None
    token: str | None
    started_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a command is run so that its result can be read.

    Attributes:
        command: the command, perhaps with arguments added; what the user gave is never changed.
        environment: variables to add.
        capture: file that gets a copy of the command's standard output, which is the result (or holds it).
        pass_output: whether the captured output is shown as well.
        result: finds the result file; None while there is none.
        own: the result is a file of ours in the run's folder; otherwise it is the user's and stays where it is.
        companions: further files of the result, which go to the server with it.
        note: what the user should know of what was added.
    """

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    capture: Path | None = None
    pass_output: bool = True
    result: Callable[[], Path | None] = lambda: None
    own: bool = False
    companions: Callable[[], Sequence[Path]] = lambda: ()
    note: str = ""


class Target(NamedTuple):
    """What the arguments ask for; None where they do not say."""

    rate: float | None = None
    duration_seconds: float | None = None
    concurrency: float | None = None
    """Clients that each wait for an answer before they send again; None for a tool that waits for none."""


class Tool(Protocol):
    """One load tool."""

    @property
    def name(self) -> str:
        """As the run's `tool`."""
        ...

    def recognise(self, command: Sequence[str]) -> int | None:
        """Index of the tool's own word in the command, None when it is another tool's command."""
        ...

    def target(self, arguments: Sequence[str]) -> Target:
        """What the arguments behind the tool's word ask for."""
        ...

    def plan(self, command: Sequence[str], at: int, context: RunContext) -> Plan:
        """What to run; `at` is the tool's word in the command."""
        ...


def existing(path: Path) -> Callable[[], Path | None]:
    """Finds the file once it is there and not empty."""

    def find() -> Path | None:
        try:
            return path if path.stat().st_size else None
        except OSError:
            return None

    return find
