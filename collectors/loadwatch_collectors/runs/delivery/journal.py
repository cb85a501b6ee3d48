"""What is on disk of a run until the server has it: `<runs>/<id>/run.json` and the files beside it.

`run.json` is written anew in one step. The lock is held by whoever works on the run and falls with its process, so a
run whose lock is free and that never ended was killed.
"""

import fcntl
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from loadwatch_collectors.runs.errors import RunsError, UsageError

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
    """A file in the run's folder that the server keeps with the run: its kind, what it is called there, and facts."""

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
        """Folder of the samples that are not delivered."""
        return self.directory / "spool"

    @property
    def delivered(self) -> bool:
        """Nothing is left to send."""
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
        """None while another process has it."""
        descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return Lock(descriptor)

    def release(self) -> None:
        """Let others work on the run."""
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
