"""The slow log of an instance of RDS over its API, by botocore against a server that speaks it."""

import random
from collections.abc import Iterator

import pytest
from loadwatch_collectors.commands.iam_policy import block_of
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.aws.client.client import Account, ConnectOptions, connect
from loadwatch_collectors.sources.aws.client.errors import ForbiddenError
from loadwatch_collectors.sources.aws.iam import read_actions
from loadwatch_collectors.sources.mysql_statements.collector import MySQLStatementsCollector, MySQLStatementsSettings
from loadwatch_collectors.sources.mysql_statements.slow_log import LOG_ACTIONS, RdsLog, SlowLogFollower

from collectors.tests.sources.aws.moto_server import REGION
from collectors.tests.sources.aws.rds_logs import CURRENT, RdsLogs, running_rds_logs


class Clock:
    """Each look is long after the one before."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 100.0
        return self.now


@pytest.fixture
def logs(aws_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[RdsLogs]:
    with running_rds_logs() as (address, made):
        monkeypatch.setenv("AWS_ENDPOINT_URL_RDS", address)
        yield made


@pytest.fixture
def log(logs: RdsLogs) -> RdsLog:
    return RdsLog(connect(Account(), REGION, ConnectOptions(), lambda _call, _seconds: None), "shop-db-1", Clock())


def looks(log: RdsLog, count: int) -> list[str]:
    return [line for _ in range(count) for line in log.read_lines()]


def numbered(first: int, last: int) -> list[str]:
    return [f"# line {number}" for number in range(first, last)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_that_reading_begins_at_the_end_and_each_line_comes_once(log: RdsLog, logs: RdsLogs) -> None:
    logs.write(text(numbered(0, 50)))
    assert not looks(log, 2)
    logs.write(text(numbered(50, 5_050)))
    found = looks(log, 3)
    logs.write("# line 50")
    found += looks(log, 2)
    logs.write("50\n# line 5051\n")
    assert found + looks(log, 3) == [*numbered(50, 5_050), *numbered(5_050, 5_052)]
    assert log.lost_files == log.cut_lines == 0


@pytest.mark.parametrize("seed", range(8))
def test_that_no_line_is_lost_or_read_twice_when_the_log_is_turned_at_any_time(
    log: RdsLog, logs: RdsLogs, seed: int
) -> None:
    chance = random.Random(seed)
    logs.write(text(numbered(0, chance.randrange(60))))
    start = logs.files[CURRENT].count("\n")
    looks(log, 2)
    at = start
    found: list[str] = []
    for _ in range(60):
        count = chance.choice((0, 1, 7, 300))
        logs.write(text(numbered(at, at + count)))
        at += count
        if chance.random() < 0.3:
            logs.turn()
        if chance.random() < 0.7:
            found += looks(log, 1)
            if logs.hour and chance.random() < 0.1:
                logs.files = {name: text for name, text in logs.files.items() if name == CURRENT or name[-1] in "02468"}
    missed = log.lost_files
    found += looks(log, 4)
    wanted = numbered(start, at)
    assert len(found) == len(set(found)), "no line is read twice"
    assert missed or found == wanted
    assert set(found) <= set(wanted)


def test_that_lines_beyond_a_megabyte_are_asked_for_in_smaller_parts(log: RdsLog, logs: RdsLogs) -> None:
    looks(log, 2)
    logs.most_bytes = 20_000
    wide = [f"# {number} {'x' * 900}" for number in range(500)]
    logs.write(text(wide) + "# " + "y" * 30_000 + "\n# after\n")
    assert looks(log, 60) == [*wide, "# after"]
    assert log.cut_lines == 1


def test_that_a_log_that_was_turned_and_deleted_is_counted_as_lost(log: RdsLog, logs: RdsLogs) -> None:
    logs.write(text(numbered(0, 10)))
    looks(log, 2)
    logs.write(text(numbered(10, 20)))
    logs.turn()
    logs.files = {CURRENT: ""}
    logs.write(text(numbered(20, 25)))
    assert looks(log, 3) == numbered(20, 25)
    assert log.lost_files == 1


def test_that_refusals_say_what_to_grant_and_throttling_passes(log: RdsLog, logs: RdsLogs) -> None:
    logs.refuse = "AccessDenied"
    with pytest.raises(ForbiddenError, match="rds:DescribeDBLogFiles"):
        log.read_lines()
    logs.refuse = ""
    looks(log, 1)
    logs.write(text(numbered(0, 3)))
    logs.once = ["Throttling"]
    assert looks(log, 3) == numbered(0, 3)


def test_that_an_instance_without_a_slow_log_says_what_to_set(log: RdsLog, logs: RdsLogs) -> None:
    logs.files = {}
    with pytest.raises(CollectorError, match="slow_query_log=1, long_query_time=0 and log_output=FILE"):
        log.read_lines()


def test_that_statements_of_it_are_counted_without_their_values(log: RdsLog, logs: RdsLogs) -> None:
    follower = SlowLogFollower("rds://shop-db-1", log)
    follower.collect()
    for number in range(20):
        logs.write(
            "# Time: 2026-11-24T10:00:00.000000Z\n# User@Host: app[app] @ [10.0.0.7]  Id: 7\n"
            "# Query_time: 0.500000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 1000\n"
            f"use shop;\nSET timestamp=1790000000;\nSELECT name FROM goods WHERE id = {number};\n"
        )
        if number == 9:
            logs.turn()
    grown = [follower.collect() for _ in range(5)]
    totals = [counts for one in grown for counts in one.values()]
    assert sum(counts[0] for counts in totals) == 20
    assert sum(counts[1] for counts in totals) == pytest.approx(10)
    assert {key.schema for one in grown for key in one} == {"shop"}


@pytest.mark.parametrize("name", ["rds://", "rds://a b", "rds://-x", "rds://a/../b", "rds://x/y/z"])
def test_that_an_instance_has_to_have_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="names no instance"):
        MySQLStatementsSettings(user="watcher", slow_log=name)


def test_that_the_collector_reads_it_where_it_is_told_to(logs: RdsLogs) -> None:
    collector = MySQLStatementsCollector(
        MySQLStatementsSettings(port=1, user="watcher", slow_log=f"rds://{REGION}/shop-db-1")
    )
    collector.close()
    assert not logs.asked, "nothing is asked before the first reading"


def test_that_the_policy_of_a_configuration_has_it() -> None:
    there = block_of(MySQLStatementsSettings(user="watcher", slow_log=f"rds://{REGION}/shop-db-1"))
    assert there is not None
    assert (there.actions, there.regions) == (LOG_ACTIONS, (REGION,))
    assert set(LOG_ACTIONS) <= set(read_actions())
