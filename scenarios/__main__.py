"""Command line: `make scenarios`, or `python -m scenarios` from the root of the repository."""

import fnmatch
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click
from loadwatch_collectors.runs.errors import RunsError
from loadwatch_collectors.runs.replay import counting, describe, parse_label, score

from bench.machine import describe_machine
from examples.rig.application import ROOT, build_application
from examples.rig.database import find_mariadb, install_database
from examples.rig.processes import ManagedProcess, RigError
from scenarios.case import Case
from scenarios.cases import CASES
from scenarios.namespace import in_new_namespace, namespace_id
from scenarios.record import make_label, write_recording
from scenarios.result import write_page

MOST_SECONDS = 300
"""For what is not load in a case: starting everything, and ending it."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--purpose", type=click.Choice(["tune", "judge"]), help="Only cases of this purpose.")
@click.option("--again", is_flag=True, help="Play nothing: write the result page from the recordings that are there.")
@click.option("--list", "only_list", is_flag=True, help="Name the cases and end.")
@click.option("--record/--no-record", default=True, show_default=True, help="Keep recordings and labels.")
@click.option(
    "--logs", type=click.Path(file_okay=False, path_type=Path), help="Keep each case's documents and archive here."
)
def main(
    names: tuple[str, ...], purpose: str | None, again: bool, only_list: bool, record: bool, logs: Path | None
) -> None:
    """Play cases for real, one after the other, each in a network of its own, and record them.

    NAMES are cases or patterns such as 'pool-*'; without one all are played. Ctrl-C stops everything that was started.
    """
    chosen = choose(names, purpose)
    if only_list:
        for case in chosen:
            click.echo(f"{case.purpose:5} {case.kind:7} {case.name}: {' > '.join(case.expected) or 'nothing'}")
        return
    stop_on_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    try:
        failed = [] if again else _play_all(chosen, record=record, logs=logs)
        if record:
            click.echo(write_page(commit=_commit()))
    except KeyboardInterrupt:
        click.echo("stopped everything that was started", err=True)
        sys.exit(130)
    except (RigError, RunsError) as error:
        click.echo(f"scenarios: {error}", err=True)
        sys.exit(1)
    sys.exit(1 if failed else 0)


def choose(names: Sequence[str], purpose: str | None) -> list[Case]:
    """The cases that any of the patterns names, in their order.

    Raises:
        click.BadParameter: a pattern names none.
    """
    for name in names:
        if not any(fnmatch.fnmatchcase(case.name, name) for case in CASES):
            raise click.BadParameter(f"{name!r} is no case: see --list")
    return [
        case
        for case in CASES
        if purpose in (None, case.purpose)
        and (not names or any(fnmatch.fnmatchcase(case.name, name) for name in names))
    ]


def stop_on_signals(*numbers: signal.Signals) -> None:
    """A signal ends what is played as Ctrl-C does: whatever was started is stopped."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, interrupt)


def _play_all(chosen: Sequence[Case], *, record: bool, logs: Path | None) -> list[str]:
    """Names of the cases that could not be played."""
    find_mariadb()
    build_application()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="loadwatch-scenarios-") as folder:
        template = install_database(Path(folder))
        for number, case in enumerate(chosen, 1):
            begun = time.monotonic()
            out = (logs or Path(folder)) / case.name
            try:
                document = play_one(case, template=template, out=out)
            except RigError as error:
                failed.append(case.name)
                click.echo(f"[{number}/{len(chosen)}] FAILED {case.name}: {error}", err=True)
                continue
            made = {**_made(), "findings": findings_state(document)}
            label = parse_label(make_label(case, run=document["id"], made=made, said=[]), where=case.name)
            said = counting(label, document)
            if record:
                archive = (out / "archive.zip").read_bytes()
                write_recording(case, archive, run=document["id"], made=made, said=said, root=ROOT)
            line = describe(score(label, said))
            click.echo(f"[{number}/{len(chosen)}] {line} ({time.monotonic() - begun:.0f} s)")
    return failed


def findings_state(document: dict[str, Any]) -> str:
    """Which engine said the findings; empty when the server had none."""
    diagnosis: dict[str, Any] = document.get("diagnosis") or {}
    return str(diagnosis.get("engine", ""))


def play_one(case: Case, *, template: Path, out: Path, busy: bool = False) -> dict[str, Any]:
    """The run's document.

    Raises:
        RigError: the case could not be played.
    """
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "scenarios.play", case.name, f"--template={template}", f"--out={out}"]
    inside = in_new_namespace([*command, f"--outside={namespace_id()}", *(["--busy"] if busy else [])])
    log = out / "play.log"
    log.unlink(missing_ok=True)
    with ManagedProcess(f"case {case.name}", inside, log=log, stop_seconds=180) as process:
        most = case.seconds + case.after_seconds + MOST_SECONDS
        deadline = time.monotonic() + most
        while not process.ended():
            if time.monotonic() > deadline:
                raise RigError(f"not over after {most:g} s\n{process.last_lines()}")
            time.sleep(0.2)
        if process.status() != 0:
            raise RigError(f"ended with status {process.status()}\n{process.last_lines(40)}")
    return json.loads((out / "run.json").read_text(encoding="utf-8"))


def _made() -> dict[str, Any]:
    """When, on what and by which commit."""
    return {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": _commit(), "machine": describe_machine()}


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


if __name__ == "__main__":
    main()
