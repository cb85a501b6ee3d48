"""The command line that others script against: what `import` prints, and the fields of `runs … --json`.

A field that goes from here is a breaking change: scripts rely on it (docs/guide/command-line.md).
"""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.run_cli import ROOT, VEGETA, Cli
from tests.serving import RealServer

RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z2-7]{4}")
LATENCY = {"min", "mean", "p50", "p90", "p95", "p99", "max"}
FIGURES = {
    "requests",
    "success_ratio",
    "rate",
    "latency_seconds",
    "outcomes",
    "status_codes",
    "bytes_in",
    "bytes_out",
    "wait_seconds",
    "throughput",
}
SHOW = FIGURES | {
    "id",
    "state",
    "verdict",
    "verdict_reasons",
    "name",
    "scenario",
    "scenario_version",
    "tool",
    "target_rate",
    "target_duration_seconds",
    "parameters",
    "commit",
    "branch",
    "dirty",
    "links",
    "tags",
    "author",
    "host",
    "command",
    "started_at",
    "ended_at",
    "started_ms",
    "ended_ms",
    "exit_code",
    "abort_reason",
    "endpoints",
    "errors",
    "steady_window",
    "steady",
    "thresholds",
    "expectations",
    "generator",
    "clock",
    "source",
    "remarks",
    "is_baseline",
    "baseline",
}
THRESHOLD = {"expression", "metric", "operator", "limit", "unit", "actual", "window", "state", "detail"}
STEADY = {"from_seconds", "to_seconds", "from_ms", "to_ms", "source", "reason"}
LISTED = {
    "id",
    "name",
    "scenario",
    "tool",
    "state",
    "verdict",
    "started_ms",
    "ended_ms",
    "requests",
    "rate",
    "success_ratio",
    "p95_seconds",
    "commit",
    "branch",
    "tags",
    "parameters",
}
OUTCOMES = {"ok", "timeout", "reset", "refused", "dns", "http_4xx", "http_5xx", "assertion", "other"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    started = RealServer(tmp_path_factory.mktemp("server"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cli(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(server=server.url, directory=tmp_path_factory.mktemp("cli"))


@pytest.fixture(scope="module")
def imported(cli: Cli) -> tuple[str, str]:
    """Two runs: vegeta's CSV and its gob."""
    ids: list[str] = []
    for name, commit in (("pool-waits.csv.gz", "c0ffee1"), ("pool-waits.gob.gz", "c0ffee2")):
        options = ["--scenario", "pool", "--commit", commit, "--name", name, "--tag", "ci", "--param", "pool=5"]
        done = cli("import", str(VEGETA / name), *options, "--rate", "450", "--threshold", "p95<300ms")
        assert done.returncode == 0, done.stderr
        assert RUN_ID.fullmatch(done.stdout.removesuffix("\n")), "the id alone is on standard output"
        ids.append(done.stdout.strip())
    return ids[0], ids[1]


def test_show_holds_every_documented_field(cli: Cli, imported: tuple[str, str], server: RealServer) -> None:
    run: dict[str, Any] = cli.json("runs", "show", imported[0])
    assert set(run) >= SHOW, f"missing: {SHOW - set(run)}"
    assert set(run["latency_seconds"]) >= LATENCY
    assert set(run["outcomes"]) <= OUTCOMES
    assert (run["id"], run["state"], run["tool"], run["verdict"]) == (imported[0], "imported", "vegeta", "failed")
    assert (run["commit"], run["scenario"], run["tags"], run["parameters"]) == (
        "c0ffee1",
        "pool",
        ["ci"],
        {"pool": "5"},
    )
    assert run["requests"] == 2500 == sum(run["outcomes"].values()) == sum(run["status_codes"].values())
    assert run["success_ratio"] == run["outcomes"]["ok"] / 2500
    assert 0 < run["latency_seconds"]["p50"] <= run["latency_seconds"]["p95"] <= run["latency_seconds"]["max"]
    assert [set(endpoint) >= FIGURES | {"name"} for endpoint in run["endpoints"]] == [True]
    assert [set(item) >= THRESHOLD for item in run["thresholds"]] == [True]
    assert set(run["steady_window"]) >= STEADY
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", run["started_at"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", run["ended_at"])
    with urllib.request.urlopen(f"{server.url}/api/runs/{imported[0]}", timeout=30) as answer:
        assert json.load(answer) == run, "the same document is at /api/runs/{id}"


def test_the_guide_documents_every_field() -> None:
    guide = (ROOT / "docs" / "guide" / "command-line.md").read_text()
    undocumented = [name for name in sorted(SHOW | LATENCY | THRESHOLD | STEADY | LISTED) if f"`{name}`" not in guide]
    assert not undocumented


def test_list(cli: Cli, imported: tuple[str, str]) -> None:
    listed = cli.json("runs", "list", "--scenario", "pool", "--sort", "started", "--ascending")
    assert listed["total"] >= 2
    assert all(set(run) >= LISTED for run in listed["runs"])
    assert {run["id"] for run in listed["runs"]} >= set(imported)
    assert [run["id"] for run in cli.json("runs", "list", "--commit", "c0ffee2")["runs"]] == [imported[1]]
    table = cli("runs", "list").stdout
    assert table.startswith("ID ")
    assert imported[0] in table
    assert cli("runs", "list", "--search", "nothing has this").stdout == "no runs\n"


def test_tables_fit_the_terminal(cli: Cli, imported: tuple[str, str]) -> None:
    narrow = Cli(server=cli.server, directory=cli.directory, environment={"COLUMNS": "110"})
    assert max(map(len, narrow("runs", "list").stdout.splitlines())) <= 110
    assert max(map(len, narrow("runs", "compare", *imported).stdout.splitlines())) <= 110
    assert imported[0] in narrow("runs", "show", imported[0]).stdout


def test_compare(cli: Cli, imported: tuple[str, str]) -> None:
    document = cli.json("runs", "compare", *imported)
    assert set(document) >= {"runs", "groups", "rows", "endpoints", "configuration", "remarks", "series"}
    assert [run["id"] for run in document["runs"]] == list(imported)
    assert all(set(row) >= {"metric", "cells"} for row in document["rows"])
    shown = cli("runs", "compare", *imported)
    assert shown.returncode == 0
    assert "p95" in shown.stdout.lower()
    added = cli("runs", "compare", *imported, "--percentile", "p70", "--percentile", "p99.9").stdout
    assert "Response p70" in added
    assert "Response p99.9" in added
    assert "p70" not in shown.stdout
    assert cli("runs", "compare", imported[0]).returncode == 2


def test_report_in_three_forms(cli: Cli, imported: tuple[str, str]) -> None:
    for name, begin in (("report.html", "<!doctype html"), ("report.md", "#"), ("report.json", "{")):
        done = cli("runs", "report", imported[0], "-o", name)
        assert done.returncode == 0, done.stderr
        assert (cli.directory / name).read_text().lower().startswith(begin)
    assert json.loads((cli.directory / "report.json").read_text())
    printed = cli("runs", "report", imported[0], "-o", "-", "--json")
    assert json.loads(printed.stdout)
    assert not list(cli.directory.glob("*.part"))


def test_a_result_is_added_to_a_run_that_is_named(cli: Cli) -> None:
    assert cli("run", "--name", "without a result", "--", "true").returncode == 0
    run = cli.list()[0]["id"]
    done = cli("import", str(VEGETA / "pool-waits.csv.gz"), "--run", run)
    assert done.stdout == f"{run}\n"
    shown = cli.json("runs", "show", run)
    assert (shown["requests"], shown["name"]) == (2500, "without a result")
    assert cli("import", str(VEGETA / "pool-waits.csv.gz"), "--run", "20200101-000000-aaaa").returncode == 1


def test_several_files_make_a_run_each_and_a_wrong_one_is_named(cli: Cli, tmp_path: Path) -> None:
    wrong = tmp_path / "notes.txt"
    wrong.write_text("these are my notes\n" * 100)
    good = str(VEGETA / "pool-waits.csv.gz")
    done = cli("import", good, str(wrong), good)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    assert len(set(done.stdout.splitlines())) == 2
    assert str(wrong) in done.stderr or "notes.txt" in done.stderr
    assert cli("import", str(tmp_path / "gone.csv")).returncode == 2
    assert cli("import", good, "--started-at", "yesterday").returncode == 2
    assert cli("import", good, good, "--run", "x").returncode == 2


def test_a_file_without_a_wall_clock_gets_the_time_that_is_said(cli: Cli) -> None:
    hey = ROOT / "backend" / "tests" / "importers" / "fixtures" / "hey" / "mixed.csv"
    run = cli.json("import", str(hey), "--started-at", "2026-11-21T10:00:00+09:00")
    assert run["started_at"].startswith("2026-11-21T01:00:00")
    assert run["tool"] == "hey"


def test_delete_says_what_goes_and_asks(cli: Cli) -> None:
    run = cli("import", str(VEGETA / "pool-waits.csv.gz")).stdout.strip()
    kept = cli("runs", "delete", run, stdin=b"n\n")
    assert kept.returncode == 1
    assert "2500 records" in kept.stderr
    assert cli("runs", "show", run).returncode == 0
    assert cli("runs", "delete", run, "--yes").returncode == 0
    gone = cli("runs", "show", run)
    assert gone.returncode == 1
    assert run in gone.stderr


def test_a_run_moves_as_an_archive(cli: Cli, imported: tuple[str, str], tmp_path: Path) -> None:
    archive = tmp_path / "run.zip"
    done = cli("runs", "export", imported[0], "-o", str(archive))
    assert done.returncode == 0, done.stderr
    other = RealServer(tmp_path)
    other.start()
    try:
        there = Cli(server=other.url, directory=tmp_path)
        assert there("runs", "import-archive", str(archive)).stdout == f"{imported[0]}\n"
        assert there.json("runs", "show", imported[0])["requests"] == 2500
    finally:
        other.stop()


def test_json_of_run_is_the_servers_document(cli: Cli) -> None:
    done = cli("run", "--quiet", "--json", "--", "true")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert set(document) >= SHOW
    assert document == cli.json("runs", "show", document["id"])


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    nowhere = Cli(server="http://127.0.0.1:9", directory=tmp_path)
    for arguments in (["runs", "list"], ["runs", "show", "x"], ["import", str(VEGETA / "pool-waits.csv.gz")]):
        done = nowhere(*arguments)
        assert done.returncode == 1
        assert "127.0.0.1:9 cannot be reached" in done.stderr
