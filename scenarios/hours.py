"""Hours in which nothing is wrong: what do findings accuse meanwhile? `make healthy-hours`, over two hours.

The present is asked each ten seconds, as an open page does, and the run of the hour at its end. An accusation is a
finding that is critical or a warning; one that stands for minutes counts once, and once more when it comes back.
"""

import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import click

from bench.machine import describe_machine, write_result
from examples.rig.application import build_application
from examples.rig.database import find_mariadb, install_database
from examples.rig.load import Load
from examples.rig.processes import RigError
from scenarios.__main__ import play_one
from scenarios.actions import Action, AskNowAndThen, Backup, BurnCpu, PauseAgent, Restart
from scenarios.case import Case, Kind, Purpose
from scenarios.cases.apps import bounded, writer
from scenarios.looking import Looks, read_looks

_INTRODUCTION = """\
`make healthy-hours`: the present is asked each ten seconds, as an open page does, and the run of the hour at its end.
An accusation is a finding that is critical or a warning; one that stands for minutes counts once, and once more when
it comes back.

Two instances with 40 hits/s for 50 minutes, then nobody for ten; a restart, a deploy, two backups, an agent that stands
still for 20 s, another client that asks each second. The noisy hour has two CPU burners beside it for two minutes, six
times."""
MOST = {Kind.HEALTHY: 0, Kind.NOISY: 1}
"""False findings that an hour may bring."""
_BUSY_MINUTES = (4, 11, 19, 27, 34, 42)
_LIFE: tuple[Action, ...] = (
    AskNowAndThen(at=60, seconds=3_000),
    Backup(at=480),
    Restart(at=900),
    Restart(at=1_500, app=1, pause=3, flags=("-stage=channel", "-batch-size=500", "-db-delay=10ms")),
    PauseAgent(at=2_100, seconds=20),
    Backup(at=2_400),
    Restart(at=2_700, app=1),
)
"""A restart, a deploy that takes three seconds, a backup before and after, an agent that stands still."""


def _hour(name: str, title: str, kind: Kind, more: tuple[Action, ...]) -> Case:
    return Case(
        name=name,
        title=title,
        purpose=Purpose.JUDGE,
        kind=kind,
        expected=(),
        why="40 hits/s on two instances that could take many times that, and ten idle minutes at the end.",
        apps=(bounded(30, "5ms"), writer(1_000, "10ms")),
        load=Load(workers=20, rate_per_worker=2),
        seconds=3_000,
        after_seconds=600,
        actions=(*_LIFE, *more),
    )


HOURS = (
    _hour("healthy-hour", "An hour in which nothing is wrong", Kind.HEALTHY, ()),
    _hour(
        "noisy-hour",
        "The same hour on a host that other processes keep busy now and then",
        Kind.NOISY,
        tuple(BurnCpu(at=60.0 * minute, seconds=120, processes=2) for minute in _BUSY_MINUTES),
    ),
)


def hours_by_name() -> dict[str, Case]:
    """Both hours by their name."""
    return {hour.name: hour for hour in HOURS}


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Play the hours, or those that are named, one after the other, and write bench/results/healthy-hours.md."""
    chosen = [hour for hour in HOURS if not names or hour.name in names]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        find_mariadb()
        build_application()
        with tempfile.TemporaryDirectory(prefix="loadwatch-hours-") as folder:
            template = install_database(Path(folder))
            told: list[tuple[Case, dict[str, Any], Looks]] = []
            for hour in chosen:
                out = Path(folder) / hour.name
                document = play_one(hour, template=template, out=out)
                told.append((hour, document, read_looks(out / "looks.json")))
                click.echo(f"{hour.name}: {len(_accusations(document, told[-1][2]))} accusations")
        _write(told)
    except KeyboardInterrupt:
        click.echo("stopped everything that was started", err=True)
        sys.exit(130)
    except RigError as error:
        click.echo(f"healthy hours: {error}", err=True)
        sys.exit(1)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _accusations(document: dict[str, Any], looks: Looks) -> list[str]:
    """What was accused: of the present by when it was first said, then of the run."""
    said = [f"live, minute {one.seconds / 60:.0f}: {one.sentence}" for one in looks.accused]
    findings: list[dict[str, Any]] = document["findings"]
    of_run = [one for one in findings if one["severity"] != "info"]
    return said + [f"of the run: {one['sentence']['en']}" for one in of_run]


def _write(told: Sequence[tuple[Case, dict[str, Any], Looks]]) -> None:
    rows = [
        f"| {hour.title} | {looks.answered} of {looks.asked} | {count} | {MOST[hour.kind]} | "
        f"{'reached' if count <= MOST[hour.kind] else 'missed'} |"
        for hour, document, looks in told
        for count in [len(_accusations(document, looks))]
    ]
    errors = [f"- {hour.name}: {text}" for hour, document, looks in told for text in _accusations(document, looks)] or [
        "None."
    ]
    text = "\n".join(
        [
            _INTRODUCTION,
            "",
            "| hour | answers of looks | false findings | goal | |",
            "| --- | ---: | ---: | ---: | --- |",
            *rows,
            "",
            "What each error was:",
            "",
            *errors,
        ]
    )
    result = {
        "machine": describe_machine(),
        "hours": {hour.name: _accusations(document, looks) for hour, document, looks in told},
    }
    write_result("healthy-hours", "False findings in healthy hours", text, result)


if __name__ == "__main__":
    main()
