"""Against a real MariaDB with performance_schema: scripted statements are counted exactly."""

import atexit
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.mysql_statements import collector as collector_module
from loadwatch_collectors.sources.mysql_statements import slow_log
from loadwatch_collectors.sources.mysql_statements.collector import (
    MYSQL_STATEMENTS,
    MySQLStatementsCollector,
    MySQLStatementsSettings,
)
from loadwatch_formats.metrics.mysql_statements import CALLS, COVERAGE, FIELDS, OTHER, SECONDS, UNSEEN

from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.measuring_server import SOURCE

ACCOUNTS = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.goods (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(191), stock INT)",
    "INSERT INTO shop.goods (name, stock) VALUES ('a', 1), ('b', 2), ('c', 3)",
    "CREATE USER watcher@'127.0.0.1'",
    "GRANT SELECT ON performance_schema.* TO watcher@'127.0.0.1'",
    "CREATE USER blind@'127.0.0.1'",
    "CREATE USER application@'127.0.0.1'",
    "GRANT ALL ON shop.* TO application@'127.0.0.1'",
)
WITH_TEXTS = ("--performance-schema=ON", "--performance-schema-consumer-events-statements-current=ON")


@pytest.fixture(scope="module")
def counting() -> Iterator[MariaDB]:
    """A server that counts statements, prepared ones too."""
    with server(*WITH_TEXTS) as made:
        yield made


@contextmanager
def server(*options: str) -> Generator[MariaDB]:
    with running_mariadb(Path(tempfile.mkdtemp(prefix="lw-")), *options) as made:
        made.run(*ACCOUNTS)
        yield made


@contextmanager
def reading(mariadb: MariaDB, user: str = "watcher", **options: Any) -> Generator[MySQLStatementsCollector]:
    settings = MySQLStatementsSettings(port=mariadb.port, user=user, tls="off", every=0.01, **options)
    made = MySQLStatementsCollector(settings)
    try:
        yield made
    finally:
        made.close()


def collect(collector: MySQLStatementsCollector) -> list[Sample]:
    """One reading that is not the kept one."""
    while True:
        samples = list(collector.collect())
        if any(sample.timestamp_ms is None for sample in samples):
            return samples
        time.sleep(0.05)


def by_text(samples: list[Sample], metric: str = CALLS) -> dict[str, float]:
    """Values by the statement's text; the newest of each series."""
    found: dict[str, float] = {}
    for sample in samples:
        if sample.name == metric and sample.timestamp_ms in (None, KEPT):
            text = dict(sample.labels)["digest_text"]
            found[text] = found.get(text, 0.0) + sample.value
    return found


def of(samples: list[Sample], part: str, metric: str = CALLS) -> float:
    return sum(value for text, value in by_text(samples, metric).items() if part in text)


def value(samples: list[Sample], metric: str) -> float:
    return next(sample.value for sample in samples if sample.name == metric and not sample.labels)


def send(mariadb: MariaDB, *statements: str) -> None:
    with mariadb.connect(database="shop") as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@cache
def statement_load() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="lw-"))
    atexit.register(shutil.rmtree, folder)
    program = folder / "statement-load"
    # The flags of the Makefile: of what it has built there is a cache.
    command = ["go", "build", "-buildvcs=false", "-trimpath", "-o", str(program), "./statement-load"]
    subprocess.run(command, cwd=SOURCE, check=True, timeout=600)
    return program


def go_load(mariadb: MariaDB, query: str, calls: int, *flags: str) -> "subprocess.Popen[bytes]":
    dsn = f"application@tcp(127.0.0.1:{mariadb.port})/shop"
    return subprocess.Popen([str(statement_load()), f"-dsn={dsn}", f"-query={query}", f"-calls={calls}", *flags])


