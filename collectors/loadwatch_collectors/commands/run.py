"""`loadwatch run`: from the command line to the exit status."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from loadwatch_formats.terminal import echo

from loadwatch_collectors.errors import AgentError
from loadwatch_collectors.logs import silence_logs
from loadwatch_collectors.runs import delivery
from loadwatch_collectors.runs.delivery import (
    Client,
    Journal,
    Lock,
    default_directory,
    make_run_id,
    open_journal,
    read_token,
    run_path,
)
from loadwatch_collectors.runs.errors import AwayError, RefusedError, RunsError, ServerError
from loadwatch_collectors.runs.facts.patch import find_patch
from loadwatch_collectors.runs.facts.request import find_origin, make_facts, parse_target
from loadwatch_collectors.runs.own_figures import LineReader, Output
from loadwatch_collectors.runs.results import secure_result, settle_result, with_result
from loadwatch_collectors.runs.screen.pages import describe_findings
from loadwatch_collectors.runs.screen.status import describe_run
from loadwatch_collectors.runs.screen.terminal import (
    PlainLines,
    StatusLine,
    TerminalLine,
    clear_bar,
    make_reporter,
    terminal_works,
)
from loadwatch_collectors.runs.session import Session
from loadwatch_collectors.runs.supervisor import Ending
from loadwatch_collectors.runs.tools import Plan, RunContext, Target, read_target, recognise

EXIT_NOT_BEGUN = 2
EXIT_VERDICT_FAILED = 3
EXIT_NOT_PASSED = 4
INTERRUPTED = 130


def run_command(options: Mapping[str, Any]) -> int:
    silence_logs()
    try:
        own = LineReader(options["own_figures"], options["markers"])
        client = Client(options["server"], read_token(options["token_file"]))
        journal, lock, target = _begin(options, client)
    except AgentError as error:
        echo(f"loadwatch run: {error}", err=True)
        return EXIT_NOT_BEGUN
    try:
        ending = _load(options, client, journal, target, own)
        return _conclude(options, client, journal, ending)
    finally:
        lock.release()


def _begin(options: Mapping[str, Any], client: Client) -> tuple[Journal, Lock, Target]:
    """The run's journal, and the run at the server unless that is away.

    Raises:
        RunsError: an option is wrong, the server refuses the run, the disk cannot be written.
    """
    now = time.time()
    run = make_run_id(now)
    command: tuple[str, ...] = options["command"]
    found = recognise(command)
    tool = options["tool"] or (found[0].name if found else Path(command[0]).name)
    target = parse_target(options, read_target(command))
    origin = find_origin(Path.cwd(), os.environ)
    facts = make_facts(options, run=run, tool=tool, target=target, origin=origin, started_ms=int(now * 1000))
    root = Path(options["state_directory"]) if options["state_directory"] else default_directory()
    journal, lock = open_journal(root, server=client.server, facts=facts, run=run)
    # What a commit of the user's own says is elsewhere; what is changed here says nothing of it.
    patch = None if options["no_patch"] or options["commit"] or not origin.dirty else find_patch(Path.cwd())
    if patch is not None:
        said = {"files": patch.files, "named": patch.named, "untracked": patch.untracked, "masked": patch.masked}
        with suppress(OSError):
            journal.keep_file("patch", f"{run}.patch", patch.content, said)
    if not options["offline"]:
        try:
            delivery.begin(client, journal)
            journal.save()
        except AwayError as error:
            _say(options, f"{error}; the run is kept on disk until it is there")
        except (RefusedError, RunsError):
            journal.remove()
            raise
    return journal, lock, target


def _load(options: Mapping[str, Any], client: Client, journal: Journal, target: Target, own: LineReader) -> Ending:
    context = RunContext(
        run=journal.id,
        directory=journal.directory,
        working_directory=Path.cwd(),
        environment=os.environ,
        stdout_is_terminal=os.isatty(1),
        remote_write=client.remote_write if journal.created and not options["no_stream"] else None,
        token=client.token,
        started_s=journal.alive_ms / 1000,
    )
    found = None if options["untouched"] else recognise(options["command"])
    plan = found[0].plan(options["command"], found[1], context) if found else Plan(command=options["command"])
    plan = with_result(plan, options["result"], context)
    output = None if options["no_output"] else Output()
    if options["quiet"]:
        line = StatusLine()
    else:
        line = TerminalLine() if terminal_works(os.environ) else PlainLines()
    session = Session(
        client=client,
        journal=journal,
        target=target,
        plan=plan,
        line=line,
        offline=options["offline"],
        stream=not options["no_stream"],
        watch_headroom=not options["quiet"],
        output=output,
        own=own,
    )
    if plan.note and not options["quiet"]:
        session.line.note(plan.note)
    ending = session.run()
    try:
        settle_result(journal, plan, options["result"], context)
    except OSError as error:
        _say(options, f"the result cannot be moved to {options['result']}: {error.strerror or error}", always=True)
    for problem in filter(None, (ending.problem, *own.notes)):
        _say(options, problem, always=True)
    text = "" if output is None else output.text()
    if output is not None and text:
        with suppress(OSError):
            facts = {"bytes": output.size, "binary": output.binary}
            journal.keep_file("output", "output.txt", f"{text}\n".encode(), facts)
    journal.save()
    return ending


def _conclude(options: Mapping[str, Any], client: Client, journal: Journal, ending: Ending) -> int:
    document = None
    if options["offline"]:
        _keep(options, journal, "the run is kept on disk")
    else:
        try:
            document = _deliver(options, client, journal)
        except KeyboardInterrupt:
            _keep(options, journal, "interrupted; what is left of the run is kept on disk")
            return ending.status or INTERRUPTED
        except RefusedError as error:
            journal.problem = str(error)
            _keep(options, journal, str(error))
            if journal.created:
                with suppress(ServerError):
                    document = client.get(run_path(journal.id))
        except (ServerError, AgentError, OSError) as error:
            _keep(options, journal, str(error))
    if document is not None:
        _show(options, client, document)
    return choose_status(options, ending, None if document is None else document.get("verdict"))


def choose_status(options: Mapping[str, Any], ending: Ending, verdict: str | None) -> int:
    """The command's own status; 3 for a failed verdict, 4 with --strict for any other than passed."""
    if ending.status or options["no_gate"]:
        return ending.status
    if verdict == "failed":
        return EXIT_VERDICT_FAILED
    return EXIT_NOT_PASSED if options["strict"] and verdict != "passed" else 0


