"""How runs reach the server, at once or later.

`run.json` is written anew in one step. The lock is held by whoever works on the run and falls with its process, so a
run whose lock is free and that never ended was killed.
"""

import fcntl
import itertools
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote, urlencode

import urllib3
from loadwatch_formats.backoff import backoff_seconds
from loadwatch_formats.metrics.model import metrics_of

from loadwatch_collectors.pipeline.sender import Sender
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.runs.errors import AwayError, RefusedError, RunsError, UsageError
from loadwatch_collectors.settings import read_secret
from loadwatch_collectors.transport.http_page import check_url, redact_url, root_cause

TOKEN_VARIABLE = "LOADWATCH_TOKEN"
REQUEST_SECONDS = 30.0
UPLOAD_SECONDS = 600.0
"""Between two pieces of an upload, and for the server's answer to it."""

_CHUNK = 256 * 1024
_TEXT_LIMIT = 500

Query = Mapping[str, str | int | float | Sequence[str] | None]


def read_token(token_file: str | None) -> str | None:
    """The token in the file, else in LOADWATCH_TOKEN, else none."""
    if token_file:
        return read_secret(what="the token", file=token_file, env=None)
    return os.environ.get(TOKEN_VARIABLE) or None


class Client:
    """One server, with the token that it is asked with. Used by several threads."""

    def __init__(self, server: str, token: str | None, *, seconds: float = REQUEST_SECONDS) -> None:
        """Raise UsageError when the address is invalid."""
        try:
            check_url(server)
        except ValueError as error:
            raise UsageError(f"--server: {error}") from error
        self.server = server.rstrip("/")
        self.shown = redact_url(self.server)
        self.token = token
        self._seconds = seconds
        self._headers = {"User-Agent": "loadwatch", **({"Authorization": f"Bearer {token}"} if token else {})}
        self._pool = urllib3.PoolManager(num_pools=2, maxsize=4, retries=False)

    @property
    def remote_write(self) -> str:
        return f"{self.server}/prometheus/api/v1/write"

    def page(self, run: str) -> str:
        return f"{self.shown}/runs/{run}"

    def get(self, path: str, query: Query | None = None) -> Any:
        """The document at a path.

        Raises:
            AwayError: no answer, or one that says to try again.
            RefusedError: the server says no.
        """
        return _document(self._request("GET", path, query, *_body(None)).data)

    def send(self, method: str, path: str, document: Any = None, *, query: Query | None = None) -> Any:
        """Send a document; errors as `get`."""
        return _document(self._request(method, path, query, *_body(document)).data)

    def upload(
        self,
        path: str,
        source: BinaryIO,
        *,
        query: Query | None = None,
        kind: str = "application/octet-stream",
        progress: Callable[[int], None] = lambda _: None,
    ) -> Any:
        """Send a whole file as it is read; `progress` is told the bytes sent so far. Errors as `get`."""

        def pieces() -> Iterator[bytes]:
            sent = 0
            while piece := source.read(_CHUNK):
                yield piece
                sent += len(piece)
                progress(sent)

        headers = {"Content-Type": kind, "Content-Length": str(source.seek(0, os.SEEK_END))}
        source.seek(0)
        response = self._request("POST", path, query, pieces(), headers, seconds=UPLOAD_SECONDS)
        return _document(response.data)

    def download(self, path: str, query: Query | None = None, document: Any = None) -> urllib3.BaseHTTPResponse:
        """The open answer, to be read in pieces with `stream` and then released; by POST with a document.

        Errors as `get`.
        """
        return self._request("GET" if document is None else "POST", path, query, *_body(document), preload=False)

    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: bytes | Iterator[bytes] | None,
        headers: Mapping[str, str],
        *,
        seconds: float | None = None,
        preload: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        wait = urllib3.Timeout(connect=min(self._seconds, 5.0), read=seconds or self._seconds)
        try:
            response = self._pool.request(
                method,
                self.server + path + _query(query),
                body=body,
                headers={**self._headers, **headers},
                timeout=wait,
                redirect=False,
                preload_content=preload,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise AwayError(f"{self.shown} cannot be reached: {_cause(error)}") from error
        if response.status >= 300:
            raise self._refusal(method, path, response)
        return response

    def _refusal(self, method: str, path: str, response: urllib3.BaseHTTPResponse) -> AwayError | RefusedError:
        problem = _problem(response.data)
        detail = str(problem.get("detail") or f"answered {response.status}")
        fields = problem.get("errors")
        if isinstance(fields, list):
            detail += "".join(f"; {json.dumps(field, ensure_ascii=False)}" for field in cast("list[Any]", fields)[:3])
        text = f"{self.shown}: {detail[:_TEXT_LIMIT]}"
        if response.status in (401, 403) and "token" not in detail.lower():
            text += f" (give --token-file or {TOKEN_VARIABLE})"
        if response.status in (408, 429) or response.status >= 500:
            return AwayError(f"{text} ({method} {path} answered {response.status})")
        return RefusedError(text, status=response.status, code=str(problem.get("code") or ""))


def run_path(run: str, rest: str = "") -> str:
    return f"/api/runs/{quote(run, safe='')}{rest}"


def _query(query: Query | None) -> str:
    given = {key: value for key, value in (query or {}).items() if value is not None and value != ""}
    return "?" + urlencode(given, doseq=True) if given else ""


def _body(document: Any) -> tuple[bytes | None, dict[str, str]]:
    return (None, {}) if document is None else (json.dumps(document).encode(), {"Content-Type": "application/json"})


def _document(body: bytes) -> Any:
    return json.loads(body) if body else None


def _problem(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}


def _cause(error: BaseException) -> str:
    """Return the system's own message from within urllib3's exception."""
    error = root_cause(error)
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):
        return _cause(reason)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


