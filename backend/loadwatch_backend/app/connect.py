"""Asks `loadwatch connect` on behalf of the page, and has the agent started anew when its file has changed.

The page names a port and the digest of lines that it has shown; which lines those are, the command finds out itself.
So nobody can have anything else written or asked by it, whoever reaches a server that is open on loopback.
"""

import json
import subprocess
import threading
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Query
from loadwatch_formats.listeners import ListenerKind
from pydantic import Field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import InvalidError, UnavailableError
from loadwatch_backend.core.processes import AgentControl, AgentState, NoAgentControlError
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES, Milliseconds, Schema
from loadwatch_backend.core.services import Lane, service

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


KEPT_MS = 10_000
_SECONDS = 90.0
_FAILED, _CONFIG, _OTHER = 1, 2, 3
"""Exit status of the command: a collector fails, the configuration is wrong, other lines."""
_MOST_SAID = 2_000


class AgentElsewhereError(InvalidError, code="agent-elsewhere", title="The agent is configured elsewhere"):
    """The agent is not this server's to configure."""


class OtherListenerError(InvalidError, code="listener-changed", title="What listens there has changed"):
    """What listens at the port is not what was shown."""


class AgentFileError(InvalidError, code="agent-file", title="The agent's file stays as it is"):
    """The agent's file is wrong, or cannot be written."""


class ConnectFailedError(UnavailableError, code="connect-failed", title="This host could not be looked at"):
    """The command did not answer."""


class ConnectService:
    """Runs one command at a time. Thread-safe. Without `control` there is no agent to ask."""

    def __init__(self, control: AgentControl | None, clock: Clock) -> None:
        self._control = control
        self._clock = clock
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._kept: ConnectOut | None = None

    def look(self, *, fresh: bool = False) -> ConnectOut:
        """What listens on this host; programs that their name does not tell are asked.

        An answer is kept for some seconds, unless a `fresh` one is wanted: open pages do not ask programs in turn.
        """
        asked_ms = self._clock()
        with self._looking:
            return self._look(asked_ms, fresh=fresh)

    def _look(self, asked_ms: int, *, fresh: bool) -> ConnectOut:
        """Take what another thread looked up since `asked_ms`, or what is kept, unless `fresh`."""
        now_ms = self._clock()
        kept = self._kept
        if kept is not None and (kept.looked_ms > asked_ms or (not fresh and 0 <= now_ms - kept.looked_ms < KEPT_MS)):
            return kept
        state = self._state()
        if state is None:
            return ConnectOut(agent="elsewhere", config=None, host=None, listeners=[], more=0, looked_ms=now_ms)
        document = self._run(state, ())
        self._kept = seen = ConnectOut(
            agent="here" if state.running else "displaced",
            config=str(state.config) if state.running else None,
            host=document["host"],
            listeners=[ListenerOut.model_validate(one) for one in document["listeners"]],
            more=document["more"],
            looked_ms=self._clock(),
        )
        return seen

    def check(self, given: ConnectIn) -> ConnectCheckOut:
        return self._checked(self._needed_state(), given)

    def watch(self, given: ConnectIn) -> ConnectCheckOut:
        """Check the lines; where all work, add them to the agent's file and restart the agent."""
        answer = self._checked(self._needed_state(), given, "--write")
        if answer.written is not None and self._control is not None:
            self._kept = None
            self._control.restart()
        return answer

    def _checked(self, state: AgentState, given: ConnectIn, *more: str) -> ConnectCheckOut:
        document = self._run(state, (str(given.port), "--digest", given.digest, *more))
        collectors = [_collector(one) for one in document["collectors"]]
        written = document["written"]
        return ConnectCheckOut(
            works=not any(one.error for one in collectors),
            collectors=collectors,
            written=ConnectWrittenOut.model_validate(written) if written else None,
        )

    def _state(self) -> AgentState | None:
        try:
            return self._control.state() if self._control is not None else None
        except NoAgentControlError:
            return None

    def _needed_state(self) -> AgentState:
        state = self._state()
        if state is None or not state.running:
            raise AgentElsewhereError(
                "This server was not started together with an agent (`loadwatch up`), so it can neither try nor write "
                "lines. On the host of the agent: `loadwatch connect`, and `loadwatch connect PORT --write --config "
                "loadwatch.yml`."
            )
        return state

    def _run(self, state: AgentState, arguments: tuple[str, ...]) -> dict[str, Any]:
        config = ("--config", str(state.config)) if state.running else ()
        command = [*state.command, "connect", "--json", *config, *arguments]
        try:
            with self._lock:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
                )
            document = cast("dict[str, Any]", json.loads(done.stdout))
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise ConnectFailedError(f"`loadwatch connect` did not answer: {error}"[:_MOST_SAID]) from error
        if done.returncode == _OTHER:
            raise OtherListenerError(document["error"])
        if done.returncode not in (0, _FAILED):
            raise AgentFileError(document["error"])
        return document


def _collector(document: dict[str, Any]) -> CheckedCollectorOut:
    known = CheckedCollectorOut.model_fields
    return CheckedCollectorOut.model_validate({key: value for key, value in document.items() if key in known})


router = APIRouter(prefix="/api/connect", tags=["connect"], responses=PROBLEM_RESPONSES)
CONNECT = Lane("connect", threads=2, waiting=100, seconds=100.0)
Connecting = Annotated[ConnectService, Depends(service(ConnectService))]


@router.get("", summary="List what listens on the agent's host")
@CONNECT.endpoint
def list_listeners(
    connecting: Connecting,
    fresh: Annotated[bool, Query(description="Look anew, where an answer of the last ten seconds would do.")] = False,
) -> ConnectOut:
    """Programs and ports, what they seem to be, and the lines of loadwatch.yml that watch them.

    Programs that their name does not tell get GET /debug/dbstats, /metrics, /stub_status and /nginx_status on the
    loopback interface.
    """
    return connecting.look(fresh=fresh)


@router.post("/check", summary="Check the lines of a listener")
@CONNECT.endpoint
def check_listener(body: ConnectIn, connecting: Connecting) -> ConnectCheckOut:
    """What `loadwatch check` says of the lines; nothing is changed."""
    return connecting.check(body)


@router.post("/watch", summary="Have the agent watch a listener")
@CONNECT.endpoint
def watch_listener(body: ConnectIn, connecting: Connecting) -> ConnectCheckOut:
    """The same; where all collectors work, the lines are added to the agent's file and the agent starts anew."""
    return connecting.watch(body)
