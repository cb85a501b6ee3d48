"""Against real processes; the crashing workers are real Python programs."""

import contextlib
import os
import resource
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.runs.importers.errors import (
    ImportCancelledError,
    ImportLimitError,
    ImportStoppedError,
    UnknownFormatError,
)
from loadwatch_backend.runs.importers.pipeline import read_result
from loadwatch_backend.runs.importers.reader import ProcessReader

from backend.tests.importers.conftest import FIXTURES, unpacked

CSV = FIXTURES / "vegeta/control/vegeta.csv.gz"
OPTIONS = ImportOptions(filename="results.csv")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    target = tmp_path / "run"
    target.mkdir()
    return target


def ignore(_: Progress) -> None:
    pass


def worker(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", textwrap.dedent(code))


def slow(tmp_path: Path) -> Path:
    """A source that nobody ends: the worker waits for a pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_same_result_as_in_this_process(directory: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    found = ProcessReader()(CSV, directory, OPTIONS, seen.append)
    other = tmp_path / "other"
    other.mkdir()
    here = read_result(CSV, other, OPTIONS, ignore)
    assert found.figures == here.figures
    assert found.endpoints == here.endpoints
    assert found.remarks == here.remarks
    assert seen
    assert {path.name for path in directory.iterdir()} == {"records.parquet", "result.json", "seconds.npz"}


def test_problems_cross_over(directory: Path, tmp_path: Path) -> None:
    source = tmp_path / "x"
    source.write_bytes(b"hello\n")
    with pytest.raises(UnknownFormatError, match="text beginning with 'hello'"):
        ProcessReader()(source, directory, OPTIONS, ignore)
    assert not list(directory.iterdir())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import sys; sys.stdin.readline(); sys.exit('no luck')", "no luck"),
        ("import sys; sys.exit(0)", "status 0"),
        ("print('{\"prog', flush=True)", "status 0"),
    ],
)
def test_a_crash_is_an_error_and_leaves_nothing(directory: Path, code: str, words: str) -> None:
    (directory / "records.parquet").write_bytes(b"half")
    with pytest.raises(ImportStoppedError, match=words):
        ProcessReader(command=worker(code))(CSV, directory, OPTIONS, ignore)
    assert not list(directory.iterdir())


def test_too_much_memory_is_an_error(directory: Path, tmp_path: Path) -> None:
    source = tmp_path / "big.csv"
    source.write_bytes(unpacked("vegeta/control/vegeta.csv.gz") * 100)
    with pytest.raises((ImportStoppedError, ImportLimitError)):
        ProcessReader(memory_bytes=48 << 20)(source, directory, OPTIONS, ignore)
    assert not list(directory.iterdir())


def test_progress_can_cancel(directory: Path, tmp_path: Path) -> None:
    class CancelledError(Exception):
        pass

    def cancel(_: Progress) -> None:
        raise CancelledError

    code = """
        import json, sys, time
        sys.stdin.readline()
        while True:
            progress = {"bytes_read": 1, "bytes_total": 2, "records": 0}
            print(json.dumps({"progress": progress}), flush=True)
            time.sleep(0.05)
    """
    with pytest.raises(CancelledError):
        ProcessReader(command=worker(code))(CSV, directory, OPTIONS, cancel)
    assert not list(directory.iterdir())


STUCK = "import sys; sys.stdin.readline()\nwhile True: pass"


def test_an_import_that_is_stuck_ends_at_its_deadline(directory: Path) -> None:
    (directory / "records.parquet").write_bytes(b"half")
    reader = ProcessReader(command=worker(STUCK), seconds=0.5)
    with pytest.raises(ImportLimitError, match=r"longer than 0\.5 s.*Send it in parts"):
        reader(CSV, directory, OPTIONS, ignore)
    assert not list(directory.iterdir())
    assert reader.running == []


def test_too_much_processor_time_is_an_error(directory: Path) -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\n" + STUCK
    with pytest.raises(ImportLimitError, match="Send it in parts"):
        ProcessReader(command=worker(code))(CSV, directory, OPTIONS, ignore)


def test_an_import_that_is_stuck_can_be_cancelled(directory: Path) -> None:
    reader = ProcessReader(command=worker(STUCK))
    stop = threading.Event()
    with ThreadPoolExecutor() as threads:
        done = threads.submit(reader, CSV, directory, OPTIONS, ignore, stop)
        until(lambda: len(reader.running) == 1)
        stop.set()
        with pytest.raises(ImportCancelledError):
            done.result(timeout=120)
    assert reader.running == []


def test_the_worker_limits_itself_and_writes_below_the_data_directory(directory: Path, tmp_path: Path) -> None:
    reader = ProcessReader(seconds=7)
    stop = threading.Event()
    with ThreadPoolExecutor() as threads:
        done = threads.submit(reader, slow(tmp_path), directory, OPTIONS, ignore, stop)
        until(lambda: len(reader.running) == 1 and any(path.name.startswith(".import") for path in directory.iterdir()))
        (process,) = reader.running
        assert resource.prlimit(process, resource.RLIMIT_CPU)[0] == 7
        assert resource.prlimit(process, resource.RLIMIT_DATA)[0] == 1 << 30
        stop.set()
        with pytest.raises(ImportCancelledError):
            done.result(timeout=120)


def test_closing_ends_what_is_under_way(directory: Path, tmp_path: Path) -> None:
    reader = ProcessReader()
    failed: list[BaseException] = []

    def read() -> None:
        try:
            reader(slow(tmp_path), directory, OPTIONS, ignore)
        except ImportStoppedError as error:
            failed.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    until(lambda: bool(reader.running))
    reader.close()
    thread.join(timeout=120)
    assert not thread.is_alive()
    assert "shutting down" in str(failed[0])
    with pytest.raises(ImportStoppedError, match="shutting down"):
        reader(CSV, directory, OPTIONS, ignore)


def test_who_waits_for_a_turn_can_cancel(directory: Path, tmp_path: Path) -> None:
    class CancelledError(Exception):
        pass

    def cancel(_: Progress) -> None:
        raise CancelledError

    reader = ProcessReader(at_once=1)
    other = tmp_path / "other"
    other.mkdir()

    def read() -> None:
        with contextlib.suppress(ImportStoppedError):
            reader(slow(tmp_path), other, OPTIONS, ignore)

    thread = threading.Thread(target=read)
    thread.start()
    until(lambda: bool(reader.running))
    with pytest.raises(CancelledError):
        reader(CSV, directory, OPTIONS, cancel)
    reader.close()
    thread.join(timeout=120)
    assert not thread.is_alive()


def test_the_worker_ends_with_the_server(tmp_path: Path, directory: Path) -> None:
    """A server that is killed takes its imports along: they see the end of their standard input."""
    source = slow(tmp_path)
    code = f"""
        import sys
        from pathlib import Path
        from loadwatch_backend.runs.importers.reader import ProcessReader
        from loadwatch_backend.evidence.records.contract import ImportOptions
        reader = ProcessReader()
        import threading, time
        run = lambda: reader(Path({str(source)!r}), Path({str(directory)!r}), ImportOptions(), lambda _: None)
        threading.Thread(target=run, daemon=True).start()
        while not reader.running:
            time.sleep(0.01)
        print(reader.running[0], flush=True)
        time.sleep(600)
    """
    server = subprocess.Popen(worker(code), stdout=subprocess.PIPE, text=True)
    with server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        server.kill()
    until(lambda: not _alive(child))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
