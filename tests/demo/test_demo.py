"""The demo as a whole, without Loadwatch and with it, in short stages."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import urllib3

from examples.demo.stages import STAGES, Stage
from examples.rig.loadwatch import Loadwatch, running_server
from examples.rig.processes import RigError
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "examples.demo"]


def children_of(pid: int) -> set[int]:
    """The processes that descend from `pid`."""
    found: set[int] = set()
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # It has gone in the meantime.
            for child in path.read_text().split():
                found |= {int(child)} | children_of(int(child))
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # It is gone, or goes while it is read.
        return False


def test_every_stage_is_played_and_what_was_accepted_is_accounted_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--no-loadwatch", "--once", "--stage-seconds", "3", "--stages", "naive,bulk"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"accepted=(\d+) stored=(\d+) failed=(\d+) rejected=(\d+)", done.stdout)
    assert len(counts) == 2
    (naive, bulk) = [[int(n) for n in stage] for stage in counts]
    assert naive[0] == naive[1] + naive[2]
    assert naive[1] > 0
    # 100 clients at once and 60 connections.
    assert naive[2] > 0
    assert bulk[0] == bulk[1] > 0
    # Nothing is left behind.
    assert list(tmp_path.iterdir()) == []


def test_a_signal_stops_all_that_the_demo_started(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--no-loadwatch", "--stages", "bounded"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        assert demo.stdout
        lines = ""
        while "requests/s for" not in lines:
            line = demo.stdout.readline()
            assert line, lines
            lines += line
        deadline = time.monotonic() + 180
        # MariaDB, the measuring server, and the load.
        while len(started := children_of(demo.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        demo.send_signal(signal.SIGTERM)
        rest = demo.stdout.read()
    assert len(started) >= 3
    assert demo.returncode == 0, rest
    assert "stopped everything" in rest
    # One that was just being started when the signal came ends with the demo, by the kernel, which takes its time.
    while left := [pid for pid in started if is_running(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


# One metric of each collector, and of the load.
WATCHED = (
    "go_sql_in_use_connections{db_name='hits'} == 8",
    "go_sql_wait_count_total > 0",
    "ingest_stored_total > 0",
    "loadtest_requests_total{outcome='ok'} > 0",
    "loadtest_request_duration_seconds{quantile='0.95'} > 0.02",
    "loadtest_target_rate == 800",
    "mysql_global_variables_max_connections == 60",
    "mysql_info_schema_processlist_processes_by_user{mysql_user='bi_tool'} == 5",
    "node_memory_MemTotal_bytes",
    "probe_ingest_lag_seconds > 0",
    "process_open_fds{job='measuring-server'}",
    "process_open_fds{job='mysql'}",
    "table_rows{table='hits'} > 0",
    "tcp_connections{state='established',side='local'} > 50",
    "loadwatch_rule_evaluations_total > 0",
)
STAGE_SECONDS = 20
"""The slowest rule of those that are a stage's sign needs 10 s of rates over 15 s."""


def seen_while_it_plays(demo: "subprocess.Popen[bytes]", loadwatch: Loadwatch) -> tuple[list[str], Any]:
    """What was never there of WATCHED, and the notes on the page, before the demo ends or many minutes pass."""
    missing: list[str] = [*WATCHED]
    notes: Any = None
    deadline = time.monotonic() + 1800
    while demo.poll() is None and time.monotonic() < deadline:
        with suppress(urllib3.exceptions.HTTPError, RigError):  # It is not there yet, or no more.
            missing = [expression for expression in missing if not loadwatch.samples(expression)]
            notes = urllib3.request("GET", f"{loadwatch.url}/api/annotations", retries=False, timeout=60).json()
        time.sleep(0.5)
    return missing, notes


@pytest.mark.parametrize(
    "chosen", ["naive,bounded", pytest.param("naive,default,bounded,bulk", marks=pytest.mark.long)]
)
def test_loadwatch_sees_every_part_and_each_stage_raises_the_alerts_of_its_own_limit(
    chosen: str, tmp_path: Path
) -> None:
    played = [stage for stage in STAGES if stage.name in chosen.split(",")]
    address = f"127.0.0.1:{free_port()}"
    (tmp_path / "tmp").mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path / "tmp"),
        "LOADWATCH_LISTEN": address,
        # Somebody's own Loadwatch, which the demo must not touch.
        "LOADWATCH_DATABASE_URL": "mysql+pymysql://nobody@127.0.0.1:1/none",
        "LOADWATCH_TOKEN_FILE": "/nowhere/tokens.json",
    }
    command = [*COMMAND, "--once", "--stages", chosen, "--stage-seconds", str(STAGE_SECONDS)]
    output = tmp_path / "output"
    with output.open("wb") as file:
        demo = subprocess.Popen(
            [*command, "--data", str(tmp_path / "kept")], cwd=ROOT, env=environment, stdout=file, stderr=file
        )
    try:
        missing, notes = seen_while_it_plays(demo, Loadwatch(f"http://{address}"))
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.wait(180)
    said = output.read_text()
    assert demo.returncode == 0, said
    assert missing == [], said
    tags = {tuple(note["tags"]) for note in notes["annotations"]}
    # Each stage starts the application anew with its own limits, and the agent may see that.
    assert tags - {("app", "restart")} == {("demo", stage.name) for stage in played}
    assert list((tmp_path / "tmp").iterdir()) == []
    fired = [set(names.split(", ")) for names in re.findall(r"alerts: +(.+)", said)]
    assert len(fired) == len(played), said
    # The first of each stage is the sign of its own limit, and of no other's.
    signs = {stage.alerts[0] for stage in played}
    assert [found & signs for found in fired] == [{stage.alerts[0]} for stage in played], said
    check_runs(tmp_path / "kept", played, said)


def check_runs(data: Path, played: Sequence[Stage], said: str) -> None:
    """Every stage is a run whose page has exact response times of all requests that the load tool counts."""
    with running_server(data, listen=f"127.0.0.1:{free_port()}") as loadwatch:
        answer = urllib3.request("GET", f"{loadwatch.url}/api/runs", retries=False, timeout=60).json()
        runs = [
            urllib3.request("GET", f"{loadwatch.url}/api/runs/{run['id']}", retries=False, timeout=60).json()
            for run in reversed(answer["runs"])
        ]
    assert [run["name"] for run in runs] == [stage.title for stage in played]
    sent = [sum(int(n) for n in re.findall(r" (\d+)", line)) for line in re.findall(r"load tool: (.+)", said)]
    assert [run["requests"] for run in runs] == sent
    for run in runs:
        latency = run["latency_seconds"]
        assert 0 < latency["min"] <= latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"], run["name"]
        assert [threshold["state"] for threshold in run["thresholds"]].count("unknown") == 0, run["thresholds"]
        assert run["verdict"] in said


def test_a_stage_that_does_not_exist_is_named() -> None:
    done = subprocess.run(
        [*COMMAND, "--stages", "naive,fast"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 2
    assert "'fast' is not one of naive, default, bounded, bulk, channel" in done.stderr


def test_without_go_the_demo_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--no-loadwatch"],
        cwd=ROOT,
        env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 1
    assert "go is missing" in done.stderr
