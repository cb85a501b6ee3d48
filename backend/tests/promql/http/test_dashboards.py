"""What dashboards of node_exporter and mysqld_exporter ask, of real pages of both: as Debian's Prometheus answers.

Each metric of the pages is asked for in the forms in which public dashboards ask (Node Exporter Full, MySQL Overview):
gauges as they are, counters as rates and increases; and the figures that they make of several are below, by name.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from loadwatch_backend.core.clock import system_clock
from prometheus_client.parser import text_string_to_metric_families

from backend.tests.conftest import SetClock, run_server
from backend.tests.databases import mariadb_server
from backend.tests.promql.http.beside import Rows, ask, run_prometheus, write_to
from collectors.tests.exporters import mysqld_exporter, read_page, running_exporter

PAGES = 8
STEP_MS = 15_137
"""Between two pages, as they are stored: no window of a query ends at a sample, since Prometheus 2 takes both ends."""
OF = 'instance="{instance}",job="{job}"'

NODE = {
    "cores": "count(count(node_cpu_seconds_total{OF}) by (cpu))",
    "busy": 'avg by (instance) (1 - rate(node_cpu_seconds_total{mode="idle",OF}[1m])) * 100',
    "busy share of all": (
        '100 * sum(irate(node_cpu_seconds_total{mode!="idle",OF}[1m])) / sum(irate(node_cpu_seconds_total{OF}[1m]))'
    ),
    "modes": 'sum by (mode) (irate(node_cpu_seconds_total{mode=~"user|system|iowait|softirq",OF}[1m]))',
    "waiting": 'sum by (instance) (irate(node_cpu_seconds_total{mode="iowait",OF}[5m])) * 100',
    "load of a core": "avg(node_load1{OF}) / count(count(node_cpu_seconds_total{OF}) by (cpu)) * 100",
    "memory used": "100 - node_memory_MemAvailable_bytes{OF} * 100 / node_memory_MemTotal_bytes{OF}",
    "memory of programs": (
        "node_memory_MemTotal_bytes{OF} - node_memory_MemFree_bytes{OF} - (node_memory_Cached_bytes{OF} + "
        "node_memory_Buffers_bytes{OF} + node_memory_SReclaimable_bytes{OF})"
    ),
    "swap used": (
        "(node_memory_SwapTotal_bytes{OF} - node_memory_SwapFree_bytes{OF}) / "
        "(node_memory_SwapTotal_bytes{OF} > 0) * 100"
    ),
    "file systems": (
        '100 - node_filesystem_avail_bytes{device!~"rootfs|tmpfs",OF} * 100 / '
        '(node_filesystem_size_bytes{device!~"rootfs|tmpfs",OF} > 0)'
    ),
    "inodes": "(node_filesystem_files_free{OF} / node_filesystem_files{OF}) < 0.99 or node_filesystem_files{OF} > 0",
    "bits in": 'irate(node_network_receive_bytes_total{device!~"lo|veth.*",OF}[1m]) * 8',
    "bits out, below": "- irate(node_network_transmit_bytes_total{OF}[1m]) * 8",
    "packets": (
        "sum without (device) (rate(node_network_receive_packets_total{OF}[1m]) + "
        "rate(node_network_transmit_packets_total{OF}[1m]))"
    ),
    "uptime": "time() - node_boot_time_seconds{OF}",
    "uptime at the time asked for": "node_time_seconds{OF} - node_boot_time_seconds{OF}",
    "disks": 'topk(5, irate(node_disk_io_time_seconds_total{device=~"[a-z]+[0-9]*",OF}[1m]))',
    "time of a read": "rate(node_disk_read_time_seconds_total{OF}[1m]) / rate(node_disk_reads_completed_total{OF}[1m])",
    "files open": "node_filefd_allocated{OF} / node_filefd_maximum{OF}",
    "pages": "irate(node_vmstat_pgpgin{OF}[1m]) - irate(node_vmstat_pgpgout{OF}[1m])",
    "switches": "irate(node_context_switches_total{OF}[1m])",
    "collectors that fail": "count(node_scrape_collector_success{OF} == 0) or vector(0)",
    "name": 'label_replace(node_uname_info{OF}, "host", "$1", "nodename", "([^.]*).*")',
    "name of all": "node_load5{OF} * on (instance) group_left (nodename) node_uname_info{OF}",
    "soon full": "predict_linear(node_filesystem_avail_bytes{OF}[2m], 4 * 3600) < 0",
    "newest": "max_over_time(node_load1{OF}[2m]) - min_over_time(node_load1{OF}[2m])",
}
MYSQL = {
    "uptime": "mysql_global_status_uptime{OF}",
    "questions": "rate(mysql_global_status_questions{OF}[1m]) or irate(mysql_global_status_questions{OF}[5m])",
    "commands": "topk(10, rate(mysql_global_status_commands_total{OF}[1m]) > 0)",
    "commands by name": "sum by (command) (increase(mysql_global_status_commands_total{OF}[1m])) > 0",
    "connections": "max_over_time(mysql_global_status_threads_connected{OF}[1m])",
    "connections of the most": (
        "mysql_global_status_max_used_connections{OF} / mysql_global_variables_max_connections{OF} * 100"
    ),
    "threads": "avg_over_time(mysql_global_status_threads_running{OF}[1m])",
    "pool of memory": "mysql_global_variables_innodb_buffer_pool_size{OF} / 1024 ^ 3",
    "pages of the pool": (
        "sum by (state) (mysql_global_status_buffer_pool_pages{OF}) / on () group_left () "
        "sum(mysql_global_status_buffer_pool_pages{OF})"
    ),
    "slow": "sum(rate(mysql_global_status_slow_queries{OF}[1m]))",
    "handlers": 'rate(mysql_global_status_handlers_total{handler!~"commit|rollback|savepoint.*|prepare",OF}[1m])',
    "temporary tables on disk": (
        "rate(mysql_global_status_created_tmp_disk_tables{OF}[1m]) / "
        "(rate(mysql_global_status_created_tmp_tables{OF}[1m]) > 0)"
    ),
    "bytes": "rate(mysql_global_status_bytes_received{OF}[1m]) + rate(mysql_global_status_bytes_sent{OF}[1m])",
    "locks": (
        "rate(mysql_global_status_table_locks_waited{OF}[1m]) / ignoring (x) "
        "(rate(mysql_global_status_table_locks_immediate{OF}[1m]) + 1)"
    ),
    "hit ratio": (
        "1 - rate(mysql_global_status_innodb_buffer_pool_reads{OF}[1m]) / "
        "rate(mysql_global_status_innodb_buffer_pool_read_requests{OF}[1m])"
    ),
    "open tables": "mysql_global_status_open_tables{OF} / mysql_global_variables_table_open_cache{OF}",
    "aborted": (
        "sum(increase(mysql_global_status_aborted_connects{OF}[1m])) + "
        "sum(increase(mysql_global_status_aborted_clients{OF}[1m]))"
    ),
    "version": "count by (version) (mysql_version_info{OF})",
    "up": "mysql_up{OF} unless on (instance) mysql_slave_status_slave_io_running{OF} == 0",
    "memory": 'sum({__name__=~"mysql_global_variables_(key_buffer_size|innodb_log_buffer_size|query_cache_size)",OF})',
}


@dataclass(frozen=True)
class Asked:
    """Addresses of both, the times of the pages, and the types of the metrics by job."""

    ours: str
    theirs: str
    first_ms: int
    types: Mapping[str, Mapping[str, str]]


def _read(job: str, pages: Sequence[str], first_ms: int) -> tuple[Rows, dict[str, str]]:
    series: dict[tuple[tuple[str, str], ...], list[tuple[int, float]]] = {}
    types: dict[str, str] = {}
    for number, page in enumerate(pages):
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                labels = {"__name__": sample.name, **sample.labels, "instance": f"{job}:1", "job": job}
                types[sample.name] = family.type
                rows = series.setdefault(tuple(sorted(labels.items())), [])
                rows.append((first_ms + number * STEP_MS, float(sample.value)))
    return [(dict(labels), rows) for labels, rows in series.items()], types


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("dashboards")
    database = mariadb_server()
    node: list[str] = []
    mysql: list[str] = []
    with (
        running_exporter(["prometheus-node-exporter"]) as node_url,
        running_exporter(*mysqld_exporter(database)) as mysql_url,
    ):
        for _ in range(PAGES):
            database.run("SELECT COUNT(*) FROM mysql.user")
            node.append(read_page(node_url))
            mysql.append(read_page(mysql_url))
    first_ms = system_clock() // 60_000 * 60_000 - PAGES * STEP_MS + 4_321
    types: dict[str, Mapping[str, str]] = {}
    clock = SetClock(system_clock())
    with run_server(folder / "data", clock) as server, run_prometheus(folder / "them") as theirs:
        ours = f"{server.url}/prometheus"
        for job, pages in (("node", node), ("mysql", mysql)):
            rows, types[job] = _read(job, pages, first_ms)
            for url in (ours, theirs):
                write_to(url, rows)
        yield Asked(ours, theirs, first_ms, types)


def _close(first: str, second: str) -> bool:
    mine, other = float(first), float(second)
    return (math.isnan(mine) and math.isnan(other)) or math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-12)


def _same(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> bool:
    by_labels = ({tuple(sorted(one["metric"].items())): one["values"] for one in both} for both in (first, second))
    mine, other = by_labels
    return mine.keys() == other.keys() and all(
        len(values) == len(other[key])
        and all(a[0] == b[0] and _close(a[1], b[1]) for a, b in zip(values, other[key], strict=True))
        for key, values in mine.items()
    )


def _compare(asked: Asked, expressions: Sequence[str]) -> int:
    """How many of them gave something; both must say the same of each."""
    full = 0
    # A minute after the first page: a counter that begins in a window is extrapolated otherwise since Prometheus 3.
    start = asked.first_ms // 1_000 + 62
    grid = {"start": start, "end": start + (PAGES - 1) * STEP_MS // 1_000, "step": 20}
    for expression in expressions:
        mine, other = (ask(url, "query_range", query=expression, **grid)["data"] for url in (asked.ours, asked.theirs))
        assert mine["resultType"] == other["resultType"] == "matrix"
        assert _same(mine["result"], other["result"]), (expression, mine, other)
        full += bool(mine["result"])
    return full


def _filled(expression: str, job: str) -> str:
    return expression.replace("OF", OF.format(instance=f"{job}:1", job=job))


@pytest.mark.parametrize("job", ["node", "mysql"])
def test_every_metric_in_the_forms_of_dashboards(asked: Asked, job: str) -> None:
    expressions: list[str] = []
    for name, kind in sorted(asked.types[job].items()):
        forms = ["%s{OF}"]
        if kind == "counter" or name.endswith("_total"):
            forms = ["irate(%s{OF}[1m])", "sum(increase(%s{OF}[1m]))"]
        elif kind in ("unknown", "untyped"):
            forms = ["%s{OF}", "rate(%s{OF}[1m])"]
        # Each metric once, in one of its forms by turns: there are some seven hundred.
        expressions.append(_filled(forms[len(expressions) % len(forms)] % name, job))
    assert len(expressions) > 150
    assert _compare(asked, expressions) == len(expressions)


@pytest.mark.parametrize(("job", "figures"), [("node", NODE), ("mysql", MYSQL)])
def test_the_figures_of_dashboards(asked: Asked, job: str, figures: Mapping[str, str]) -> None:
    expressions = [_filled(expression, job) for expression in figures.values()]
    # What a machine has not, such as swap or a disk that is filling, gives nothing, and does so for both.
    assert _compare(asked, expressions) > len(expressions) // 2
