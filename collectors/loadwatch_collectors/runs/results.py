"""Which file holds the result of a run, and where it stays."""

import dataclasses
import shutil
import zipfile
from pathlib import Path

from loadwatch_collectors.runs.delivery import Journal
from loadwatch_collectors.runs.tools import Plan, RunContext, fresh


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
        parts, path = [path, *companions], journal.directory / "result.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in parts:
                archive.write(part, part.name)
    journal.result, journal.own_result = str(path.absolute()), plan.own or bool(companions)
    if asked is not None and plan.own:
        target = context.working_directory / asked
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
        journal.result, journal.own_result = str(target.absolute()), False


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
