"""Targets of one program are one in a window; what is said of them selects the series that are there."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.findings.detectors.application import lock_stall as DETECTOR
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.programs import INFO, join_programs, real_expression, with_real_labels
from loadwatch_backend.findings.window import Window
from loadwatch_backend.series.promql.parsing.parse import parse_expression

from backend.tests.findings.windows import Values, load, rising, window

SECONDS = 60
SAW = np.where(np.arange(SECONDS) % 6 < 2, 180.0, 2.0)
STALLED = load(100.0, p50=0.004, p95=np.where(np.arange(SECONDS) % 6 < 2, 2.0, 0.02))
POOL, VARS = 'job="app",instance="vm-1"', 'job="app-vars",instance="vm-1"'


def asks(labels: str, address: str = "vm-1:8080", host: str = "vm-1", collector: str = "dbstats") -> dict[str, Values]:
    return {f'{INFO}{{{labels},collector="{collector}",agent_host="{host}",address="{address}"}}': 1.0}


def joined(series: dict[str, Values]) -> Window:
    seen = window(series, load=STALLED)
    return replace(seen, tables=join_programs(seen.tables))


def pool(labels: str = POOL) -> dict[str, Values]:
    return {
        f'go_sql_in_use_connections{{{labels},db_name="hits"}}': 1.0,
        f'go_sql_max_open_connections{{{labels},db_name="hits"}}': 10.0,
        f'go_sql_wait_count_total{{{labels},db_name="hits"}}': rising(0.0),
        f'go_sql_wait_duration_seconds_total{{{labels},db_name="hits"}}': rising(0.0),
    }


def requests(labels: str = VARS) -> dict[str, Values]:
    return {
        f"http_requests_in_flight{{{labels}}}": SAW,
        f"ingest_accepted_total{{{labels}}}": rising(np.where(SAW > 100, 0.0, 150.0)),
    }


def targets(seen: Window, metric: str) -> set[tuple[str, str]]:
    return {(one.get("job", ""), one.get("instance", "")) for one in seen[metric].labels}


def test_two_pages_of_one_server_are_one_program() -> None:
    series = (
        pool() | requests() | {'node_cpu_seconds_total{job="host",instance="vm-1",cpu="0",mode="user"}': rising(0.1)}
    )
    assert not DETECTOR.look(window(series, load=STALLED)).findings, "by job and instance they are two"
    seen = joined(series | asks(POOL) | asks(VARS))
    [finding] = with_real_labels(diagnose(seen, [DETECTOR]), seen).findings
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "app-vars", "instance": "vm-1"}, "the target whose requests pile up"
    assert [one.expression for one in finding.evidence if "http_requests" in one.expression] == [
        'http_requests_in_flight{job="app-vars",instance="vm-1"}'
    ]
    assert targets(seen, "node_cpu_seconds_total") == {("host", "vm-1")}, "the host is another target"


def test_the_process_that_listens_there_belongs_to_them() -> None:
    process = 'job="shop-process",instance="vm-1"'
    program, page = 'job="shop",instance="shop-1"', 'job="vars",instance="shop-vars"'
    series = pool(program) | requests(page) | {f"process_cpu_seconds_total{{{process}}}": rising(0.2)}
    # The process listens on two ports; each page is asked at one of them.
    series |= asks(program) | asks(page, "vm-1:6060")
    series |= asks(process, collector="process") | asks(process, "vm-1:6060", collector="process")
    seen = joined(series)
    for metric in ("go_sql_in_use_connections", "http_requests_in_flight", "process_cpu_seconds_total"):
        assert targets(seen, metric) == {("shop", "shop-1")}
    # A given name says more than the host's.
    seen = joined(pool('job="z",instance="z-1"') | asks('job="z",instance="z-1"') | asks(process, collector="process"))
    assert targets(seen, INFO) == {("z", "z-1")}


def test_two_hosts_with_the_same_address_of_their_own_are_two() -> None:
    other = 'job="app-vars",instance="vm-2"'
    for address in ("app:8080", "127.0.0.1:8080"):
        seen = joined(pool() | requests(other) | asks(POOL, address) | asks(other, address, host="vm-2"))
        assert targets(seen, "http_requests_in_flight") == {("app-vars", "vm-2")}


def test_ten_instances_behind_one_address_stay_ten() -> None:
    series: dict[str, Values] = {}
    for number in range(10):
        one = f'job="web",instance="web-{number}"'
        series |= pool(one) | requests(one) | asks(one)
    seen = joined(series | requests('job="gateway",instance="vm-1"') | asks('job="gateway",instance="vm-1"'))
    assert len(targets(seen, "go_sql_in_use_connections")) == 10
    assert len(targets(seen, "http_requests_in_flight")) == 11


def test_an_application_and_a_database_of_one_target_do_not_draw_another_process_in() -> None:
    both, database = 'job="all",instance="vm-1"', 'job="db",instance="vm-1"'
    start = "process_start_time_seconds"
    series = pool(both) | asks(both) | asks(both, "vm-1:3306") | asks(database, "vm-1:3306")
    seen = joined(series | {f"{start}{{{both}}}": 100.0, f"{start}{{{database}}}": 50.0})
    assert targets(seen, start) == {("all", "vm-1"), ("db", "vm-1")}


def test_one_process_seen_twice_is_counted_once() -> None:
    other = 'job="app-metrics",instance="vm-1"'
    series = asks(POOL) | asks(other)
    for labels, start in ((POOL, 100.0), (other, 100.4)):
        series |= {
            f"process_start_time_seconds{{{labels}}}": start,
            f"process_cpu_seconds_total{{{labels}}}": rising(0.5),
            f'up{{{labels},collector="process"}}': 1.0,
        }
    seen = joined(series)
    assert targets(seen, "process_cpu_seconds_total") == {("app", "vm-1")}
    assert float(np.nanmax(seen["process_cpu_seconds_total"].rate)) == pytest.approx(0.5)
    assert len(seen["up"]) == 2, "each collector has a health of its own"


def test_jobs_of_one_instance_are_one_program_where_it_is_an_address() -> None:
    scraped, other = 'job="app",instance="10.0.0.5:8080"', 'job="app-vars",instance="10.0.0.5:8080"'
    assert targets(joined(pool(scraped) | requests(other)), "http_requests_in_flight") == {("app", "10.0.0.5:8080")}
    local = 'job="app",instance="localhost:8080"', 'job="app-vars",instance="localhost:8080"'
    seen = joined(pool(local[0]) | requests(local[1]))
    assert targets(seen, "http_requests_in_flight") == {("app-vars", "localhost:8080")}, "of which host, nobody knows"


def test_an_expression_selects_the_series_that_are_there() -> None:
    own, other = 'job="a.b",instance="x"', 'job="b",instance="x"'
    series: dict[str, Values] = {f'up{{{one},collector="dbstats"}}': 1.0 for one in (own, other)}
    seen = joined(series | pool(own) | requests(other) | asks(own) | asks(other))
    assert real_expression(seen, 'rate(ingest_accepted_total{job="a.b",instance="x"}[5s]) + 1') == (
        'rate(ingest_accepted_total{job="b",instance="x"}[5s]) + 1'
    )
    several = real_expression(seen, 'up{job="a.b",instance="x",collector="dbstats"}')
    assert several == r'up{job=~"a\\.b|b",instance="x",collector="dbstats"}'
    parse_expression(several)
    untouched = 'go_sql_in_use_connections{job="a.b",instance="x"} / up{job="c",instance="d"}'
    assert real_expression(seen, untouched) == untouched
