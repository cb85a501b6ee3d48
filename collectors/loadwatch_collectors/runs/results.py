"""Which file holds the result of a run, and where it stays."""

import dataclasses
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from loadwatch_collectors.runs.delivery import Journal
from loadwatch_collectors.runs.tools.tool import Plan, RunContext

_CLOCK_GRAIN_S = 1.0


def fresh(find: Callable[[], Path | None], started_s: float) -> Callable[[], Path | None]:
    """Finds a file only once the run has written to it: one of an earlier run is no result of this."""

    def find_fresh() -> Path | None:
        path = find()
        try:
            return path if path is not None and path.stat().st_mtime >= started_s - _CLOCK_GRAIN_S else None
        except OSError:
            return None

    return find_fresh


def with_result(plan: Plan, asked: str | None, context: RunContext) -> Plan:
    """The plan with the file that the user names: it is the result where the tool leaves none of ours."""
    if asked is None or plan.own:
        return dataclasses.replace(plan, result=fresh(plan.result, context.started_s))
    path = context.working_directory / asked
    found = fresh(lambda: path if path.is_file() else None, context.started_s)
    return dataclasses.replace(plan, result=found, note="")


def settle_result(journal: Journal, plan: Plan, asked: str | None, context: RunContext) -> None:
    """Write down where the result is; our own file moves to where the user asked it to stay.

    Raises:
        OSError: it cannot be moved there; it is written down where it is.
    """
    path = plan.result()
    if path is None:
        return
    companions = plan.companions()
    if companions:
        path = _pack([path, *companions], journal.directory / "result.zip")
    journal.result, journal.own_result = str(path.absolute()), plan.own or bool(companions)
    if asked is not None and plan.own:
        target = context.working_directory / asked
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
        journal.result, journal.own_result = str(target.absolute()), False


def _pack(files: Sequence[Path], target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.name)
    return target


def secure_result(journal: Journal) -> None:
    """Copy a result that is the user's, for the time until it is delivered: the next run may write over it.

    Raises:
        OSError: the copy cannot be made; the run still refers to the user's file.
    """
    if journal.result is None or journal.own_result or journal.imported:
        return
    path = Path(journal.result)
    copy = journal.directory / f"kept{''.join(path.suffixes[-2:])}"
    shutil.copyfile(path, copy)
    journal.result, journal.own_result = str(copy), True