VERSION = 1
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_RUN, _LOCK = "run.json", "lock"


def default_directory() -> Path:
    """$XDG_STATE_HOME/loadwatch/runs, or ~/.local/state/loadwatch/runs."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "loadwatch" / "runs"


def make_run_id(now_s: float) -> str:
    """`YYYYMMDD-HHMMSS-xxxx` in UTC with four random characters."""
    when = datetime.fromtimestamp(now_s, UTC)
    return f"{when:%Y%m%d-%H%M%S}-{''.join(secrets.choice(_ALPHABET) for _ in range(4))}"


@dataclass(slots=True, kw_only=True)
class KeptFile:
    kind: str
    file: str
    name: str
    facts: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Journal:
    """All that is to be delivered of one run, and how far that is.

    Attributes:
        server: address that the run was meant for.
        facts: the document that begins the run (`RunIn` of the API), without the sender's clock at sending.
        alive_ms: the last sign of life while the run was under way.
        finish: the document that ends the run (`RunFinish`), None while it is under way.
        expected: the result file as it was seen while the run was under way.
        result: path of the result file, None where there is none.
        own_result: whether the file is ours to delete once it is delivered.
        created, finished, imported: what the server has.
        problem: why the server refused something for good.
        note: what was left out to deliver the rest.
        files: what is still to be kept with the run.
    """

    id: str
    server: str
    facts: dict[str, Any]
    alive_ms: int
    finish: dict[str, Any] | None = None
    expected: str | None = None
    result: str | None = None
    own_result: bool = False
    created: bool = False
    finished: bool = False
    imported: bool = False
    problem: str = ""
    note: str = ""
    files: list[KeptFile] = field(default_factory=list[KeptFile])
    version: int = VERSION
    directory: Path = field(default=Path(), metadata={"kept": False})

    @property
    def spool(self) -> Path:
        return self.directory / "spool"

    @property
    def delivered(self) -> bool:
        return self.created and self.finished and not self.files and (self.imported or self.result is None)

    def save(self) -> None:
        """Write `run.json` in one step; on disk when this returns.

        Raises:
            OSError: the disk refuses.
        """
        document = {name: value for name, value in asdict(self).items() if name != "directory"}
        path = self.directory / _RUN
        fresh = path.with_suffix(f".{threading.get_ident()}")  # two threads may write at once
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)

    def keep_file(self, kind: str, name: str, content: bytes, facts: Mapping[str, Any]) -> None:
        """Write a file down that the server is to keep with the run.

        Raises:
            OSError: the disk refuses.
        """
        file = f"kept-{kind}"
        (self.directory / file).write_bytes(content)
        self.files.append(KeptFile(kind=kind, file=file, name=name, facts=dict(facts)))

    def remove(self) -> None:
        """Forget the run and its files.

        `run.json` goes first: whoever finds the run while its files go sees none, and not one with half its files.
        """
        with suppress(OSError):
            (self.directory / _RUN).unlink(missing_ok=True)
        shutil.rmtree(self.directory, ignore_errors=True)


class Lock:
    """The right to work on a run; falls with the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @staticmethod
    def take(directory: Path) -> "Lock | None":
        """Take the lock, or return None while another process holds it."""
        descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return Lock(descriptor)

    def release(self) -> None:
        os.close(self._descriptor)


def open_journal(root: Path, *, server: str, facts: Mapping[str, Any], run: str) -> tuple[Journal, Lock]:
    """Begin the journal of a new run.

    Raises:
        RunsError: the folder cannot be used.
    """
    directory = root / run
    try:
        directory.mkdir(parents=True, mode=0o700)
        lock = Lock.take(directory)
        journal = Journal(
            id=run, server=server, facts=dict(facts), alive_ms=int(time.time() * 1000), directory=directory
        )
        journal.save()
    except OSError as error:
        raise RunsError(
            f"{directory} cannot be written: {error.strerror or error}; name another --state-directory"
        ) from (error)
    if lock is None:
        raise RunsError(f"{directory} is in use by another process")
    return journal, lock


