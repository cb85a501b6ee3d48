"""`loadwatch import --slow-log`: a log of a real MariaDB, the digest that is kept, the table of statements."""

import gzip
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from collectors.tests.mariadb import running_mariadb
from tests.run_cli import Cli
from tests.serving import RealServer

START_MS = 1_795_395_600_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cli(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(server=server.url, directory=tmp_path_factory.mktemp("cli"))


def run_of(server: RealServer, from_ms: int, to_ms: int) -> str:
    with httpx.Client(base_url=server.url, timeout=60, verify=False) as client:
        created = client.post("/api/runs", json={"name": "a run", "started_ms": from_ms}).json()["id"]
        client.post(f"/api/runs/{created}/finish", json={"ended_ms": to_ms}).raise_for_status()
    return created


def statements(server: RealServer, run: str, **params: str) -> Any:
    return (
        httpx.get(f"{server.url}/api/runs/{run}/statements", params=params, timeout=60, verify=False)
        .raise_for_status()
        .json()
    )


def entry(second: float, text: str, took: float = 0.01) -> str:
    return (
        "# User@Host: app[app] @ localhost []\n# Thread_id: 3  Schema: shop  QC_hit: No\n"
        f"# Query_time: {took}  Lock_time: 0.002  Rows_sent: 1  Rows_examined: 500\n"
        f"SET timestamp={START_MS // 1_000 + second:.0f};\n{text};\n"
    )


LOG = "".join(
    [
        *(entry(second, f"SELECT * FROM users WHERE id = {second} AND token = 's3cret'") for second in range(60)),
        *(entry(second, "SELECT 1", 9) for second in (-30, -1, 61, 900)),
    ]
)


def test_that_a_real_log_tells_what_the_database_was_asked_during_the_run(
    cli: Cli, server: RealServer, tmp_path: Path
) -> None:
    log = tmp_path / "slow.log"
    options = (f"--slow-query-log-file={log}", "--slow-query-log=ON", "--long-query-time=0")
    with running_mariadb(Path(tempfile.mkdtemp(prefix="lw-")), *options) as mariadb, mariadb.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("CREATE TABLE shop.users (id INT PRIMARY KEY, name TEXT)")
        cursor.execute("INSERT INTO shop.users VALUES (1, 'hidden'), (2, 'hidden')")
        cursor.execute("USE shop")
        # The log has whole seconds: what made the tables is in none of the run's.
        before = int(time.time())
        while int(time.time()) == before:
            time.sleep(0.05)
        from_ms = int(time.time()) * 1_000
        for number in range(40):
            cursor.execute(f"SELECT name FROM users WHERE name = 'hidden {number}'")
        to_ms = int(time.time() * 1_000) + 1
    run = run_of(server, from_ms, to_ms)
    done = cli("import", "--slow-log", "--run", run, str(log))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{server.url}/runs/{run}#why\n"
    found = statements(server, run)
    assert (found["source"], found["coverage"]) == ("slow_log", None)
    asked = {one["fingerprint"]: one for one in found["statements"]}
    (selected,) = [one for text, one in asked.items() if text.startswith("select name from users")]
    assert (selected["calls"], selected["rows_examined"], selected["database"]) == (40, 80, "shop")
    assert selected["lock_seconds"] >= 0
    assert not any("create table" in text for text in asked)
    assert "slow.log" in found["remarks"][-1]


def test_that_only_executions_of_the_run_count_and_the_steady_window_apart(
    cli: Cli, server: RealServer, tmp_path: Path
) -> None:
    run = run_of(server, START_MS, START_MS + 60_000)
    window = {"from_seconds": 30, "to_seconds": 59.5}
    httpx.patch(
        f"{server.url}/api/runs/{run}", json={"steady_window": window}, verify=False, timeout=120
    ).raise_for_status()
    log = tmp_path / "slow.log.gz"
    log.write_bytes(gzip.compress(LOG.encode()))
    done = cli("import", "--slow-log", "--run", run, str(log))
    assert done.stderr == "60 statements of the run, 4 outside it\n"
    steady, whole = statements(server, run), statements(server, run, window="whole")
    assert (steady["window"], whole["window"]) == ("steady", "whole")
    assert ([one["calls"] for one in steady["statements"]], [one["calls"] for one in whole["statements"]]) == (
        [30],
        [60],
    )
    assert steady["statements"][0]["calls_per_second"] == pytest.approx(30 / 29.5)
    assert "4 of its executions" in steady["remarks"][-1]
    [kept] = httpx.get(f"{server.url}/api/runs/{run}/evidence", verify=False, timeout=120).json()["files"]
    content = httpx.get(f"{server.url}/api/evidence/{kept['id']}", verify=False, timeout=120).text
    assert "s3cret" not in content, "values of statements do not leave the machine"
    httpx.patch(
        f"{server.url}/api/runs/{run}", json={"steady_window": {**window, "to_seconds": 50}}, verify=False, timeout=120
    )
    moved = statements(server, run)
    assert moved["window"] == "whole", "of the window as it is now the digest knows nothing"
    assert any("Import it again" in remark for remark in moved["remarks"])


def test_what_is_refused_says_why(cli: Cli, server: RealServer, tmp_path: Path) -> None:
    run = run_of(server, START_MS, START_MS + 60_000)
    other, notes = tmp_path / "other.log", tmp_path / "notes.txt"
    other.write_text(entry(9_000, "SELECT 1"))
    notes.write_text("these are my notes\n" * 20)
    done = cli("import", "--slow-log", "--run", run, str(other))
    assert done.returncode == 1
    assert "no line lies within the run" in done.stderr
    assert "notes.txt: no slow log" in cli("import", "--slow-log", "--run", run, str(notes)).stderr
    assert cli("import", "--slow-log", str(other)).returncode == 2
    both = cli("import", "--slow-log", "--access-log", "--run", run, str(other))
    assert (both.returncode, "stands alone" in both.stderr) == (2, True)
    under_way = httpx.post(f"{server.url}/api/runs", json={"name": "now"}, verify=False, timeout=120).json()["id"]
    assert "under way" in cli("import", "--slow-log", "--run", under_way, str(other)).stderr
    assert httpx.get(f"{server.url}/api/runs/{run}/evidence", verify=False, timeout=120).json()["files"] == []
