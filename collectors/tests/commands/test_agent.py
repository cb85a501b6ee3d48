import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from loadwatch_collectors.commands.iam_policy import is_server_running, make_builtin_config
from loadwatch_collectors.settings_loader import parse_document

from collectors.tests.receiver import Receiver, running
from collectors.tests.stand_in import server_stand_in


def write(folder: Path, text: str) -> str:
    path = folder / "loadwatch.yml"
    path.write_text(text)
    return str(path)


def loadwatch(*arguments: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """The program in a process of its own: commands configure logs for the whole process, and logs are tested too."""
    command = [sys.executable, "-c", "from loadwatch_collectors.commands.cli import main; main()", *arguments]
    env = os.environ | (environment or {})
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)


def test_help_lists_every_command() -> None:
    result = loadwatch("--help")
    assert result.returncode == 0
    for command in ("agent", "check", "server", "token", "up"):
        assert f"\n  {command} " in result.stdout
    assert loadwatch("nothing").returncode == 2


def test_check_tells_what_is_seen_and_what_it_costs(tmp_path: Path) -> None:
    config = write(tmp_path, f"targets:\n  - job: me\n    process: {{pid: {os.getpid()}}}\n    host: {{}}\n")
    result = loadwatch("check", "--config", config)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"me · {socket.gethostname()} · process: ok" in result.stdout
    assert "process_open_fds = " in result.stdout
    assert "of a core each 1 s" in result.stdout
    assert "2 collectors: 0 failed, 0 lack a permission" in result.stdout


def test_check_warns_of_what_others_can_read(tmp_path: Path) -> None:
    text = "server: {url: 'http://192.0.2.1:8000', token_env: TOKEN}\ntargets:\n  - job: a\n    timeout: 100ms\n"
    config = write(tmp_path, f"{text}    mysql: {{host: 192.0.2.1, user: w, deadline: 100ms}}\n")
    result = loadwatch("check", "--config", config, environment={"TOKEN": "t"})
    assert "server: warning: the agent's token goes to http://192.0.2.1:8000" in result.stdout
    assert "  warning: MySQL at 192.0.2.1:3306: with tls: preferred" in result.stdout
    assert "recommended: tls: verify_identity" in result.stdout


def test_check_in_json_and_with_a_failure(tmp_path: Path) -> None:
    config = write(tmp_path, "targets:\n  - job: a\n    process: {name: no-such-program-anywhere}\n    sockets: {}\n")
    result = loadwatch("check", "--config", config, "--json")
    assert result.returncode == 1
    failed, sockets = json.loads(result.stdout)["collectors"]
    assert failed["error"] == "no process is found by name 'no-such-program-anywhere'; is it running?"
    assert sockets["error"] is None
    assert sockets["samples"] > 50
    assert sockets["cpu_share"] > 0
    assert sockets["missing"] == []


def test_a_wrong_configuration_has_its_own_status(tmp_path: Path) -> None:
    config = write(tmp_path, "targets:\n  - job: a\n    procces: {}\n")
    for command in ("check", "agent"):
        result = loadwatch(command, "--config", config)
        assert result.returncode == 2
        assert f"{config}:3: unknown key 'procces' in targets[0]; did you mean 'process'?" in result.stderr
    missing = loadwatch("check", "--config", str(tmp_path / "none.yml"))
    assert missing.returncode == 2
    assert "there is no such file" in missing.stderr


def test_the_built_in_configuration_works(tmp_path: Path) -> None:
    with server_stand_in(tmp_path):
        result = loadwatch("check", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert {"host", "sockets", "process"} == {report["collector"] for report in json.loads(result.stdout)["collectors"]}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("/opt/x/bin/python3\0/opt/x/bin/loadwatch\0server\0--data\0d\0", True),
        ("/usr/bin/python3.11\0/usr/bin/loadwatch\0up\0", False),
        ("loadwatch\0server\0", True),
        ("/usr/bin/python3\0/usr/bin/loadwatch\0agent\0", False),
        ("vim\0loadwatch\0server\0notes", False),
    ],
)
def test_the_server_is_found_by_its_command(tmp_path: Path, command: str, found: bool) -> None:
    (tmp_path / "77").mkdir()
    (tmp_path / "77" / "cmdline").write_text(command)
    assert is_server_running(tmp_path) is found
    assert ("job: loadwatch-server" in make_builtin_config(tmp_path)) is found
    parse_document(make_builtin_config(tmp_path), "built-in")


def test_the_agent_of_up_knows_its_server_by_its_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second server of the host has the same command line."""
    for pid in ("77", "78"):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_text("loadwatch\0server\0")
    monkeypatch.setenv("LOADWATCH_LISTEN", "127.0.0.1:8123")
    assert "process: {port: 8123}" in make_builtin_config(tmp_path)
    monkeypatch.setenv("LOADWATCH_LISTEN", "127.0.0.1:0")
    assert "process: {command: " in make_builtin_config(tmp_path)


def test_the_agent_runs_and_ends_cleanly(tmp_path: Path) -> None:
    config = write(tmp_path, f"interval: 100ms\ntargets:\n  - job: me\n    process: {{pid: {os.getpid()}}}\n")
    with running(Receiver()) as receiver:
        arguments = ["--config", config, "--server", receiver.url, "--spool", str(tmp_path / "spool"), "--log", "json"]
        agent = subprocess.Popen(
            [sys.executable, "-c", "from loadwatch_collectors.commands.cli import main; main()", "agent", *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        receiver.wait_for(lambda: len(receiver.named("agent_clock_skew_seconds")) >= 2)
        agent.send_signal(signal.SIGTERM)
        _, log = agent.communicate(timeout=120)
    assert agent.returncode == 0, log
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["the agent runs", "the agent ends"]
    last = {tuple(sorted(sample.labels.items())): sample for sample in receiver.samples}
    assert all(sample.is_stale for sample in last.values())
    assert {"process_open_fds", "up", "agent_spool_bytes", "agent_spool_dropped_samples_total"} <= {
        sample.name for sample in receiver.samples
    }
    assert receiver.helps["up"]
    assert "process_open_fds" in receiver.helps
