"""What signals, rules, snapshots and the server's watchers ask for is what somebody sends, by the same name."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_backend.alerting.rules.files import shipped_rules
from loadwatch_backend.alerting.rules.presence import metrics_of
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.app.changes.watcher import COUNT_METRIC
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import fill_window
from loadwatch_backend.findings.timeouts.ladder import METRICS as TIMEOUTS
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_collectors.sources.aws.presets import preset_metrics
from loadwatch_collectors.sources.mysql.collector import REPLICATION, STATUSES, VARIABLES, status_series
from loadwatch_collectors.sources.registry import SOURCES
from loadwatch_formats.metrics import model
from loadwatch_formats.metrics.loadtest import REQUESTS
from loadwatch_formats.outcomes import OUTCOMES

ROOT = Path(__file__).parents[1]
OTHERS = {
    # mysqld_exporter
    "mysql_slave_status_seconds_behind_master",
    "mysql_slave_status_seconds_behind_source",
    # k6's remote write
    "k6_dropped_iterations_total",
    "k6_http_req_duration_p95",
    "k6_http_req_duration_p99",
    "k6_http_reqs_total",
    "k6_vus",
    # node_exporter, the Go, Java and Python clients, HikariCP, OpenTelemetry, pgxpool
    *("node_nf_conntrack_entries_limit", "node_os_info", "node_uname_info", "machine_cpu_cores"),
    *("go_gc_gogc_percent", "go_gc_gomemlimit_bytes", "jvm_info", "jvm_memory_max_bytes"),
    *("jvm_runtime_info", "python_info", "hikaricp_connections_max", "hikaricp_connections_min"),
    *(f"db_client_connection_{part}" for part in ("count", "limit", "max", "pending_requests", "timeouts_total")),
    *(f"db_client_connections_{part}" for part in ("max", "usage", "pending_requests", "timeouts_total")),
    *("db_client_connection_wait_time_seconds_bucket", "db_client_connections_wait_time_milliseconds_bucket"),
    *(f"hikaricp_connections_{part}" for part in ("active", "pending", "timeout_total")),
    *("hikaricp_active_connections", "hikaricp_max_connections", "hikaricp_pending_threads"),
    *(f"pgxpool_{part}" for part in ("max_conns", "acquired_conns", "empty_acquire", "empty_acquire_count_total")),
    # Go's runtime, CPython, Node.js, asyncio by examples/event_loop_lag.py
    *(f"go_memstats_{part}" for part in ("sys_bytes", "heap_released_bytes", "heap_inuse_bytes", "gc_cpu_fraction")),
    *(f"go_cpu_classes_{part}total_cpu_seconds_total" for part in ("", "gc_")),
    *("go_gc_duration_seconds_count", "go_goroutines", "python_gc_collections_total"),
    *("python_gc_objects_collected_total", "nodejs_eventloop_lag_seconds", "asyncio_event_loop_lag_seconds"),
    # HTTP servers by Micrometer, OpenTelemetry, starlette_exporter, prometheus_flask_exporter, FastAPI's instrumentator
    *(f"http_server_requests_seconds_{part}" for part in ("bucket", "count")),
    *(f"http_server_requests_active_seconds_{part}" for part in ("count", "gcount", "active_count")),
    *(f"starlette_request_duration_seconds_{part}" for part in ("bucket", "count")),
    *(f"flask_http_request_duration_seconds_{part}" for part in ("bucket", "count")),
    *("http_server_active_requests", "starlette_requests_in_progress", "http_requests_inprogress"),
    *("tomcat_threads_busy_threads", "tomcat_threads_config_max_threads"),
    *("jetty_threads_busy", "jetty_threads_config_max", "jetty_threads_jobs"),
    *("process_files_max_files", "process_files_open_files"),
    # examples/pools
    *(f"sqlalchemy_pool_{part}" for part in ("checked_out", "max_overflow", "size", "waiting", "waits_total")),
    # postgres_exporter of earlier versions
    *("pg_replication_lag", "pg_stat_bgwriter_checkpoints_req"),
    # requests as OpenTelemetry, libraries and the exporters of nginx, Envoy and Traefik count them
    *(f"http_server_request_duration_seconds_{part}" for part in ("bucket", "count", "sum")),
    *(f"http_request_duration_seconds_{part}" for part in ("bucket", "count", "sum")),
    *("nginx_vts_server_requests_total", "nginx_vts_server_request_duration_seconds_bucket"),
    *("nginx_ingress_controller_requests", "nginx_ingress_controller_request_duration_seconds_bucket"),
    *(f"envoy_http_downstream_rq_{part}" for part in ("total", "xx", "time_bucket")),
    *("envoy_cluster_upstream_rq_total", "envoy_cluster_upstream_rq_xx", "envoy_cluster_upstream_rq_time_bucket"),
    *("traefik_service_requests_total", "traefik_service_request_duration_seconds_bucket"),
    *("traefik_entrypoint_requests_total", "traefik_entrypoint_request_duration_seconds_bucket"),
    # what applications call their build
    "build_info",
}
OURS = shipped_catalogue().metrics
SENT = {*OURS, *(metric.name for metric in preset_metrics())} | OTHERS
SIGNALS = [signal for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals]


def signals() -> Iterator[tuple[str, str]]:
    for signal in SIGNALS:
        yield signal.id, signal.expression
        if signal.facts is not None:
            yield signal.id, signal.facts.info
    for resource in shipped_catalogue().resources:
        yield resource.id, resource.used
        yield resource.id, resource.limit


def rules() -> Iterator[tuple[str, str]]:
    for file in shipped_rules().values():
        for group in read_rules(file.read_bytes(), str(file), 1_000).groups:
            for rule in group.rules:
                yield rule.name, rule.expression


def watchers() -> Iterator[tuple[str, str]]:
    for name in (COUNT_METRIC, *shipped_catalogue().changes, *TIMEOUTS):
        yield name, name
    for setting in shipped_catalogue().settings:
        yield setting.key, setting.expression


ASKED = [*signals(), *rules(), *watchers()]


def test_no_metric_is_described_twice():
    assert [name for name, count in Counter(OURS).items() if count > 1] == []
    assert len(OURS) > 400


@pytest.mark.parametrize(("who", "expression"), ASKED, ids=[who for who, _ in ASKED])
def test_what_is_asked_for_is_sent(who: str, expression: str):
    names = metrics_of(parse_expression(fill_window(expression, 5_000)))
    assert (names or set()) <= SENT, who


def test_of_what_aws_has_much_is_asked_for():
    asked = [metrics_of(parse_expression(fill_window(text, 5_000))) or set[str]() for _, text in signals()]
    assert len({name for names in asked for name in names if name.startswith("aws_")}) > 40


def test_what_the_agent_sends_is_described():
    files = sorted((ROOT / "collectors" / "loadwatch_collectors").rglob("*.py"))
    sent = {name for file in files for name in re.findall(r'\bSample\(\s*"(\w+)"', file.read_text("utf-8"))}
    assert len(sent) > 60
    series = [found[0] for status in STATUSES if (found := status_series(status))]
    sent |= {*series, *(f"mysql_global_variables_{name}" for name in VARIABLES)}
    sent |= {f"mysql_slave_status_{name}" for name in REPLICATION}
    assert sent - SENT == set()
    assert {one.name for source in SOURCES for one in source.metrics} <= SENT


def test_outcomes_of_requests_are_listed_where_they_are_sent():
    [requests] = [one for one in model.metrics_of("load")["loadtest"] if one.name == REQUESTS]
    assert requests.help == f"Requests of a run by outcome: {', '.join(OUTCOMES)}."


def test_only_snapshots_ask_for_whatever_is_called_alike():
    unnamed = [who for who, text in ASKED if metrics_of(parse_expression(fill_window(text, 5_000))) is None]
    assert [who for who in unnamed if not who.startswith("{name}")] == []
