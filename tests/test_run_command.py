"""`loadwatch run` around real commands, with a real server: what it records, what it leaves alone, how it exits."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.run_cli import Cli, target, wait_until
from tests.serving import LOADWATCH, RealServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with target() as url:
        yield url


@pytest.fixture
def cli(server: RealServer, tmp_path: Path) -> Cli:
    return Cli(server=server.url, directory=tmp_path)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], 128 + 9),
        (["no-such-program-anywhere"], 127),
        (["/etc/hostname"], 126),
    ],
)
def test_the_status_is_that_of_the_command(cli: Cli, command: list[str], status: int) -> None:
    done = cli("run", "--tag", "status", "--", *command)
    assert done.returncode == status, done.stderr
    run = cli.list()[0]
    assert run["state"] == ("aborted" if status > 128 else "finished")
    assert not cli.waiting
    shown = cli.json("runs", "show", run["id"])
    assert shown["exit_code"] == status
    assert shown["command"] == command
    assert shown["abort_reason"] == ("killed by SIGKILL" if status > 128 else "")
    assert shown["generator"] is not None


@pytest.mark.parametrize(
    ("options", "path", "status", "verdict"),
    [
        (["--threshold", "requests>=100 over whole"], "/", 0, "passed"),
        (["--threshold", "error_rate<1% over whole"], "/fail", 3, "failed"),
        (["--threshold", "error_rate<1% over whole", "--no-gate"], "/fail", 0, "failed"),
        (["--threshold", "error_rate<1% over whole", "--strict"], "/fail", 3, "failed"),
        (["--expect", "error_rate<1% over whole"], "/fail", 0, None),
        (["--strict"], "/", 4, None),
    ],
)
def test_the_verdict_gates(
    cli: Cli, address: str, options: list[str], path: str, status: int, verdict: str | None
) -> None:
    done = cli("run", *options, "--", "hey", "-n", "200", "-c", "4", address + path)
    assert done.returncode == status, done.stderr
    run = cli.list()[0]
    assert run["verdict"] == verdict
    assert run["tool"] == "hey"
    assert run["requests"] == 200
    assert not cli.waiting


def test_wrk_keeps_its_own_output_and_is_imported(cli: Cli, address: str) -> None:
    done = cli("run", "--name", "text", "--", "wrk", "-d1", "-c2", "-t1", f"{address}/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Running 1s test @ ")
    assert "Requests/sec:" in done.stdout
    run = cli.list()[0]
    assert (run["tool"], run["name"]) == ("wrk", "text")
    assert f" {run['requests']} requests in " in done.stdout
    assert "/runs/" in done.stderr


def test_what_ran_out_is_said_last(cli: Cli, address: str) -> None:
    done = cli("run", "--json", "--", "hey", "-n", "50", "-c", "2", f"{address}/")
    assert done.returncode == 0, done.stderr
    told = done.stderr[done.stderr.index("/runs/") :].splitlines()[1:]
    why = "These collectors send nothing: host, mysql, dbstats, sockets, process."
    assert told[0].startswith("loadwatch:   Cannot tell what ran out: "), done.stderr
    assert told[0].endswith(why), done.stderr
    assert "loadwatch:     dbstats:" in told
    printed = json.loads(done.stdout[done.stdout.index("\n{\n") :])
    assert (printed["findings"], printed["diagnosis"]["state"]) == ([], "cannot-tell")
    shown = cli("runs", "show", printed["id"])
    assert f"\nwhat ran out:\n{told[0].removeprefix('loadwatch: ')}\n" in shown.stdout
    kept = cli.json("runs", "show", printed["id"])["diagnosis"]
    # Samples that come late have it computed again, with the same result.
    assert {**kept, "said_ms": 0} == {**printed["diagnosis"], "said_ms": 0}


def test_output_and_input_pass_through_untouched(cli: Cli) -> None:
    program = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1]); sys.stderr.write('said\\n')"
    sent = bytes(range(256)) * 1000
    done = subprocess.run(
        [str(LOADWATCH), "run", "--quiet", "--", sys.executable, "-c", program],
        env=cli.environ(),
        cwd=cli.directory,
        input=sent,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == sent[::-1]
    assert done.stderr == b"said\n"


def test_what_was_under_test_is_recorded_and_secrets_are_not(cli: Cli) -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
            cwd=cli.directory,
            env=cli.environ(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch", "faster")
    (cli.directory / "main.go").write_text("package main\n")
    git("add", "main.go")
    git("commit", "--quiet", "--message", "first")
    (cli.directory / "main.go").write_text("package main // changed\n")
    options = ["--scenario", "checkout", "--scenario-version", "2", "--param", "pool=50", "--rate", "100"]
    options += ["--duration", "5m", "--issue", "https://example.org/issues/3", "--link", "https://example.org/d?a=b"]
    command = ["true", "-H", "Authorization: Bearer abcdefgh", "--token=hunter2", "http://me:hunter2@example.org/"]
    done = cli("run", *options, "--author", "Grace", "--", *command)
    assert done.returncode == 0, done.stderr
    shown = cli.json("runs", "show", cli.list()[0]["id"])
    assert shown["commit"] == git("rev-parse", "HEAD")
    assert (shown["branch"], shown["dirty"], shown["author"]) == ("faster", True, "Grace")
    assert (shown["scenario"], shown["scenario_version"], shown["parameters"]) == ("checkout", "2", {"pool": "50"})
    assert (shown["target_rate"], shown["target_duration_seconds"]) == (100, 300)
    assert [link["url"] for link in shown["links"]] == ["https://example.org/issues/3", "https://example.org/d?a=b"]
    assert shown["host"]
    assert "hunter2" not in str(shown)
    assert "abcdefgh" not in str(shown)


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def kept(server: RealServer, run: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Facts and text of what the server keeps with a run, by kind."""
    files = httpx.get(f"{server.url}/api/runs/{run}/evidence", verify=False, timeout=120).json()["files"]
    return {
        one["kind"]: (one["facts"], httpx.get(f"{server.url}/api/evidence/{one['id']}", verify=False, timeout=120).text)
        for one in files
    }


