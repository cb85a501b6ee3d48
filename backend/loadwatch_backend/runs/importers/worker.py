"""One import in a process of its own: `python -m loadwatch_backend.runs.importers.worker`.

Standard input: a line of JSON, the job; then nothing. Its end means that the server is gone: so is this process.
Standard output: lines of JSON, `{"progress": …}` every `TICK` seconds, at last `{"done": …}` or `{"error": …}`.
The result is in the directory: `records.parquet`, `result.json`, `seconds.npz`.
"""

import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records import result_file
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.runs.importers.errors import ERRORS, UnreadableFileError
from loadwatch_backend.runs.importers.pipeline import read_result

TICK = 0.1


def run(job: dict[str, Any], output: TextIO) -> int:
    messages = _Messages(output)
    directory = Path(job["directory"])
    try:
        result = read_result(
            Path(job["source"]),
            directory,
            ImportOptions(**job["options"]),
            lambda progress: messages.write({"progress": asdict(progress)}, seldom=True),
            watch=messages.watch,
            most_unpacked=job["unpacked_bytes"],
        )
        result_file.save(result, RunFiles(directory))
    except ProblemError as error:
        code = error.code if error.code in ERRORS else UnreadableFileError.code
        messages.write({"error": {"code": code, "detail": error.detail}})
        return 3
    except MemoryError:
        megabytes = job["memory_bytes"] // 2**20
        messages.write({"error": {"code": "import-limit", "detail": _OUT_OF_MEMORY.format(megabytes)}})
        return 3
    messages.write({"done": {"requests": result.figures.requests}})
    return 0


_OUT_OF_MEMORY = "The import needs more than the {} MiB it may use. Report the file's format: imports should not grow."


class _Messages:
    """Lines of JSON, from several threads; progress at most every `TICK`."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._last = 0.0

    def write(self, message: dict[str, Any], *, seldom: bool = False) -> None:
        with self._lock:
            now = time.monotonic()
            if seldom and now - self._last < TICK:
                return
            self._last = now
            self._output.write(json.dumps(message) + "\n")
            self._output.flush()

    def watch(self, progress: Callable[[], Progress]) -> None:
        """Reports progress regularly: the server checks for a cancellation whenever a message arrives."""

        def tell() -> None:
            while True:
                time.sleep(TICK)
                self.write({"progress": asdict(progress())}, seldom=True)

        threading.Thread(target=tell, daemon=True, name="progress").start()


def _end_with(parent: TextIO) -> None:
    """Ends this process when the pipe from the server closes."""
    parent.read()
    os._exit(4)


def main() -> int:
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not stand between the messages
    job = json.loads(sys.stdin.readline())
    limit = int(job["memory_bytes"])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    seconds = int(job["cpu_seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # What libraries write beside the result goes where the next start finds and removes it, and where room is watched.
    tempfile.tempdir = os.environ["TMPDIR"] = os.environ["SQLITE_TMPDIR"] = job["directory"]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True, name="parent").start()
    status = run(job, output)
    output.flush()
    # The thread that waits for the server holds standard input: leave without waiting for it.
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
