"""The demo as a whole, without Loadwatch and with it, in short stages."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import urllib3

from examples.demo.stages import STAGES
from examples.demo.watcher import Loadwatch
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
        # MariaDB, the measuring server, and hey.
        while len(started := children_of(demo.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        demo.send_signal(signal.SIGTERM)
        rest = demo.stdout.read()
    assert len(started) >= 3
    assert demo.returncode == 0, rest
    assert "stopped everything" in rest
    assert [pid for pid in started if is_running(pid)] == []
    assert list(tmp_path.iterdir()) == []


# One metric of each collector, and of the load.
WATCHED = (
    "go_sql_in_use_connections{db_name='hits'} == 8",
    "go_sql_wait_count_total > 0",
    "ingest_stored_total > 0",
    "loadtest_requests_total{run=~'bounded-.+',outcome='ok'} > 0",
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


def test_loadwatch_sees_every_part_and_gets_the_annotation(tmp_path: Path) -> None:
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
    command = [*COMMAND, "--stages", "bounded", "--stage-seconds", "600", "--data", str(tmp_path / "kept")]
    output = tmp_path / "output"
    with output.open("wb") as file:
        demo = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT)
    loadwatch = Loadwatch(f"http://{address}")
    missing = list(WATCHED)
    try:
        deadline = time.monotonic() + 300
        while missing and time.monotonic() < deadline and demo.poll() is None:
            if loadwatch.ready():
                missing = [expression for expression in missing if not loadwatch.samples(expression)]
            time.sleep(0.5)
        runs = urllib3.request("GET", f"{loadwatch.url}/api/runs", retries=False, timeout=60).json()
        notes = urllib3.request("GET", f"{loadwatch.url}/api/annotations", retries=False, timeout=60).json()
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.wait(180)
    assert missing == [], output.read_text()
    assert [note["tags"] for note in notes["annotations"]] == [["demo", "bounded"]]
    assert [(run["scenario"], run["state"]) for run in runs["runs"]] == [("measuring-server", "running")]
    assert demo.returncode == 0, output.read_text()
    assert list((tmp_path / "tmp").iterdir()) == []
    assert (tmp_path / "kept" / "data").is_dir()


def test_each_stage_raises_the_alerts_of_its_own_limit(tmp_path: Path) -> None:
    played = [stage for stage in STAGES if stage.name in ("naive", "default", "bounded", "bulk")]
    done = subprocess.run(
        [*COMMAND, "--once", "--stage-seconds", "20", "--stages", ",".join(stage.name for stage in played)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "LOADWATCH_LISTEN": f"127.0.0.1:{free_port()}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    fired = [set(names.split(", ")) for names in re.findall(r"alerts: +(.+)", done.stdout)]
    assert len(fired) == len(played), done.stdout
    # The first of each stage is the sign of its own limit, and of no other's.
    signs = {stage.alerts[0] for stage in played}
    assert [found & signs for found in fired] == [{stage.alerts[0]} for stage in played], done.stdout


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