def _deliver(options: Mapping[str, Any], client: Client, journal: Journal) -> dict[str, Any]:
    report = make_reporter(show=not options["quiet"])
    try:
        delivery.deliver_patiently(client, journal, report, seconds=float(options["wait"]))
    finally:
        clear_bar()
    document: dict[str, Any] = client.get(run_path(journal.id))
    if journal.note:
        _say(options, journal.note)
    journal.remove()
    return document


def _keep(options: Mapping[str, Any], journal: Journal, reason: str) -> None:
    try:
        secure_result(journal)
        journal.save()
    except OSError as error:
        _say(options, f"{journal.directory} cannot be written: {error.strerror or error}", always=True)
    _say(options, f"{reason}; `loadwatch sync` delivers it from {journal.directory}", always=True)


def _show(options: Mapping[str, Any], client: Client, document: Mapping[str, Any]) -> None:
    if not options["quiet"]:
        for text in describe_run(document):
            _say(options, text)
        _say(options, client.page(str(document["id"])))
        for text in describe_findings(document):
            _say(options, text)
    if options["as_json"]:
        echo(json.dumps(document, ensure_ascii=False, indent=2))


def _say(options: Mapping[str, Any], text: str, *, always: bool = False) -> None:
    if always or not options["quiet"]:
        echo(f"loadwatch: {text}", err=True)
