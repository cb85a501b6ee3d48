import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.rig.processes import ManagedProcess, RigError, port_is_free, wait_until
from tests.ports import free_port

SLEEP = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)",
]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # It is gone, or goes while it is read.
        return False
    return state != "Z"


def says_ready(process: ManagedProcess) -> bool:
    return "ready" in process.log.read_text()


def test_a_process_ends_with_its_block(tmp_path: Path) -> None:
    with ManagedProcess("sleeper", SLEEP, log=tmp_path / "log") as process:
        wait_until("ready", lambda: says_ready(process), seconds=120, process=process)
        assert is_running(process.pid)
    assert not is_running(process.pid)
    assert process.status() == -15


def test_a_process_that_will_not_end_is_killed(tmp_path: Path) -> None:
    with ManagedProcess("stubborn", STUBBORN, log=tmp_path / "log", stop_seconds=0.2) as process:
        wait_until("ready", lambda: says_ready(process), seconds=120, process=process)
    assert process.status() == -9


def test_waiting_ends_when_the_process_does(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('no room for me'); sys.exit(3)"]
    with ManagedProcess("failing", command, log=tmp_path / "log") as process:
        with pytest.raises(RigError, match=r"ended with status 3[\s\S]*no room for me"):
            wait_until("failing", lambda: False, seconds=120, process=process)


def test_a_command_that_is_missing_is_named(tmp_path: Path) -> None:
    with ManagedProcess("nothing", [tmp_path / "nothing"], log=tmp_path / "log") as process:
        with pytest.raises(RigError, match="nothing"):
            wait_until("nothing", lambda: False, seconds=120, process=process)


def test_children_end_when_the_demo_is_killed(tmp_path: Path) -> None:
    """Nothing of ours runs after SIGKILL; the kernel ends the children."""
    program = f"""
import pathlib, time
from examples.rig.processes import ManagedProcess
process = ManagedProcess("child", {SLEEP!r}, log=pathlib.Path({str(tmp_path / "log")!r}))
print(process.pid, flush=True)
time.sleep(600)
"""
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        wait_until("ready", lambda: "ready" in (tmp_path / "log").read_text(), seconds=120)
        parent.kill()
    wait_until("the child to end", lambda: not is_running(child), seconds=120)
    assert not is_running(child)


def test_a_taken_port_is_not_free() -> None:
    port = free_port()
    assert port_is_free("127.0.0.1", port)
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", str(port), "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            deadline = time.monotonic() + 120
            while port_is_free("127.0.0.1", port) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not port_is_free("127.0.0.1", port)
        finally:
            server.kill()
