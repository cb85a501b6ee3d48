"""`loadwatch sync`: delivers what waits on disk."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.logs import silence_logs
from loadwatch_collectors.runs.delivery import (
    Client,
    Journal,
    Lock,
    default_directory,
    deliver,
    find_run,
    find_runs,
    is_there,
    read_journal,
    read_token,
)
from loadwatch_collectors.runs.errors import AwayError, RunsError
from loadwatch_collectors.runs.screen.terminal import clear_bar, make_reporter

EXIT_LEFT, EXIT_USAGE = 1, 2
KILLED = "loadwatch run was killed; this is its last sign of life"


class SyncResult(NamedTuple):
    """What became of one run that waited: delivered, running, waiting (the server is away) or refused."""

    run: str
    state: str
    detail: str = ""


def sync_command(options: Mapping[str, Any]) -> int:
    silence_logs()
    root = Path(options["state_directory"]) if options["state_directory"] else default_directory()
    try:
        if options["dropped"]:
            outcomes = [_drop(root, run) for run in options["dropped"]]
        else:
            outcomes = synchronise(Servers(options["server"], read_token(options["token_file"])), root)
    except AgentError as error:
        echo(f"loadwatch sync: {error}", err=True)
        return EXIT_USAGE
    if options["as_json"]:
        echo(json.dumps([item._asdict() for item in outcomes], ensure_ascii=False, indent=2))
    else:
        for item in outcomes:
            echo(f"{item.run}: {item.state}" + (f": {item.detail}" if item.detail else ""))
        if not outcomes:
            echo(f"nothing waits in {root}")
    return EXIT_LEFT if any(item.state in ("waiting", "refused", "damaged") for item in outcomes) else 0


class Servers:
    """Where runs go: all to the server that the user names, or each to the one that it was meant for."""

    def __init__(self, named: str | None, token: str | None) -> None:
        """Raise UsageError when the address is none."""
        self._token = token
        self._named = None if named is None else Client(named, token)
        self._clients: dict[str, Client] = {}
        self.away: dict[str, str] = {}

    def of(self, journal: Journal) -> Client:
        if self._named is not None:
            return self._named
        if journal.server not in self._clients:
            self._clients[journal.server] = Client(journal.server, self._token)
        return self._clients[journal.server]


def synchronise(servers: Servers, root: Path) -> list[SyncResult]:
    """Deliver the runs in the order of their start; once a server is away, the rest of its runs is only listed."""
    outcomes: list[SyncResult] = []
    for directory in find_runs(root):
        try:
            lock = Lock.take(directory)
        except FileNotFoundError:
            continue  # its own process delivered it meanwhile, and removed it
        except OSError as error:
            outcomes.append(SyncResult(run=directory.name, state="damaged", detail=str(error)))
            continue
        if lock is None:
            outcomes.append(SyncResult(run=directory.name, state="running", detail="another process works on it"))
            continue
        try:
            if is_there(directory):
                outcomes.append(_synchronise(servers, directory))
            else:
                shutil.rmtree(directory, ignore_errors=True)  # the lock, made anew in a folder that was going
        finally:
            lock.release()
    return outcomes


def _synchronise(servers: Servers, directory: Path) -> SyncResult:
    try:
        journal = read_journal(directory)
        client = servers.of(journal)
    except RunsError as error:
        return SyncResult(run=directory.name, state="damaged", detail=str(error))
    if client.server in servers.away:
        return SyncResult(run=journal.id, state="waiting", detail=servers.away[client.server])
    try:
        end_killed(journal)
        deliver(client, journal, make_reporter(show=True))
    except AwayError as error:
        servers.away[client.server] = str(error)
        return SyncResult(run=journal.id, state="waiting", detail=str(error))
    except (AgentError, OSError) as error:
        journal.problem = str(error)
        journal.save()
        detail = f"{error}; its files stay in {directory}, `loadwatch sync --drop {journal.id}` forgets them"
        return SyncResult(run=journal.id, state="refused", detail=detail)
    finally:
        clear_bar()
    journal.remove()
    detail = client.page(journal.id) + (f" {journal.note}" if journal.note else "")
    return SyncResult(run=journal.id, state="delivered", detail=detail)


def end_killed(journal: Journal) -> None:
    """End a run whose `loadwatch run` is gone, at its last sign of life, with what is there of its result."""
    if journal.finish is not None:
        return
    journal.finish = {"ended_ms": journal.alive_ms, "exit_code": None, "aborted": True, "reason": KILLED}
    if journal.result is None and journal.expected is not None:
        path = Path(journal.expected)
        if path.is_file() and path.stat().st_size:
            journal.result = journal.expected
            journal.own_result = path.parent == journal.directory
    journal.save()


def _drop(root: Path, run: str) -> SyncResult:
    directory = find_run(root, run)
    try:
        lock = Lock.take(directory)
    except FileNotFoundError:
        return SyncResult(run=run, state="delivered", detail="by its own process, just now; nothing to drop")
    if lock is None:
        return SyncResult(run=run, state="running", detail="another process works on it; not dropped")
    try:
        Journal.remove(Journal(id=run, server="", facts={}, alive_ms=0, directory=directory))
    finally:
        lock.release()
    return SyncResult(run=run, state="dropped")