def read_journal(directory: Path) -> Journal:
    """A run's journal.

    Raises:
        RunsError: it is damaged, or of another version.
    """
    path = directory / _RUN
    names = {item.name for item in fields(Journal)} - {"directory"}
    try:
        document = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
        known = {name: value for name, value in document.items() if name in names}
        known["files"] = [KeptFile(**one) for one in known.get("files", ())]
        journal = Journal(**known, directory=directory)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RunsError(f"{path} cannot be read: {error}") from error
    if journal.version != VERSION:
        raise RunsError(f"{path} is of version {journal.version}; this loadwatch reads version {VERSION}")
    return journal


def find_runs(root: Path) -> Iterator[Path]:
    """Folders of the runs that wait, the oldest first: the ids begin with the time."""
    if root.is_dir():
        yield from sorted(path.parent for path in root.glob(f"*/{_RUN}"))


def is_there(directory: Path) -> bool:
    """Whether a run still waits; one that is delivered at this moment loses `run.json` first."""
    return (directory / _RUN).is_file()


def find_run(root: Path, run: str) -> Path:
    """The folder of one run.

    Raises:
        UsageError: there is none.
    """
    directory = root / run
    if directory.parent != root or not is_there(directory):
        raise UsageError(f"no run {run!r} waits in {root}; `loadwatch sync` says which do")
    return directory


POLL_SECONDS = 0.2
SPOOL_BYTES = 64_000_000
SPOOL_SECONDS = 30 * 86_400.0
_JOB_LOST_TRIES = 3
_SAMPLE_SECONDS = 30.0
_UNPROCESSABLE = 422

Report = Callable[[str, int, int], None]
"""What is being done, and how far: `sending` or `reading`, bytes done, bytes in all."""


def now_ms() -> int:
    return int(time.time() * 1000)


def begin(client: Client, journal: Journal, facts: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Create the run on the server from `facts`, by default the journal's. Errors as Client.get."""
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
    return Spool(journal.spool, max_bytes=SPOOL_BYTES, max_age_seconds=SPOOL_SECONDS)


def make_sender(client: Client, spool: Spool) -> Sender:
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
        with path.open("rb") as source:
            job = client.upload(
                "/api/imports", source, query=query, progress=lambda sent: report("sending", sent, size)
            )
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
        status, code = int(problem.get("status") or 422), str(problem.get("code") or "")
        raise RefusedError(f"{path}: {why}", status=status, code=code)
    raise AwayError(f"{client.shown} was started anew {_JOB_LOST_TRIES} times while it read {path}")


def deliver(client: Client, journal: Journal, report: Report) -> None:
    """All steps that are left, in order; what was reached is kept.

    Samples go before the result: the server's own series, made from the result, take their place.

    Raises:
        AwayError: the server cannot be reached; what was reached is kept.
        RefusedError: the server says no to a step.
    """
    if not journal.created:
        _begin_late(client, journal)
        journal.save()
    if not journal.imported:
        send_samples(client, journal)
    if not journal.finished:
        end(client, journal)
        journal.save()
    send_files(client, journal)
    if journal.result is not None and not journal.imported:
        path = Path(journal.result)
        if not path.exists():
            raise RefusedError(f"the result file {path} is gone", status=0, code="file-gone")
        tool = journal.facts.get("tool")
        name = path.name if not journal.own_result else f"{tool or 'result'}{''.join(path.suffixes)}"
        query = {"run": journal.id, "filename": name, "started_ms": journal.facts.get("started_ms")}
        import_result(client, path, query, report)
        journal.imported, journal.problem = True, ""
        journal.save()


def send_files(client: Client, journal: Journal) -> None:
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
                client.upload(run_path(journal.id, "/evidence"), source, query=query)
        except OSError as error:
            journal.note = f"without its {kept.kind}: {error.strerror or error}"
        except RefusedError as error:
            # A server of before knows no such files.
            journal.note = f"without its {kept.kind}: {error}"
        journal.files.pop(0)
        journal.save()


def _begin_late(client: Client, journal: Journal) -> None:
    """Begin a run that is over, without its thresholds and the like where the server rejects them."""
    try:
        begin(client, journal)
    except RefusedError as error:
        left_out = ("thresholds", "expectations", "own_figures")
        if error.status != _UNPROCESSABLE or not any(journal.facts.get(name) for name in left_out):
            raise
        begin(client, journal, {**journal.facts, **{name: [] for name in left_out}})
        journal.note = f"without its thresholds, expectations and figures of its own: {error}"


def deliver_patiently(
    client: Client, journal: Journal, report: Report, *, seconds: float, pause: Callable[[float], None] = time.sleep
) -> None:
    """As `deliver`, trying again for so many seconds while the server is away. Errors as `deliver`."""
    deadline = time.monotonic() + seconds
    for attempt in itertools.count():
        wait = backoff_seconds(attempt, 0.25, 3.0)
        try:
            deliver(client, journal, report)
            return
        except AwayError:
            if time.monotonic() + wait > deadline:
                raise
        pause(wait)
