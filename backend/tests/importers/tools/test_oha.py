"""oha's JSON, CSV and SQLite database."""

import sqlite3
from pathlib import Path

import pytest
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnknownFormatError, UnreadableFileError
from loadwatch_formats.outcomes import Outcome

from backend.tests.importers.conftest import FIXTURES, Importing

JSON, CSV, DATABASE = (FIXTURES / f"oha/mixed.{suffix}" for suffix in ("json", "csv", "db"))


def test_json_agrees_with_oha(imported: Importing) -> None:
    run = imported(JSON)
    figures = run.result.figures
    assert dict(figures.outcomes) == {
        Outcome.OK: 158,
        Outcome.HTTP_4XX: 11,
        Outcome.HTTP_5XX: 21,
        Outcome.RESET: 10,
    }
    assert figures.rate == pytest.approx(351.4844619369357)
    assert figures.latency.p95 == 0.165265509
    assert run.remark("oha-latency-of-answers").figures["tool_success_ratio"] == 0.95


def test_database_of_the_same_run_has_its_latencies_exactly(imported: Importing) -> None:
    run, summary = imported(DATABASE), imported(JSON)
    assert run.result.figures.requests == summary.result.figures.requests - 10, "answers only"
    assert run.result.figures.latency.max == summary.result.figures.latency.max
    assert run.result.figures.latency.mean == pytest.approx(summary.result.figures.latency.mean)
    assert run.result.figures.bytes_in == summary.result.figures.bytes_in
    assert run.result.start_ms == 1795273153000
    assert [endpoint.name for endpoint in run.result.endpoints] == ["/mixed"]
    assert run.remark("oha-no-failures").kind is RemarkKind.MISSING


def test_database_of_several_runs_reads_the_newest(imported: Importing, tmp_path: Path) -> None:
    path = tmp_path / "two.db"
    path.write_bytes(DATABASE.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO oha VALUES ('/later', 0.5, NULL, 0.6, 0.1, 200, 3, 1795279999)")
    database.close()
    run = imported(path)
    assert run.result.figures.requests == 1
    assert run.remark("oha-other-runs").figures == {"runs": 2, "other_requests": 190}


def test_a_view_in_place_of_the_table_is_refused(imported: Importing, tmp_path: Path) -> None:
    path = tmp_path / "view.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE other (note TEXT DEFAULT 'CREATE TABLE oha')")
        database.execute("CREATE VIEW oha AS SELECT 1 AS run")
    database.close()
    with pytest.raises(UnreadableFileError, match="no table `oha`"):
        imported(path)


def test_damaged_database(imported: Importing) -> None:
    data = DATABASE.read_bytes()
    with pytest.raises(UnreadableFileError, match="damaged"):
        imported(data[:4096])


def test_another_database_is_not_recognised(imported: Importing, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE users (name TEXT)")
    database.close()
    with pytest.raises(UnknownFormatError, match="SQLite"):
        imported(path)


def test_csv_rows_are_requests(imported: Importing) -> None:
    run = imported(CSV)
    assert dict(run.result.figures.outcomes) == {Outcome.OK: 158, Outcome.HTTP_4XX: 10, Outcome.HTTP_5XX: 21}
    assert run.result.figures.bytes_in == sum(int(line.split(",")[5]) for line in CSV.read_text().splitlines()[1:])
    assert run.result.start_ms is None


def test_cut_off_csv(imported: Importing) -> None:
    run = imported(CSV.read_bytes()[:-10])
    assert run.result.figures.requests == 188
    assert run.remark("damaged").place == "line 190"


def test_what_oha_cut_off_at_its_deadline_is_no_failure(imported: Importing) -> None:
    run = imported(FIXTURES / "oha/deadline.json")
    assert dict(run.result.figures.outcomes) == {Outcome.OK: 30}
    remark = run.remark("oha-deadline")
    assert remark.kind is RemarkKind.DISTORTION
    assert remark.figures["cut_off"] == 4
    assert remark.figures["tool_rate"] > remark.figures["ours_rate"]


@pytest.mark.parametrize(("name", "outcome"), [("refused", Outcome.REFUSED), ("timeouts", Outcome.TIMEOUT)])
def test_failures_only(imported: Importing, name: str, outcome: Outcome) -> None:
    run = imported(FIXTURES / f"oha/{name}.json", started_ms=1000)
    assert dict(run.result.figures.outcomes) == {outcome: 8}
    assert run.result.figures.latency.max is None
    assert run.result.start_ms == 1000


def test_cut_off_json_is_refused(imported: Importing) -> None:
    with pytest.raises(UnreadableFileError, match="cut off"):
        imported(JSON.read_bytes()[:900])
