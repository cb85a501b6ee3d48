"""Every import in a process of its own.

The server's memory stays flat, its event loop never waits for a parser, and a parser that crashes harms nobody.
"""

import contextlib
import json
import math
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.evidence.records import result_file
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import LoadResult
from loadwatch_backend.runs.importers.errors import ERRORS, ImportCancelledError, ImportLimitError, ImportStoppedError
from loadwatch_backend.runs.importers.reading.unpacked import MAX_BYTES

MEMORY_BYTES = 1 << 30
SECONDS = 3_600.0
_STDERR_KEPT = 4_000
_WAIT = 0.2


class ProcessReader:
    """Reads result files in child processes; safe to use from any thread.

    Args:
        memory_bytes: most memory of one import, beyond which it fails with a clear error.
        seconds: most time of one import, by the clock on the wall, and of processor time.
        unpacked_bytes: most bytes that one file may unpack to.
        at_once: imports that run at the same time; further callers wait.
        command: how the worker is started; tests give others.
    """

    def __init__(
        self,
        *,
        memory_bytes: int = MEMORY_BYTES,
        seconds: float = SECONDS,
        unpacked_bytes: int = MAX_BYTES,
        at_once: int = 2,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._unpacked_bytes = unpacked_bytes
        self._turns = threading.BoundedSemaphore(at_once)
        self._command = command or (sys.executable, "-m", "loadwatch_backend.runs.importers.worker")
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False

    def __call__(
        self,
        source: Path,
        directory: Path,
        options: ImportOptions,
        progress: Callable[[Progress], None],
        stop: threading.Event | None = None,
    ) -> LoadResult:
        """Reads it all, see `ResultReader`. An exception of `progress`, called about ten times a second, cancels.

        Beside `records.parquet` the directory then holds `result.json` and `seconds.npz`. After an error it is empty.

        Raises:
            ProblemError: of `importers.errors`; ImportCancelledError once `stop` is set.
        """
        stop = stop or threading.Event()
        while not self._turns.acquire(timeout=_WAIT):
            _check(stop)
            progress(Progress(bytes_read=0, bytes_total=source.stat().st_size, records=0))
        try:
            _check(stop)
            with self._started() as process, self._watched(process, stop):
                try:
                    self._converse(process, source, directory, options, progress)
                except ImportStoppedError:
                    _check(stop)
                    raise
            _check(stop)
            return result_file.load(RunFiles(directory))
        except BaseException:
            _empty(directory)
            raise
        finally:
            self._turns.release()

    @property
    def running(self) -> list[int]:
        """Process ids of the imports under way."""
        with self._lock:
            return [process.pid for process in self._running]

    def close(self) -> None:
        """Ends all imports under way and refuses new ones; at the end of the application."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            process.kill()

    @contextlib.contextmanager
    def _started(self) -> Any:
        with self._lock:
            if self._closed:
                raise ImportStoppedError("The server is shutting down. Send the file again when it is back.")
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            self._running.add(process)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            with self._lock:
                self._running.discard(process)

    @contextlib.contextmanager
    def _watched(self, process: "subprocess.Popen[str]", stop: threading.Event) -> Generator[None]:
        """Ends the process when the import is cancelled or takes too long: one that is stuck says nothing."""
        late = threading.Event()
        deadline = time.monotonic() + self._seconds

        def end_it() -> None:
            if time.monotonic() > deadline:
                late.set()
            if late.is_set() or stop.is_set():
                process.kill()

        try:
            with Periodic("import-watch", end_it, _WAIT):
                yield
        except ImportStoppedError as error:
            if late.is_set() and not stop.is_set():
                raise self._too_long() from error
            raise

    def _too_long(self) -> ImportLimitError:
        return ImportLimitError(
            f"The import took longer than {self._seconds:g} s and was ended; nothing of it was kept. Is it a result as"
            " the tool wrote it? Send it in parts."
        )

    def _converse(
        self,
        process: "subprocess.Popen[str]",
        source: Path,
        directory: Path,
        options: ImportOptions,
        progress: Callable[[Progress], None],
    ) -> None:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        said: list[str] = []
        listener = threading.Thread(target=_keep_last, args=(stderr, said), daemon=True, name="import-stderr")
        listener.start()
        job = {
            "source": str(source),
            "directory": str(directory),
            "options": asdict(options),
            "memory_bytes": self._memory_bytes,
            "cpu_seconds": math.ceil(self._seconds),
            "unpacked_bytes": self._unpacked_bytes,
        }
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(job) + "\n")
            stdin.flush()
        for line in stdout:
            message = _message(line)
            if "progress" in message:
                progress(Progress(**message["progress"]))
            elif "error" in message:
                kind = ERRORS.get(message["error"]["code"], ImportStoppedError)
                raise kind(message["error"]["detail"])
            elif "done" in message:
                return
        status = process.wait()
        if status == -signal.SIGXCPU:
            raise self._too_long()
        listener.join(timeout=5)
        raise ImportStoppedError(self._why(status, "".join(said)))

    def _why(self, status: int, said: str) -> str:
        if self._closed:
            return "The server is shutting down. Send the file again when it is back."
        last = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
        if status < 0:
            name = signal.Signals(-status).name
            return f"The importer was ended by {name} ({last}). Send the file again; if it repeats, report its format."
        return f"The importer ended with status {status}: {last}. Nothing was kept; report the file's format."


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise ImportCancelledError("The import was cancelled; nothing of it was kept.")


def _message(line: str) -> dict[str, Any]:
    """The message of a line; empty where a crash of the worker cut the line off."""
    try:
        message: dict[str, Any] = json.loads(line)
    except ValueError:
        return {}
    return message


def _keep_last(stream: IO[str], said: list[str]) -> None:
    for line in stream:
        said.append(line)
        while sum(map(len, said)) > _STDERR_KEPT:
            said.pop(0)


def _empty(directory: Path) -> None:
    """Delete what a killed worker left half-written."""
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
