"""What signals, rules, snapshots and the server's watchers ask for is what somebody sends, by the same name."""

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from loadwatch_backend.changes.catalogue import COUNT_METRIC, WATCHED
from loadwatch_backend.promql.parsing.parse import parse_expression
from loadwatch_backend.rules.files import BUILT_IN
from loadwatch_backend.rules.presence import metrics_of
from loadwatch_backend.rules.read import read_rules
from loadwatch_backend.runs.snapshots.catalogue import FACTS
from loadwatch_backend.signals.catalogue.registry import CATALOGUE
from loadwatch_backend.signals.interval import fill_window
from loadwatch_backend.timeouts.readings import METRICS as TIMEOUTS
from loadwatch_collectors.sources.aws.presets import preset_metrics
from loadwatch_formats import metrics

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
    *("db_client_connections_max", "pgxpool_max_conns"),
    # requests as OpenTelemetry, libraries and the exporters of nginx, Envoy and Traefik count them
    *(f"http_server_request_duration_seconds_{part}" for part in ("bucket", "count", "sum")),
    *(f"http_request_duration_seconds_{part}" for part in ("bucket", "count", "sum")),
    *(
        "nginx_http_requests_total",
        "nginx_vts_server_requests_total",
        "nginx_vts_server_request_duration_seconds_bucket",
    ),
    *("nginx_ingress_controller_requests", "nginx_ingress_controller_request_duration_seconds_bucket"),
    *(f"envoy_http_downstream_rq_{part}" for part in ("total", "xx", "time_bucket")),
    *("envoy_cluster_upstream_rq_total", "envoy_cluster_upstream_rq_xx", "envoy_cluster_upstream_rq_time_bucket"),
    *("traefik_service_requests_total", "traefik_service_request_duration_seconds_bucket"),
    *("traefik_entrypoint_requests_total", "traefik_entrypoint_request_duration_seconds_bucket"),
    # what applications call their build
    "build_info",
    # postgres_exporter and redis_exporter
    *("pg_stat_user_tables_n_live_tup", "pg_static"),
    *("redis_config_maxclients", "redis_instance_info", "redis_memory_max_bytes"),
}
TABLES = [import_module(f"{metrics.__name__}.{one.name}") for one in iter_modules(metrics.__path__)]
OURS = [metric for table in TABLES for metric in getattr(table, "METRICS", ())]
SENT = {metric.name for metric in (*OURS, *preset_metrics())} | OTHERS
SIGNALS = [signal for group in CATALOGUE.groups for panel in group.panels for signal in panel.signals]


def signals() -> Iterator[tuple[str, str]]:
    for signal in SIGNALS:
        yield signal.id, signal.expression
        if signal.facts is not None:
            yield signal.id, signal.facts.info
    for resource in CATALOGUE.resources:
        yield resource.id, resource.used
        yield resource.id, resource.limit


def rules() -> Iterator[tuple[str, str]]:
    for file in sorted(BUILT_IN.glob("*.yml")):
        for group in read_rules(file.read_bytes(), str(file), 1_000).groups:
            for rule in group.rules:
                yield rule.name, rule.expression


def watchers() -> Iterator[tuple[str, str]]:
    for name in (COUNT_METRIC, *(watch.metric for watch in WATCHED), *TIMEOUTS):
        yield name, name
    for fact in FACTS:
        yield fact.key, fact.expression


ASKED = [*signals(), *rules(), *watchers()]


def test_no_metric_is_described_twice():
    names = [metric.name for metric in OURS]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert len(names) > 400


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
    assert sent - SENT == set()


def test_only_snapshots_ask_for_whatever_is_called_alike():
    unnamed = [who for who, text in ASKED if metrics_of(parse_expression(fill_window(text, 5_000))) is None]
    assert [who for who in unnamed if not who.startswith("{name}")] == []