def test_that_statements_sent_as_text_are_counted_exactly(counting: MariaDB) -> None:
    counting.run("TRUNCATE performance_schema.events_statements_summary_by_digest")
    send(counting, "SELECT name FROM goods WHERE id = 1")
    with reading(counting) as collector:
        first = by_text(collect(collector))
        assert not any("name" in text for text in first), "what was before counting began is not counted"
        send(counting, *(f"SELECT name FROM goods WHERE id = {number}" for number in range(101)))
        send(counting, *(["UPDATE goods SET stock = stock + 1"] * 7), *(["SELECT id, name FROM goods"] * 5))
        samples = collect(collector)
        send(counting, *(f"SELECT name FROM goods WHERE id = {number}" for number in range(9)))
        later = collect(collector)
    assert of(samples, "SELECT NAME FROM `goods` WHERE ID = ?") == 101
    assert of(samples, "UPDATE `goods`") == 7
    assert of(samples, "UPDATE `goods`", FIELDS["rows_affected"]) == 21
    assert of(samples, "SELECT ID , NAME FROM", FIELDS["rows_sent"]) == 15
    assert of(samples, "SELECT ID , NAME FROM", FIELDS["no_index_used"]) == 5
    assert of(samples, "SELECT NAME FROM `goods` WHERE ID = ?", SECONDS) > 0
    assert of(later, "SELECT NAME FROM `goods` WHERE ID = ?") == 110


