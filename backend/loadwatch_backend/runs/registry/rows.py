"""How a run's row comes to be and changes; pure but for the rows' own loading.

Two clocks: senders give times of their own clock and what it shows as they send; rows keep both, and windows are on the
server's (docs/decisions/0079-time-of-the-server.md).
"""

import secrets
from datetime import UTC, datetime
from typing import Any

from loadwatch_formats.run_facts import FACTS

from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.core.schemas import LAST_MILLISECOND
from loadwatch_backend.evidence.records.model import LoadResult
from loadwatch_backend.runs.analysis.schemas import RemarkOut, missing_remark
from loadwatch_backend.runs.annotations.repository import MARKER
from loadwatch_backend.runs.annotations.schemas import AUTHOR_LENGTH, AnnotationIn
from loadwatch_backend.runs.errors import RunRuleError
from loadwatch_backend.runs.fields import NAME_LENGTH, RunState, Window
from loadwatch_backend.runs.registry.documents import fact_values, read_details, write_details
from loadwatch_backend.runs.registry.repository import unpin
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.runs.registry.windows import LONGEST_RUN_MS, LONGEST_RUN_TEXT
from loadwatch_backend.runs.schemas import CheckedFields, ImportOut, RunFinish, RunIn, RunPatch

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_run_id(now_ms: int) -> str:
    """`YYYYMMDD-HHMMSS-xxxx`, UTC, with four random characters."""
    stamp = datetime.fromtimestamp(now_ms / 1_000, UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(4))}"


def in_time(time_ms: int) -> int:
    """A time after a correction, within what dates can hold."""
    return min(max(time_ms, 0), LAST_MILLISECOND)


def running_row(run_id: str, given: RunIn, now_ms: int) -> RunRow:
    """The row of a run that begins.

    Raises:
        RunRuleError: it began before there were load tests of this server, most likely in seconds.
    """
    skew_ms = None if given.clock_ms is None else given.clock_ms - now_ms
    sender_ms = given.started_ms if given.started_ms is not None else given.clock_ms
    started_ms = now_ms if sender_ms is None else in_time(sender_ms - (skew_ms or 0))
    if started_ms < LONGEST_RUN_MS < now_ms - started_ms:
        raise RunRuleError(f"started_ms {sender_ms} lies in January 1970: {LONGEST_RUN_TEXT}.")
    row = RunRow(
        id=run_id,
        state=RunState.RUNNING,
        started_ms=started_ms,
        sender_started_ms=now_ms if sender_ms is None else sender_ms,
        skew_ms=skew_ms,
        seen_ms=now_ms,
        created_ms=now_ms,
        updated_ms=now_ms,
        abort_reason="",
        sparkline="[]",
        details="{}",
    )
    write_details(row, fact_values(given))
    return row


def end_row(row: RunRow, given: RunFinish, now_ms: int) -> None:
    """Note the end of a run; one before its start, by a clock that was set back, is its start.

    Raises:
        RunRuleError: it would have lasted too long.
    """
    skew_ms = row.skew_ms if given.clock_ms is None else given.clock_ms - now_ms
    ended_ms = max(in_time(given.ended_ms - (skew_ms or 0)), row.started_ms)
    _check_length(row.started_ms, ended_ms)
    row.state = RunState.ABORTED if given.aborted else RunState.FINISHED
    row.sender_ended_ms = given.ended_ms
    row.skew_end_ms = None if given.clock_ms is None else skew_ms
    row.ended_ms = ended_ms
    row.settled_ms = row.settled_ms or now_ms
    row.seen_ms = row.updated_ms = now_ms
    row.exit_code = given.exit_code
    row.abort_reason = given.reason
    told = {"generator": given.generator} if given.generator is not None else {}
    write_details(row, {**told, "reported": given.figures})


def markers_of(row: RunRow, given: RunFinish) -> list[AnnotationIn]:
    """Requested lines of the output as annotations, their times clamped to the run."""
    assert row.ended_ms is not None
    skew_ms = row.skew_ms or 0
    return [
        AnnotationIn(
            author=row.author[:AUTHOR_LENGTH],
            text=one.text,
            start_ms=min(max(in_time(one.at_ms - skew_ms), row.started_ms), row.ended_ms),
            tags=[MARKER, row.id],
        )
        for one in given.markers
    ]


def _check_length(started_ms: int, ended_ms: int) -> None:
    if ended_ms - started_ms > LONGEST_RUN_MS:
        raise RunRuleError(
            f"The run would have lasted {(ended_ms - started_ms) / 86_400_000:,.1f} days, from {started_ms} to"
            f" {ended_ms} ms: {LONGEST_RUN_TEXT}."
        )


def changes_of(patch: RunPatch) -> dict[str, Any]:
    """The facts that a patch names; null is a value of those that can be unknown."""
    named = {fact: getattr(patch, fact.name) for fact in FACTS if fact.name in patch.model_fields_set}
    return {fact.name: value for fact, value in named.items() if value is not None or fact.nullable}


