"""What is read of a log and kept with a run that has ended."""

import io
import json
from collections.abc import Mapping
from typing import Any

from loadwatch_formats.run_spans import Span
from loadwatch_formats.times import format_rfc3339

from loadwatch_collectors.runs.delivery.client import Client, run_path
from loadwatch_collectors.runs.errors import UsageError

_WHOLE = "whole"


def read_ended(client: Client, run_id: str) -> Mapping[str, Any]:
    """The run as the server has it.

    Raises:
        AgentError: the server says no, or the run is under way.
    """
    run: Mapping[str, Any] = client.get(run_path(run_id))
    if run["ended_ms"] is None:
        raise UsageError(f"{run['id']} is under way: import its log when it has ended")
    return run


def spans_of(run: Mapping[str, Any]) -> tuple[Span, Span | None]:
    """When it was, and its steady window if it has one. Pure."""
    steady = run["steady_window"]
    found = None if steady is None or steady["source"] == _WHOLE else Span(steady["from_ms"], steady["to_ms"])
    return Span(run["started_ms"], run["ended_ms"]), found


def keep_document(
    client: Client, run: Mapping[str, Any], kind: str, name: str, document: Mapping[str, Any]
) -> dict[str, Any]:
    """Send a digest; the file as the server keeps it.

    Raises:
        AgentError: the server says no.
    """
    content = json.dumps(document, separators=(",", ":")).encode()
    return client.upload(
        run_path(run["id"], "/evidence"),
        io.BytesIO(content),
        len(content),
        query={"kind": kind, "name": f"{name}.json"},
        kind="application/octet-stream",
        progress=lambda _: None,
    )


def nothing_of(run: Mapping[str, Any], outside_ms: tuple[int, int] | None) -> str:
    """Why a log has nothing of a run, whose lines are from the one time to the other. Pure."""
    when = f"{_time(run['started_ms'])} to {_time(run['ended_ms'])}"
    if outside_ms is None:
        return f"no line has a time that can be read; the run was from {when}"
    return (
        f"no line lies within the run, {when}: they are from {_time(outside_ms[0])} to {_time(outside_ms[1])}. Is it "
        "the right log, and does its time zone stand in it?"
    )


def _time(at_ms: int) -> str:
    return f"{format_rfc3339(at_ms)[:19]}Z"
