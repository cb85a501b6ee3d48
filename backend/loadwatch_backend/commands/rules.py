"""`loadwatch rules check` and `loadwatch rules test`: rule files before they are in force."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from loadwatch_backend.alerts.evaluation.machine import PROMETHEUS, Machine
from loadwatch_backend.alerts.evaluation.state import RuleStates
from loadwatch_backend.alerts.schemas import AlertState
from loadwatch_backend.rules.contract import RuleResult
from loadwatch_backend.rules.model import Rule, RuleGroup, RuleKind
from loadwatch_backend.rules.read import Read, read_rules
from loadwatch_backend.rules.testing.document import RuleTestFile, read_test_file
from loadwatch_backend.rules.testing.run import ActiveAlert, run_test
from loadwatch_backend.rules.yaml_document import Fault

paths_argument = click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)


@click.group()
def rules() -> None:
    """Check and test alerting and recording rules."""


@rules.command()
@paths_argument
def check(paths: Sequence[Path]) -> None:
    """Check rule files in Prometheus' format. Every error says file, line and column."""
    broken = 0
    for path in paths:
        read = _read(path)
        if read.all_faults:
            broken += 1
            _tell_faults(path, read.all_faults)
        else:
            click.echo(f"{path}: {_counted(read)}")
    if broken:
        raise click.ClickException(f"{broken} of {_count(len(paths), 'file')} {'is' if broken == 1 else 'are'} broken.")


@rules.command()
@click.option("--run", "pattern", default="", help="Only tests whose name holds this text.")
@paths_argument
def test(paths: Sequence[Path], pattern: str) -> None:
    """Run test files in promtool's format on the embedded engine and the server's own state machine."""
    failed = 0
    for path in paths:
        failed += not _test_file(path, pattern)
    if failed:
        raise click.ClickException(f"{failed} of {_count(len(paths), 'file')} failed.")


def _read(path: Path) -> Read:
    return read_rules(path.read_bytes(), str(path), 1_000)


def _counted(read: Read) -> str:
    kinds = [rule.kind for group in read.groups for rule in group.rules]
    alerting = sum(kind is RuleKind.ALERTING for kind in kinds)
    made_of = f"{alerting} alerting, {len(kinds) - alerting} recording"
    return f"{_count(len(kinds), 'rule')} ({made_of}) in {_count(len(read.groups), 'group')}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _tell_faults(path: Path, faults: Sequence[Fault]) -> None:
    for fault in faults:
        click.echo(f"{path}:{fault.line}:{fault.column}: {fault.message}", err=True)


def _test_file(path: Path, pattern: str) -> bool:
    """Run one test file and say what came out; whether all was as expected."""
    file = read_test_file(path.read_bytes())
    if file.faults:
        _tell_faults(path, file.faults)
        return False
    groups = _groups(path, file)
    if groups is None:
        return False
    chosen = [one for one in file.tests if pattern in one.name]
    failures = [failure for one in chosen for failure in run_test(file, one, groups, _MachineTracker)]
    for failure in failures:
        click.echo(f"{path}:{failure.line}: {failure.message}", err=True)
    if not failures:
        expectations = sum(len(one.alerts) + len(one.queries) for one in chosen)
        click.echo(f"{path}: ok, {_count(len(chosen), 'test')} with {_count(expectations, 'expectation')}")
    return not failures


def _groups(path: Path, file: RuleTestFile) -> list[RuleGroup] | None:
    """Groups of all rule files, which are named relative to the test file; None when one is broken or missing."""
    groups: list[RuleGroup] = []
    whole = True
    for pattern, line in file.rule_files:
        found = sorted(glob.glob(str(path.parent / pattern), recursive=True))
        if not found:
            click.echo(f"{path}:{line}: no file matches {pattern!r}", err=True)
            whole = False
        for name in found:
            read = _read(Path(name))
            _tell_faults(Path(name), read.all_faults)
            whole = whole and not read.all_faults
            groups += read.groups
    return groups if whole else None


@dataclass(slots=True)
class _MachineTracker:
    """The server's state machine, without the damping of flapping: a test says when an alert fires, to the step."""

    machine: Machine = field(default_factory=lambda: Machine(settings=PROMETHEUS))
    states: dict[str, RuleStates] = field(default_factory=dict[str, RuleStates])

    def step(self, rule: Rule, result: RuleResult, now_ms: int) -> Sequence[ActiveAlert]:
        """See `Tracker`."""
        step = self.machine.step(rule, self.states.get(rule.id, RuleStates()), result, now_ms)
        self.states[rule.id] = step.states
        return [
            ActiveAlert(
                labels=alert.labels,
                annotations=alert.annotations,
                firing=alert.state is AlertState.FIRING,
                active_ms=alert.active_ms,
            )
            for alert in step.states.alerts.values()
        ]
