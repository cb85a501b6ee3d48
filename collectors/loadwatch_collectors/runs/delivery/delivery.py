"""Brings a run to the server: begin, end, result; each step may be repeated without harm."""

import itertools
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from loadwatch_formats.backoff import backoff_seconds
from loadwatch_formats.metrics.model import metrics_of

from loadwatch_collectors.pipeline.sender import Sender
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.runs.delivery.client import Client, import_file, run_path
from loadwatch_collectors.runs.delivery.journal import Journal
from loadwatch_collectors.runs.errors import AwayError, RefusedError

POLL_SECONDS = 0.2
SPOOL_BYTES = 64_000_000
SPOOL_SECONDS = 30 * 86_400.0
_JOB_LOST_TRIES = 3
_SAMPLE_SECONDS = 30.0
_UNPROCESSABLE = 422
_BYTES = "application/octet-stream"

Report = Callable[[str, int, int], None]
"""What is being done, and how far: `sending` or `reading`, bytes done, bytes in all."""


def now_ms() -> int:
    """This host's clock."""
    return int(time.time() * 1000)


def begin(client: Client, journal: Journal, facts: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Make the server know the run, by its own facts or by others. Errors as Client.get."""
    document = client.send("POST", "/api/runs", {**(facts or journal.facts), "clock_ms": now_ms()})
    journal.created = True
    return cast("dict[str, Any]", document)


def end(client: Client, journal: Journal) -> dict[str, Any]:
    """Tell the server that the run is over. Errors as Client.get."""
    assert journal.finish is not None
    document = client.send("POST", run_path(journal.id, "/finish"), {**journal.finish, "clock_ms": now_ms()})
    journal.finished = True
    return cast("dict[str, Any]", document)


def open_spool(journal: Journal) -> Spool:
    """The run's samples that wait."""
    return Spool(journal.spool, max_bytes=SPOOL_BYTES, max_age_seconds=SPOOL_SECONDS)


def make_sender(client: Client, spool: Spool) -> Sender:
    """What sends the samples; not started."""
    metrics = metrics_of("load")["loadtest"]
    return Sender(spool, url=client.remote_write, token=client.token, timeout_seconds=10.0, metrics=lambda: metrics)


def send_samples(client: Client, journal: Journal, seconds: float = _SAMPLE_SECONDS) -> None:
    """Deliver samples that wait on disk.

    Raises:
        AwayError: the server did not take all of them in time.
    """
    if not journal.spool.is_dir():
        return
    spool = open_spool(journal)
    try:
        sender = make_sender(client, spool)
        sender.start()
        sender.stop(seconds)
        left = spool.waiting()[0]
    finally:
        spool.close()
    if left:
        raise AwayError(f"{client.shown} did not take {left} samples")


def import_result(
    client: Client, path: Path, query: dict[str, Any], report: Report, pause: Callable[[float], None] = time.sleep
) -> str:
    """Send a result file and wait until the server has read it; the run's id.

    Raises:
        AwayError: the server went away; the same again does no harm when the query names a run.
        RefusedError: the server cannot read the file, or will not.
        OSError: the file cannot be read here.
    """
    size = path.stat().st_size
    for _ in range(_JOB_LOST_TRIES):
        job = import_file(client, path, query, lambda sent: report("sending", sent, size))
        try:
            while job["state"] == "reading":
                report("reading", job["bytes_read"], max(job["bytes_total"], 1))
                pause(POLL_SECONDS)
                job = client.get(f"/api/imports/{job['id']}")
        except KeyboardInterrupt:
            # Who stops waiting does not want it: the next import need not wait for it either.
            with suppress(AwayError, RefusedError):
                client.send("DELETE", f"/api/imports/{job['id']}")
            raise
        except RefusedError as error:
            if error.status != 404 or "run" not in query:
                raise
            continue  # the server was started anew and has forgotten the import
        if job["state"] == "done":
            return str(job["run"])
        problem = cast("dict[str, Any]", job.get("error") or {})
        why = problem.get("detail") or f"the import is {job['state']}"
        raise RefusedError(
            f"{path}: {why}",
            status=int(problem.get("status") or 422),
            code=str(problem.get("code") or ""),
        )
    raise AwayError(f"{client.shown} was started anew {_JOB_LOST_TRIES} times while it read {path}")


def deliver(client: Client, journal: Journal, report: Report, save: Callable[[], None]) -> None:
    """All steps that are left, in order; `save` keeps what was reached.

    Samples go before the result: the server's own series, made from the result, take their place.

    Raises:
        AwayError: the server cannot be reached; what was reached is kept.
        RefusedError: the server says no to a step.
    """
    if not journal.created:
        _begin_late(client, journal)
        save()
    if not journal.imported:
        send_samples(client, journal)
    if not journal.finished:
        end(client, journal)
        save()
    send_files(client, journal, save)
    if journal.result is not None and not journal.imported:
        path = Path(journal.result)
        if not path.exists():
            raise RefusedError(f"the result file {path} is gone", status=0, code="file-gone")
        tool = journal.facts.get("tool")
        name = path.name if not journal.own_result else f"{tool or 'result'}{''.join(path.suffixes)}"
        query: dict[str, Any] = {
            "run": journal.id,
            "filename": name,
            "started_ms": journal.facts.get("started_ms"),
        }
        import_result(client, path, query, report)
        journal.imported = True
        journal.problem = ""
        save()


def send_files(client: Client, journal: Journal, save: Callable[[], None]) -> None:
    """Deliver what the server is to keep with the run; what it refuses is left out, and said.

    Raises:
        AwayError: the server cannot be reached.
    """
    while journal.files:
        kept = journal.files[0]
        query = {"kind": kept.kind, "name": kept.name, "facts": json.dumps(kept.facts)}
        path = journal.directory / kept.file
        try:
            with path.open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                client.upload(
                    run_path(journal.id, "/evidence"), source, size, query=query, kind=_BYTES, progress=lambda _: None
                )
        except OSError as error:
            journal.note = f"without its {kept.kind}: {error.strerror or error}"
        except RefusedError as error:
            # A server of before knows no such files.
            journal.note = f"without its {kept.kind}: {error}"
        journal.files.pop(0)
        save()


def _begin_late(client: Client, journal: Journal) -> None:
    """Begin a run that is over; thresholds that nobody could check before must not cost its figures."""
    try:
        begin(client, journal)
    except RefusedError as error:
        left_out = ("thresholds", "expectations", "own_figures")
        if error.status != _UNPROCESSABLE or not any(journal.facts.get(name) for name in left_out):
            raise
        begin(client, journal, {**journal.facts, **{name: [] for name in left_out}})
        journal.note = f"without its thresholds, expectations and figures of its own: {error}"


def deliver_patiently(
    client: Client,
    journal: Journal,
    report: Report,
    save: Callable[[], None],
    *,
    seconds: float,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """As `deliver`, trying again for so many seconds while the server is away. Errors as `deliver`."""
    deadline = time.monotonic() + seconds
    for attempt in itertools.count():
        wait = backoff_seconds(attempt, 0.25, 3.0)
        try:
            deliver(client, journal, report, save)
            return
        except AwayError:
            if time.monotonic() + wait > deadline:
                raise
        pause(wait)
