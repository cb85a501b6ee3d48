"""`loadwatch rules check`: rule files before they are in force. Tests of rules are for `promtool test rules`."""

from collections.abc import Sequence
from pathlib import Path

import click
from loadwatch_formats.terminal import echo

from loadwatch_backend.alerting.rules.model import RuleKind
from loadwatch_backend.alerting.rules.read import Read, read_rules

paths_argument = click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)


@click.group()
def rules() -> None:
    """Check alerting and recording rules."""


@rules.command()
@paths_argument
def check(paths: Sequence[Path]) -> None:
    """Check rule files in Prometheus' format. Every error says file, line and column."""
    broken = 0
    for path in paths:
        read = _read(path)
        if read.all_faults:
            broken += 1
            for fault in read.all_faults:
                echo(str(fault), err=True)
        else:
            echo(f"{path}: {_counted(read)}")
    if broken:
        raise click.ClickException(f"{broken} of {_count(len(paths), 'file')} {'is' if broken == 1 else 'are'} broken.")


def _read(path: Path) -> Read:
    return read_rules(path.read_bytes(), str(path), 1_000)


def _counted(read: Read) -> str:
    kinds = [rule.kind for group in read.groups for rule in group.rules]
    alerting = sum(kind is RuleKind.ALERTING for kind in kinds)
    made_of = f"{alerting} alerting, {len(kinds) - alerting} recording"
    return f"{_count(len(kinds), 'rule')} ({made_of}) in {_count(len(read.groups), 'group')}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
