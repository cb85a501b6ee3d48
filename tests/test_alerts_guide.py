"""What docs/guide/alerts.md tells to do, done: from four files to two messages."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fork_server import run_forked
from tests.serving import LOADWATCH, free_port, wait_until_answers

GUIDE = (Path(__file__).resolve().parent.parent / "docs" / "guide" / "alerts.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@contextmanager
def running(
    *command: str | Path, folder: Path, output: str, **environment: str
) -> Generator["subprocess.Popen[bytes]"]:
    with (folder / output).open("wb") as file:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(120)


def write_files(folder: Path, port: int, queue_port: int) -> None:
    """The guide's files, on free ports."""
    receiver, stuck = (text.replace("9000", str(port)).replace("9999", str(queue_port)) for text in blocks("python"))
    (folder / "receiver.py").write_text(receiver, encoding="utf-8")
    (folder / "stuck.py").write_text(stuck, encoding="utf-8")
    (folder / "notifications.yml").write_text(blocks("yaml")[0].replace("9000", str(port)), encoding="utf-8")
    make_secret = next(line for line in blocks("console")[0].splitlines() if "signing-secret" in line)
    subprocess.run(["bash", "-c", make_secret.removeprefix("$ ")], cwd=folder, check=True)


def wait_until_watched(url: str) -> None:
    """Wait until the agent sees sockets: what is stuck for some seconds only must not be over before."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{url}/prometheus/api/v1/query?query=tcp_accept_queue", timeout=60) as answer:
            if json.load(answer)["data"]["result"]:
                return
        time.sleep(0.2)
    raise AssertionError("the agent of `loadwatch up` sends nothing")


def test_the_first_alert_reaches_its_receiver_and_so_does_its_end(tmp_path: Path) -> None:
    queue_port, listen = free_port(), f"127.0.0.1:{free_port()}"
    write_files(tmp_path, free_port(), queue_port)
    settings = {"LOADWATCH_NOTIFICATIONS": "notifications.yml", "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8"}
    assert all(f"{name}={value}" in GUIDE for name, value in settings.items())
    told: list[str] = []
    with (
        running(sys.executable, "receiver.py", folder=tmp_path, output="told"),
        running(
            LOADWATCH,
            "up",
            folder=tmp_path,
            output="up.log",
            LOADWATCH_LISTEN=listen,
            LOADWATCH_DATA="data",
            **settings,
        ) as server,
    ):
        wait_until_answers(f"http://{listen}/-/ready", server)
        wait_until_watched(f"http://{listen}")
        with running(sys.executable, "stuck.py", folder=tmp_path, output="stuck.log"):
            deadline = time.monotonic() + 240
            while len(told) < 2 and time.monotonic() < deadline:
                time.sleep(0.5)
                lines = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
                # A machine that is busy enough has alerts of its own.
                told = [line for line in lines if f"port {queue_port}" in line]
    log = (tmp_path / "up.log").read_text(encoding="utf-8")
    text = rf"\S+ port {queue_port}: 15 connections wait to be accepted"
    states = [re.fullmatch(rf"(msg_\w+) (\w+) {text}", line) for line in told]
    assert [state and state[2] for state in states] == ["firing", "resolved"], log
    assert len({state[1] for state in states if state}) == 2


@pytest.mark.parametrize("block", [block for block in blocks("console") if "check" in block])
def test_commands_print_what_the_guide_says(block: str, tmp_path: Path) -> None:
    write_files(tmp_path, 9000, 9999)
    (tmp_path / "first-rules.yml").write_text(blocks("yaml")[1], encoding="utf-8")
    lines = block.splitlines()
    command = next(line for line in lines if line.startswith("$ loadwatch")).split()[2:]
    done = run_forked(*command, directory=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, lines[-1]), done.stderr