def apply_patch(session: Session, row: RunRow, patch: RunPatch) -> None:
    """Change what the patch names.

    Raises:
        RunRuleError: the steady window does not fit the run.
    """
    changes = changes_of(patch)
    if changes.get("scenario", row.scenario) != row.scenario:
        unpin(session, row.id)
    write_details(row, changes)
    if "steady_window" in patch.model_fields_set:
        _apply_window(row, patch.steady_window)


def _apply_window(row: RunRow, window: Window | None) -> None:
    if window is None:
        row.steady_from = row.steady_to = None
        return
    if not window.from_seconds < window.to_seconds:
        raise RunRuleError(
            f"The steady window from {window.from_seconds:g} to {window.to_seconds:g} s is empty; give an end after its"
            " start."
        )
    if row.ended_ms is not None and window.from_seconds * 1_000 >= row.ended_ms - row.started_ms:
        raise RunRuleError(
            f"The steady window begins at {window.from_seconds:g} s, and the run ended after"
            f" {(row.ended_ms - row.started_ms) / 1_000:g} s."
        )
    row.steady_from, row.steady_to = window.from_seconds, window.to_seconds


# Results --------------------------------------------------------------------------------------------------------------


def result_times(result: LoadResult, assumed_ms: int | None, now_ms: int) -> tuple[int, int, bool]:
    """Start and end of a result by the generator's clock, and whether they were assumed to have ended just now."""
    length_ms = round(min(result.figures.duration_seconds, 1e9) * 1_000)
    if result.start_ms is not None and result.end_ms is not None:
        length_ms = max(result.end_ms - result.start_ms, 0)
    start_ms = result.start_ms if result.start_ms is not None else assumed_ms
    if start_ms is None:
        return in_time(now_ms - length_ms), now_ms, True
    return in_time(start_ms), in_time(start_ms + length_ms), False


def settle_row(row: RunRow, result: LoadResult, source: ImportOut, assumed_ms: int | None, now_ms: int) -> None:
    """Note an imported result; the times of a run that was wrapped while it ran stay as its wrapper told them.

    Raises:
        RunRuleError: it lasted too long.
    """
    remarks = [RemarkOut.model_validate(one, from_attributes=True) for one in result.remarks]
    start_ms, end_ms, assumed = result_times(result, assumed_ms, now_ms)
    _check_length(start_ms, end_ms)
    if row.state == RunState.IMPORTED:
        row.sender_started_ms, row.sender_ended_ms = start_ms, end_ms
        skew_ms = row.skew_ms or 0
        row.started_ms, row.ended_ms = in_time(start_ms - skew_ms), in_time(end_ms - skew_ms)
        if assumed:
            remarks.append(_START_ASSUMED)
    elif _lies_elsewhere(row, result, now_ms):
        remarks.append(_OTHER_WINDOW)
    row.tool = row.tool or result.tool[:NAME_LENGTH]
    row.name = row.name or (result.name or "")[:NAME_LENGTH]
    facts = result.facts
    row.target_rate = facts.target_rate if row.target_rate is None else row.target_rate
    if row.target_duration_seconds is None:
        row.target_duration_seconds = facts.duration_seconds
    write_details(row, {"source": source, "remarks": remarks})
    row.updated_ms = now_ms


def apply_fields(session: Session, row: RunRow, fields: CheckedFields) -> None:
    """Change what an import says of a run that was there before; what it does not say stays.

    Raises:
        RunRuleError: it would have more parameters than a run may have.
    """
    said = {fact.name: value for fact in FACTS if fact.patched and (value := getattr(fields, fact.name))}
    if fields.parameters:
        said["parameters"] = together = {**read_details(row).parameters, **fields.parameters}
        if len(together) > _MOST_PARAMETERS:
            raise RunRuleError(
                f"The run would have {len(together)} parameters, and a run has at most {_MOST_PARAMETERS}; give fewer."
            )
    apply_patch(session, row, RunPatch.model_validate(said))


_MOST_PARAMETERS = next(fact.most for fact in FACTS if fact.name == "parameters")
_START_ASSUMED = missing_remark(
    "start-assumed",
    "The file has no wall clock and nobody said when the run began: it is shown as if it had ended when it was"
    " imported. Import it again with its start to see it beside the right samples.",
)
_OTHER_WINDOW = missing_remark(
    "other-window",
    "The times in the file lie outside of the run: it may be the result of another run, or the generator's clock"
    " was wrong.",
)
APART_MS = 60_000


def _lies_elsewhere(row: RunRow, result: LoadResult, now_ms: int) -> bool:
    if result.start_ms is None or result.end_ms is None:
        return False
    end_ms = row.sender_ended_ms if row.sender_ended_ms is not None else now_ms + (row.skew_ms or 0)
    return result.end_ms < row.sender_started_ms - APART_MS or result.start_ms > end_ms + APART_MS
