import gzip
from collections.abc import Sequence
from typing import Any

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.prometheus import PrometheusCollector, PrometheusSettings
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.openmetrics import exposition
from prometheus_client.parser import text_string_to_metric_families

from collectors.tests.exporters import mysqld_exporter, read_page, running_exporter
from collectors.tests.mariadb import MariaDB
from collectors.tests.servers import answer_always, drip, endless, response, tcp_server

TEXT = "text/plain; version=0.0.4; charset=utf-8"
PAGE = b"""# HELP jobs_total Jobs done.
# TYPE jobs_total counter
jobs_total{queue="mail",instance="worker:1"} 5
jobs_total{queue="sms"} 6 1395066363000
# TYPE depth gauge
depth 3
"""


def scrape(body: bytes, content_type: str = TEXT, extra: str = "", **keys: Any) -> list[Sample]:
    with tcp_server(answer_always(response(body, content_type=content_type, extra=extra))) as port:
        collector = PrometheusCollector(PrometheusSettings(url=f"http://127.0.0.1:{port}/metrics", **keys))
        try:
            return list(collector.collect())
        finally:
            collector.close()


def test_samples_times_and_types() -> None:
    with tcp_server(answer_always(response(PAGE, content_type=TEXT))) as port:
        collector = PrometheusCollector(PrometheusSettings(url=f"http://127.0.0.1:{port}/metrics"))
        assert collector.collect() == [
            Sample("jobs_total", 5, (("queue", "mail"), ("exported_instance", "worker:1"))),
            Sample("jobs_total", 6, (("queue", "sms"),), 1395066363000),
            Sample("depth", 3),
        ]
        assert [(item.name, item.type, item.help) for item in collector.metadata()] == [
            ("jobs_total", "counter", "Jobs done."),
            ("depth", "gauge", ""),
        ]
        collector.close()


def test_compressed_pages() -> None:
    assert scrape(gzip.compress(PAGE), extra="Content-Encoding: gzip\r\n") == scrape(PAGE)


def test_openmetrics_as_a_real_library_writes_it() -> None:
    registry = CollectorRegistry()
    Counter("hits", "Hits.", ["code"], registry=registry).labels("200").inc(3, exemplar={"trace": "a # b"})
    Histogram("lag_seconds", "Lag.", registry=registry, buckets=(0.5,)).observe(0.25)
    untyped: Any = exposition
    page = bytes(untyped.generate_latest(registry))
    found = {(s.name, s.labels): s.value for s in scrape(page, content_type=untyped.CONTENT_TYPE_LATEST)}
    assert found["hits_total", (("code", "200"),)] == 3
    assert found["lag_seconds_bucket", (("le", "0.5"),)] == 1
    assert found["lag_seconds_sum", ()] == 0.25


def test_the_labels_of_the_target_are_kept_apart() -> None:
    page = b'a{job="x",exported_job="y",instance="z"} 1\n'
    assert scrape(page)[0].labels == (("exported_exported_job", "x"), ("exported_job", "y"), ("exported_instance", "z"))
    assert scrape(page, honor_labels=True)[0].labels == (("job", "x"), ("exported_job", "y"), ("instance", "z"))


def test_metrics_can_be_chosen_by_name() -> None:
    assert [s.name for s in scrape(PAGE, include=("jobs_.*", "x"))] == ["jobs_total", "jobs_total"]
    assert [s.name for s in scrape(PAGE, exclude=("jobs_.*",))] == ["depth"]
    assert len(scrape(PAGE, include=("jobs",), exclude=())) == 0


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"max_samples": 2}, "more than 2 samples"),
        ({"max_labels": 1}, "jobs_total has 2 labels, max_labels allows 1"),
        ({"max_label_value": 4}, "label instance has 8 characters, max_label_value allows 4"),
        ({"max_body": 10}, "larger than 10 bytes"),
    ],
)
def test_limits_are_named(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(CollectorError, match=rf"GET http://127\.0\.0\.1:\d+/metrics: .*{says}"):
        scrape(PAGE, **keys)


@pytest.mark.parametrize(
    ("body", "content_type", "says"),
    [
        (b"<html>", "text/html", "expected Prometheus' text format, but the page is text/html: '<html>'"),
        (b"<html>", TEXT, "line 1: a metric's name was expected: '<html>'"),
        (b"a \xff\n", TEXT, "not UTF-8 at byte 2"),
        (b"a 1\n", "application/openmetrics-text; version=1.0.0", "without # EOF"),
    ],
)
def test_what_is_wrong_is_named(body: bytes, content_type: str, says: str) -> None:
    with pytest.raises(CollectorError, match=says):
        scrape(body, content_type=content_type)


def test_pages_that_do_not_end() -> None:
    with tcp_server(drip(response(PAGE * 10, content_type=TEXT))) as port:
        slow = PrometheusCollector(PrometheusSettings(url=f"http://127.0.0.1:{port}/", deadline=0.3))
        with pytest.raises(CollectorError, match=r"no complete answer within 0\.3 s"):
            slow.collect()
        slow.close()
    with tcp_server(endless) as port:
        large = PrometheusCollector(PrometheusSettings(url=f"http://127.0.0.1:{port}/", max_body=300_000))
        with pytest.raises(CollectorError, match="larger than 300000 bytes"):
            large.collect()
        large.close()


def test_a_bad_pattern_is_named() -> None:
    with pytest.raises(ValueError, match=r"'\(' is not a regular expression"):
        PrometheusSettings(url="http://x/", include=("(",))


def test_node_exporter() -> None:
    command = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.cpu", "--collector.meminfo"]
    with running_exporter(command) as url:
        types = scrape_and_compare(url)
    assert types["node_cpu_seconds_total"] == "counter"
    assert types["node_memory_MemTotal_bytes"] == "gauge"


def test_mysqld_exporter(mariadb: MariaDB) -> None:
    with running_exporter(*mysqld_exporter(mariadb)) as url:
        types = scrape_and_compare(url)
    assert types["mysql_global_status_commands_total"] == "counter"
    assert types["mysql_global_status_threads_connected"] == "unknown"


def scrape_and_compare(url: str) -> dict[str, str]:
    """Scrape twice over one connection; the series must be those that the reference parser finds."""
    collector = PrometheusCollector(PrometheusSettings(url=url))
    first, second = (series_of(collector.collect()) for _ in range(2))
    families = list(text_string_to_metric_families(read_page(url)))
    reference = {(s.name, frozenset(s.labels.items())) for family in families for s in family.samples}
    types = {item.name: item.type for item in collector.metadata()}
    collector.close()
    assert len(reference) > 50
    assert first <= second == reference
    return types


def series_of(samples: Sequence[Sample]) -> set[tuple[str, frozenset[tuple[str, str]]]]:
    assert len(samples) == len({(s.name, s.labels) for s in samples})
    return {(s.name, frozenset(s.labels)) for s in samples}