def test_that_a_series_begins_at_zero_at_the_time_of_the_reading_before(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        before_ms = int(time.time() * 1_000)
        time.sleep(0.01)
        send(counting, "SELECT stock FROM goods WHERE id = 1")
        begun = [
            one for one in collect(collector) if one.name == CALLS and "`stock`" in dict(one.labels)["digest_text"]
        ]
    assert [one.value for one in begun] == [1, 0]
    assert begun[1].timestamp_ms is not None
    assert begun[1].timestamp_ms <= before_ms


def test_that_a_kept_prepared_statement_of_go_is_counted_by_its_text(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        load = go_load(counting, "SELECT name FROM goods WHERE stock > ?", 200, "-keep", "-hold=120s")
        samples = until(collector, lambda found: of(found, "stock > ?") >= 200)
        load.kill()
        load.wait(60)
    assert of(samples, "SELECT name FROM goods WHERE stock > ?") == 200
    assert of(samples, "SELECT name FROM goods WHERE stock > ?", FIELDS["rows_examined"]) >= 600
    assert (
        dict(next(one.labels for one in samples if "stock > ?" in dict(one.labels).get("digest_text", "")))["schema"]
        == "shop"
    )
    assert value(samples, COVERAGE) >= 0.95


def test_that_a_kept_prepared_statement_is_never_counted_twice_while_it_runs(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        load = go_load(counting, "SELECT name FROM goods WHERE stock <> ?", 6_000, "-keep", "-hold=120s")
        samples = until(collector, lambda found: of(found, "stock <> ?") >= 6_000)
        load.kill()
        load.wait(60)
    assert of(samples, "stock <> ?") == 6_000
    assert of(samples, "prepared statements") == 0


def test_that_prepared_statements_of_a_moment_are_lost_loudly(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        go_load(counting, "SELECT name FROM goods WHERE id = ?", 500).wait(60)
        samples = until(collector, lambda found: of(found, "prepared statements") > 0)
        fault = collector.fault()
    unseen = next(one for one in samples if one.name == CALLS and dict(one.labels)["digest"] == UNSEEN)
    seen = of(samples, "SELECT name FROM goods WHERE id = ?")
    assert unseen.value + seen == 500, "none is lost: those without a text stand together"
    assert value(samples, COVERAGE) < 0.95
    assert fault is not None
    assert not fault.total
    assert "interpolateParams=true" in fault.text


def test_that_statements_prepared_by_sql_are_not_counted_twice(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        send(
            counting,
            "PREPARE again FROM 'SELECT name FROM goods WHERE stock < ?'",
            "SET @stock = 2",
            *(["EXECUTE again USING @stock"] * 40),
            "DEALLOCATE PREPARE again",
        )
        samples = until(collector, lambda found: of(found, "prepared statements") + of(found, "stock < ?") >= 40)
    assert of(samples, "prepared statements") + of(samples, "stock < ?") == 40
    assert of(samples, "EXECUTE `again`") == 0


def test_that_mariadb_as_it_ships_its_prepared_statements_says_what_to_set() -> None:
    with server("--performance-schema=ON") as plain, reading(plain) as collector:
        collect(collector)
        load = go_load(plain, "SELECT name FROM goods WHERE id = ?", 300, "-keep", "-hold=120s")
        samples = until(collector, lambda found: of(found, "prepared statements") >= 300)
        load.kill()
        load.wait(60)
        assert of(samples, "prepared statements") == 300
        assert value(samples, COVERAGE) < 0.5
        fault = collector.fault()
        assert fault is not None
        assert "performance_schema_consumer_events_statements_current=ON" in fault.text
        assert any("performance_schema_consumer" in line for line in collector.explain())


def test_that_truncate_and_restart_lose_nothing_and_are_counted() -> None:
    with server(*WITH_TEXTS) as own, reading(own) as collector:
        collect(collector)
        send(own, *(["SELECT name FROM goods WHERE id = 1"] * 30))
        assert of(collect(collector), "SELECT NAME FROM") == 30
        own.run("TRUNCATE performance_schema.events_statements_summary_by_digest")
        time.sleep(1.1)  # rows say in whole seconds when they were made
        send(own, *(["SELECT name FROM goods WHERE id = 1"] * 31))
        samples = collect(collector)
        assert of(samples, "SELECT NAME FROM") == 61
        resets = value(samples, "mysql_statements_resets_total")
        assert resets >= 1
        own.stop()
        time.sleep(0.1)
        with pytest.raises(CollectorError):
            collect(collector)
        own.start()
        send(own, *(["SELECT name FROM goods WHERE id = 1"] * 12))
        samples = collect(collector)
        assert of(samples, "SELECT NAME FROM") == 73
        assert value(samples, "mysql_statements_resets_total") > resets


def test_that_a_full_table_of_digests_is_noticed() -> None:
    with server(*WITH_TEXTS, "--performance-schema-digests-size=30") as small, reading(small) as collector:
        collect(collector)
        send(small, *(f"SELECT {number} AS column_{number}" for number in range(60)))
        samples = collect(collector)
        assert sum(by_text(samples).values()) >= 60
        others = next(one for one in samples if one.name == CALLS and dict(one.labels)["digest"] == OTHER)
        assert others.value == value(samples, "mysql_statements_lost_total") > 25
        fault = collector.fault()
        assert fault is not None
        assert "performance_schema_digests_size" in fault.text


def test_that_the_dearest_have_names_and_the_rest_stand_together(counting: MariaDB) -> None:
    with reading(counting, statements=5) as collector:
        for _ in range(3):
            collect(collector)  # by then it knows its own statements
        send(counting, *(f"SELECT {number} AS mine_{number}" for number in range(40)))
        samples = collect(collector)
        assert len(by_text(samples)) == 7, "five, all others, and our own"
        assert sum(by_text(samples).values()) >= 40
        send(counting, "SELECT SLEEP(0.2) AS dear")
        assert of(collect(collector), "`dear`") == 1


def test_that_a_server_that_counts_nothing_says_which_line_to_set() -> None:
    with server() as silent, reading(silent) as collector, pytest.raises(CollectorError, match="performance_schema=ON"):
        collector.collect()


def test_that_an_account_without_rights_is_told_the_grant(counting: MariaDB) -> None:
    with reading(counting, user="blind") as collector:
        with pytest.raises(PrivilegeError, match=r"GRANT SELECT ON performance_schema\.\* TO 'blind'@"):
            collector.collect()
        with pytest.raises(PrivilegeError):
            collector.collect()


def test_that_the_slow_log_counts_what_performance_schema_cannot(tmp_path: Path) -> None:
    log = tmp_path / "slow.log"
    options = (f"--slow-query-log-file={log}", "--slow-query-log=ON", "--long-query-time=0")
    with server(*options) as plain, reading(plain, slow_log=str(log)) as collector:
        collect(collector)
        go_load(plain, "SELECT name FROM goods WHERE id = ?", 300).wait(60)
        send(plain, *(["INSERT INTO goods (name, stock) VALUES ('hidden value', 1)"] * 5))
        samples = until(collector, lambda found: of(found, "WHERE id = ?") >= 300 and of(found, "INSERT") >= 5)
        assert of(samples, "SELECT name FROM goods WHERE id = ?") == 300
        assert of(samples, "INSERT INTO goods") == 5
        assert value(samples, COVERAGE) >= 0.95
        assert not any("hidden" in str(sample.labels) for sample in samples)


def test_that_what_is_left_out_of_a_slow_log_is_said(
    counting: MariaDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "slow.log"
    log.touch()
    heading = "# User@Host: app[app] @ web-1 [192.0.2.7]  Id: 8\n# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 1  "
    heading += "Rows_examined: 9\n# Log_slow_rate_type: query  Log_slow_rate_limit: 10\n"
    with reading(counting, slow_log=str(log)) as collector:
        collect(collector)
        assert collector.fault() is None
        with log.open("a") as file:
            file.writelines(f"{heading}select {at} from goods;\n" for at in range(1_000))
        monkeypatch.setattr(slow_log, "FARTHEST_BYTES", 40_000)
        samples = collect(collector)
        fault = collector.fault()
        assert fault is not None
        assert "were left out" in fault.text
        skipped = {sample.name: sample.value for sample in samples}["mysql_slow_log_skipped_bytes_total"]
        assert f"{skipped:,.0f} bytes" in fault.text
        assert skipped == log.stat().st_size - 20_000
        assert any("one of 10 statements" in line for line in collector.explain())
        monkeypatch.setattr(collector_module, "FAR_BEHIND", 100)
        monkeypatch.setattr(slow_log, "MOST_BYTES", 1)
        monkeypatch.setattr(slow_log, "_BLOCK", 1_000)
        with log.open("a") as file:
            file.writelines(f"{heading}select {at} from goods;\n" for at in range(10))
        collect(collector)
        fault = collector.fault()
        assert fault is not None
        assert "the slow log is ahead by" in fault.text


def test_that_a_slow_log_that_is_away_is_named(counting: MariaDB, tmp_path: Path) -> None:
    with reading(counting, slow_log=str(tmp_path / "none.log")) as collector:
        with pytest.raises(CollectorError, match=r"none\.log cannot be read"):
            collector.collect()


def test_that_every_metric_is_in_the_catalogue(counting: MariaDB) -> None:
    with reading(counting) as collector:
        collect(collector)
        send(counting, "SELECT 1")
        names = {sample.name for sample in collect(collector)}
    assert names <= {metric.name for metric in MYSQL_STATEMENTS.metrics}


def until(collector: MySQLStatementsCollector, holds: Callable[[list[Sample]], bool]) -> list[Sample]:
    give_up = time.monotonic() + 60
    while True:
        samples = collect(collector)
        if holds(samples):
            return samples
        assert time.monotonic() < give_up, by_text(samples)
        time.sleep(0.05)


def test_own_statements_stand_together_and_apart(counting: MariaDB) -> None:
    with reading(counting) as collector:
        for _ in range(3):
            collect(collector)
        send(counting, "SELECT COUNT(*) FROM shop.goods WHERE stock > 4711")
        samples = collect(collector)
    assert of(samples, "`stock` > ?") == 1
    assert of(samples, "(Loadwatch's own statements)") >= 3
    assert not [text for text in by_text(samples) if "performance_schema" in text.lower()]
