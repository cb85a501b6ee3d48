"""Runs that the server learns of later: offline, server away, server started anew, `loadwatch run` killed."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run_cli import Cli, is_running, wait_until
from tests.serving import RealServer, free_port


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    started = RealServer(tmp_path / "server")
    started.directory.mkdir()
    yield started
    if started.process is not None:
        started.stop()


@pytest.fixture
def cli(server: RealServer, tmp_path: Path) -> Cli:
    folder = tmp_path / "cli"
    folder.mkdir()
    found = Cli(server=server.url, directory=folder)
    found.add_vegeta("pool-waits.csv.gz", 2)
    return found


VEGETA = ("vegeta", "attack", "-rate=450", "-duration=2s")


def test_offline_runs_are_delivered_once_in_order(cli: Cli, server: RealServer) -> None:
    first = cli("run", "--offline", "--name", "first", "--threshold", "p95<1us", "--", *VEGETA)
    assert first.returncode == 0, first.stderr
    assert "loadwatch sync" in first.stderr
    second = cli("run", "--offline", "--name", "second", "--", "sh", "-c", "exit 4")
    assert second.returncode == 4
    ids = cli.waiting
    assert len(ids) == 2

    away = cli("sync")
    assert away.returncode == 1
    assert away.stdout.count("waiting: ") == 2
    assert cli.waiting == ids

    server.start()
    done = cli("sync")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ids
    assert done.stdout.count(": delivered: ") == 2
    again = cli("sync")
    assert again.returncode == 0
    assert "nothing waits" in again.stdout
    assert not any(cli.state.iterdir())

    runs = cli.list()
    assert [run["id"] for run in runs] == ids[::-1]
    assert [run["name"] for run in runs] == ["second", "first"]
    shown = cli.json("runs", "show", ids[0])
    assert (shown["state"], shown["verdict"], shown["exit_code"]) == ("finished", "failed", 0)
    assert shown["requests"] > 100
    assert shown["ended_ms"] - shown["started_ms"] >= 2000
    assert cli.json("runs", "show", ids[1])["exit_code"] == 4


def test_a_server_that_is_away_costs_nothing_but_the_verdict(cli: Cli, server: RealServer) -> None:
    done = cli("run", "--wait", "0.5", "--threshold", "p95<1us", "--", *VEGETA)
    assert done.returncode == 0, done.stderr
    assert "kept on disk" in done.stderr
    assert cli("run", "--wait", "0", "--strict", "--threshold", "p95<1us", "--", "true").returncode == 4
    server.start()
    assert cli("sync").returncode == 0
    assert [run["verdict"] for run in cli.list()] == ["invalid", "failed"]


def test_a_result_of_the_user_is_copied_before_the_next_run_writes_over_it(cli: Cli, server: RealServer) -> None:
    for _ in range(2):
        assert cli("run", "--offline", "--", *VEGETA, "-output=same.csv").returncode == 0
    (cli.directory / "same.csv").unlink()
    server.start()
    assert cli("sync").returncode == 0
    assert all(run["requests"] > 100 for run in cli.list())


def test_a_run_spans_a_restart_of_the_server(cli: Cli, server: RealServer) -> None:
    server.start()
    cli.add_vegeta("pool-waits.csv.gz", 6)
    process = cli.start("run", "--wait", "60", "--", *VEGETA)
    wait_until(lambda: bool(cli.waiting), "the run")
    run = cli.waiting[0]
    wait_until(lambda: bool(list(cli.state.glob("*/result.*"))), "the first records")
    server.kill()
    time.sleep(1)
    assert process.poll() is None
    server.start()
    assert process.wait(300) == 0, cli.errors()
    shown = cli.json("runs", "show", run)
    assert (shown["state"], shown["exit_code"]) == ("finished", 0)
    assert shown["requests"] > 1000
    assert not cli.waiting


def test_a_run_that_begins_without_the_server_is_seen_once_it_is_there(cli: Cli, server: RealServer) -> None:
    process = cli.start("run", "--", "sh", "-c", "while ! test -e enough; do sleep 0.1; done")
    wait_until(lambda: bool(cli.waiting), "the run")
    server.start()
    wait_until(lambda: [run["state"] for run in cli.list()] == ["running"], "the run at the server")
    (cli.directory / "enough").touch()
    assert process.wait(180) == 0, cli.errors()
    assert cli.list()[0]["state"] == "finished"


def test_a_killed_wrapper_ends_its_command_and_sync_ends_the_run(cli: Cli, server: RealServer) -> None:
    server.start()
    cli.add_vegeta("pool-waits.csv.gz", 60)
    process = cli.start("run", "--", "sh", "-c", f"echo $$ > pid; exec {' '.join(VEGETA)} -output=kept.csv")
    wait_until(lambda: bool(cli.waiting) and (cli.directory / "pid").exists(), "the run")
    run = cli.waiting[0]
    journal = cli.state / run / "run.json"
    wait_until(lambda: json.loads(journal.read_text())["expected"] is not None, "a sign of life with the result")
    busy = cli("sync")
    assert busy.returncode == 0
    assert f"{run}: running" in busy.stdout
    process.send_signal(signal.SIGKILL)
    process.wait(180)
    command = int((cli.directory / "pid").read_text())
    wait_until(lambda: not is_running(command), "the end of the command")
    assert cli.list()[0]["state"] == "running"

    done = cli("sync")
    assert done.returncode == 0, done.stdout
    shown = cli.json("runs", "show", run)
    assert shown["state"] == "aborted"
    assert "killed" in shown["abort_reason"]
    assert shown["requests"] > 10
    assert shown["ended_ms"] <= time.time() * 1000
    assert not cli.waiting


def test_a_damaged_journal_stops_nobody_else(cli: Cli, server: RealServer) -> None:
    server.start()
    damaged = cli.state / "20200101-000000-aaaa"
    damaged.mkdir(parents=True)
    (damaged / "run.json").write_text("{")
    assert cli("run", "--offline", "--", "true").returncode == 0
    done = cli("sync")
    assert done.returncode == 1
    assert "20200101-000000-aaaa: damaged" in done.stdout
    assert ": delivered: " in done.stdout
    dropped = cli("sync", "--drop", "20200101-000000-aaaa")
    assert dropped.returncode == 0
    assert not damaged.exists()
    assert cli("sync", "--drop", "20200101-000000-aaaa").returncode == 2


def test_each_run_goes_to_the_server_that_it_was_meant_for(cli: Cli, server: RealServer) -> None:
    assert cli("run", "--offline", "--server", server.url, "--", "true").returncode == 0
    server.start()
    cli.environment = {**cli.environment, "LOADWATCH_SERVER": ""}
    done = cli("sync")
    assert done.returncode == 0, done.stderr
    assert f": delivered: {server.url}/runs/" in done.stdout


def test_a_threshold_that_nobody_could_check_offline_costs_no_figures(cli: Cli, server: RealServer) -> None:
    assert cli("run", "--offline", "--threshold", "p95 is nice", "--", *VEGETA).returncode == 0
    server.start()
    done = cli("sync")
    assert done.returncode == 0, done.stdout
    assert "without its thresholds" in done.stdout
    assert "p95 is nice" in done.stdout
    assert cli.list()[0]["requests"] > 100


def test_a_server_behind_a_token(server: RealServer, tmp_path: Path) -> None:
    cli = Cli(server=server.url, directory=tmp_path)
    tokens = tmp_path / "tokens.json"
    made = cli("token", "create", "--role", "admin", "--name", "ci", "--token-file", str(tokens))
    assert made.returncode == 0, made.stderr
    secret = tmp_path / "token"
    secret.write_text(next(word for word in made.stdout.split() if word.startswith("lw_")) + "\n")
    server.environment = {"LOADWATCH_TOKEN_FILE": str(tokens)}
    server.start()
    refused = cli("run", "--", "touch", "was-run")
    assert refused.returncode == 2
    assert "token" in refused.stderr
    assert not (tmp_path / "was-run").exists()
    taken = cli("run", "--token-file", str(secret), "--", "true")
    assert taken.returncode == 0, taken.stderr
    cli.environment = {"LOADWATCH_TOKEN": secret.read_text().strip()}
    assert [run["state"] for run in cli.list()] == ["finished"]


def test_an_address_that_is_none(tmp_path: Path) -> None:
    cli = Cli(server=f"127.0.0.1:{free_port()}", directory=tmp_path)
    done = cli("runs", "list")
    assert done.returncode == 2
    assert "http" in done.stderr