SPEAKS = "echo to stdout; echo Authorization: Bearer hunter2hunter2 >&2; printf '1\\r2\\n'"


def test_the_change_and_the_output_are_kept_with_the_run(cli: Cli, server: RealServer) -> None:
    (cli.directory / "main.go").write_text("package main\n\nvar pool = 10\n")
    (cli.directory / ".env").write_text("PASSWORD=old\n")
    (cli.directory / ".gitignore").write_text("state\n")
    git(cli.directory, "init", "-q", "-b", "main")
    git(cli.directory, "add", "-A")
    git(cli.directory, "commit", "-q", "-m", "one")
    done = cli("run", "--", "true")
    assert done.returncode == 0, done.stderr
    assert kept(server, cli.list()[0]["id"]) == {}
    (cli.directory / "main.go").write_text("package main\n\nvar pool = 30\n")
    (cli.directory / ".env").write_text("PASSWORD=hunter2\n")
    (cli.directory / "new.go").write_text("package main\n")
    done = cli("run", "--", "sh", "-c", SPEAKS)
    assert (done.returncode, done.stdout) == (0, "to stdout\n1\r2\n"), done.stderr
    assert "Authorization: Bearer hunter2hunter2" in done.stderr
    found = kept(server, cli.list()[0]["id"])
    facts, patch = found["patch"]
    assert facts == {"files": 1, "named": 1, "untracked": 1, "masked": 0}
    assert "-var pool = 10\n+var pool = 30\n" in patch
    assert "# not sent, may hold secrets: .env\n" in patch
    assert "# not tracked, not sent: new.go\n" in patch
    facts, text = found["output"]
    assert sorted(text.splitlines()) == ["2", "Authorization: ***", "to stdout"]
    assert "hunter2" not in patch + text
    done = cli("run", "--no-patch", "--no-output", "--", "sh", "-c", SPEAKS)
    assert kept(server, cli.list()[0]["id"]) == {}
    done = cli("run", "--offline", "--", "sh", "-c", SPEAKS)
    assert done.returncode == 0
    assert cli("sync").returncode == 0
    assert sorted(kept(server, cli.list()[0]["id"])) == ["output", "patch"]
    assert not cli.waiting


def test_a_note_from_a_script_that_deploys(cli: Cli, server: RealServer) -> None:
    before_ms = time.time() * 1_000
    done = cli("annotate", "deploy 3f2c1", "--tag", "deploy", "--author", "ci", "--commit", "3f2c1", "--issue", "#27")
    assert done.returncode == 0, done.stderr
    note = httpx.get(f"{server.url}/api/annotations/{done.stdout.strip()}", verify=False, timeout=120).json()
    assert (note["text"], note["tags"], note["author"]) == ("deploy 3f2c1", ["deploy"], "ci")
    assert (note["commit"], note["issue"]) == ("3f2c1", "#27")
    assert before_ms - 1 <= note["start_ms"] <= time.time() * 1_000
    assert note["end_ms"] is None
    assert cli("run", "--", "true").returncode == 0
    run = cli.list()[0]
    note = cli.json("annotate", "warm", "--run", run["id"], "--at", "30s", "--end", "1m")
    assert (note["start_ms"], note["end_ms"]) == (run["started_ms"] + 30_000, run["started_ms"] + 60_000)
    note = cli.json("annotate", "here", "--run", run["id"])
    assert note["start_ms"] == run["started_ms"]
    assert cli.json("annotate", "then", "--at", "2026-11-23T10:00:00Z")["start_ms"] == 1_795_428_000_000
    for status, arguments in (
        (2, ["x", "--at", "yesterday"]),
        (2, ["x", "--at", "30s"]),
        (1, ["x", "--run", "no-such-run"]),
        (1, ["x", "--at", "2026-11-23T10:00:00Z", "--end", "2026-11-23T09:00:00Z"]),
    ):
        refused = cli("annotate", *arguments)
        assert (refused.returncode, refused.stdout) == (status, ""), refused.stderr
        assert refused.stderr.startswith("loadwatch annotate: ")


def test_a_run_that_the_server_refuses_does_not_begin(cli: Cli) -> None:
    done = cli("run", "--threshold", "p95 is nice", "--", "touch", "was-run")
    assert done.returncode == 2
    assert "p95 is nice" in done.stderr
    assert not (cli.directory / "was-run").exists()
    assert not cli.waiting
    wrong = cli("run", "--param", "novalue", "--", "touch", "was-run")
    assert wrong.returncode == 2
    assert "KEY=VALUE" in wrong.stderr
    assert not (cli.directory / "was-run").exists()


def test_two_runs_at_once(cli: Cli, address: str) -> None:
    both = [
        cli.start("run", "--name", name, "--", "hey", "-z", "2s", "-q", "20", "-c", "2", f"{address}/")
        for name in ("one", "two")
    ]
    assert [process.wait(180) for process in both] == [0, 0], cli.errors()
    found = {run["name"]: run for run in cli.list() if run["name"] in ("one", "two")}
    assert set(found) == {"one", "two"}
    assert all(run["requests"] and run["target_rate"] == 40 for run in found.values())
    assert not cli.waiting


def test_an_interrupt_is_passed_on_and_the_run_ends_as_aborted(cli: Cli) -> None:
    script = "trap 'echo bye > said; exit 0' INT; touch ready; while :; do sleep 0.1; done"
    process = cli.start("run", "--", "sh", "-c", script)
    wait_until((cli.directory / "ready").exists, "the command")
    process.send_signal(signal.SIGINT)
    assert process.wait(180) == 128 + signal.SIGINT
    assert (cli.directory / "said").read_text() == "bye\n"
    run = cli.json("runs", "show", cli.list()[0]["id"])
    assert (run["state"], run["abort_reason"]) == ("aborted", "stopped by SIGINT")


def test_a_second_interrupt_kills(cli: Cli) -> None:
    process = cli.start("run", "--", "sh", "-c", "trap '' QUIT INT; touch ready; while :; do sleep 0.1; done")
    wait_until((cli.directory / "ready").exists, "the command")
    for name in ("SIGQUIT", "SIGINT"):
        process.send_signal(signal.Signals[name])
        wait_until(lambda name=name: f"{name} is passed on" in cli.errors() or process.poll() is not None, name)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(180) == 128 + signal.SIGKILL
    assert cli.list()[0]["state"] == "aborted"


def test_on_a_terminal_the_command_has_one_and_the_status_is_on_its_last_line(cli: Cli) -> None:
    program = (
        "import os,sys,time; print([os.isatty(n) for n in range(3)], os.get_terminal_size(1).lines, flush=True);"
        "print('got', sys.stdin.readline().strip(), flush=True); time.sleep(3); sys.exit(5)"
    )
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.chdir(cli.directory)
        environment = {**cli.environ(), "TERM": "xterm"}
        os.execve(LOADWATCH, [str(LOADWATCH), "run", "--", sys.executable, "-c", program], environment)
    shown = b""
    typed = False
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        if not typed and b"] 29" in shown:
            typed = True
            os.write(terminal, b"typed\n")
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    text = shown.decode()
    assert os.waitstatus_to_exitcode(status) == 5, text
    run = cli.list()[0]["id"]
    assert "[True, True, True] 29" in text
    assert "got typed" in text
    assert "\x1b[1;29r" in text
    assert f"\x1b[30;1H\x1b[2K\x1b[7m{run} | 0:0" in text
    assert text.rindex("\x1b[r") < text.index(f"loadwatch: {run}: finished")
