"""OpenTelemetry's own SDK sends to a real server, which is killed while deltas come in."""

import json
import os
import random
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from google.protobuf import json_format
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportRequest, ExportResponse
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

from tests.serving import RealServer

PATH = "/prometheus/api/v1/otlp/v1/metrics"
CYCLES = int(os.environ.get("FAULT_CYCLES", "6"))
START_MS = int(time.time() * 1000) - 3_600_000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    server.start()
    yield server
    if server.process is not None:
        server.kill()


def query(server: RealServer, expression: str, at: float | None = None) -> list[dict[str, Any]]:
    asked = {"query": expression, "time": str(time.time() if at is None else at)}
    address = f"{server.url}/prometheus/api/v1/query?" + urllib.parse.urlencode(asked)
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.load(answer)["data"]["result"]


def value(server: RealServer, expression: str, at: float | None = None) -> float:
    (found,) = query(server, expression, at)
    return float(found["value"][1])


@pytest.mark.parametrize("temporality", [AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA])
def test_the_sdk_is_understood(server: RealServer, temporality: AggregationTemporality) -> None:
    exporter = OTLPMetricExporter(
        endpoint=server.url + PATH,
        compression=Compression.Gzip,
        preferred_temporality={Counter: temporality, Histogram: temporality},
    )
    # Only what is flushed is sent.
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=3_600_000)
    resource = Resource.create(
        {"service.name": "checkout", "service.namespace": "shop", "service.instance.id": "web-1", "host.name": "a"}
    )
    fine = View(instrument_name="fine.duration", aggregation=ExponentialBucketHistogramAggregation())
    provider = MeterProvider([reader], resource, views=[fine])
    meter = provider.get_meter("shop")
    orders = meter.create_counter("orders", description="Orders taken.")
    duration = meter.create_histogram("http.server.duration", "ms", explicit_bucket_boundaries_advisory=[10.0, 100.0])
    exact = meter.create_histogram("fine.duration", "s")
    meter.create_up_down_counter("queue.length").add(4)
    for round_ in range(3):
        orders.add(5, {"http.route": "/buy"})
        duration.record(5 + 50 * round_)
        for thousandth in range(1, 1001):
            exact.record(thousandth / 1000)
        assert provider.force_flush(60_000)
    provider.shutdown()
    assert value(server, 'orders_total{job="shop/checkout",instance="web-1",http_route="/buy"}') == 15
    assert value(server, 'http_server_duration_milliseconds_bucket{le="10"}') == 1
    assert value(server, 'http_server_duration_milliseconds_bucket{le="+Inf"}') == 3
    assert value(server, "http_server_duration_milliseconds_sum") == 165
    assert value(server, "queue_length") == 4
    assert value(server, "fine_duration_seconds_count") == 3000
    assert 0.9 / 1.19 < value(server, "histogram_quantile(0.9, fine_duration_seconds_bucket)") < 0.9 * 1.19
    assert query(server, 'target_info{job="shop/checkout",host_name="a"}')
    with urllib.request.urlopen(f"{server.url}/prometheus/api/v1/metadata?metric=orders_total") as answer:
        (entry,) = json.load(answer)["data"]["orders_total"]
    assert entry == {"type": "counter", "help": "Orders taken.", "unit": ""}


class Sender(threading.Thread):
    """Sends a delta of one for each second until it is acknowledged, as an SDK does that hears nothing."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(daemon=True)
        self.acknowledged = 0
        self.retries = 0
        self.surprises: list[str] = []
        self.ending = threading.Event()
        self._url = url
        self._name = name

    def run(self) -> None:
        pool = urllib3.PoolManager(retries=False, timeout=60)
        while not self.ending.is_set():
            at = START_MS + 1000 * (self.acknowledged + 1)
            try:
                answer = pool.request(
                    "POST", self._url, body=self._body(at), headers={"content-type": "application/x-protobuf"}
                )
            except urllib3.exceptions.HTTPError:
                self.retries += 1
                time.sleep(0.02)
                continue
            if answer.status == 503:
                continue
            if answer.status != 200 or ExportResponse.FromString(answer.data).HasField("partial_success"):
                self.surprises.append(f"{answer.status} {answer.data[:500]!r}")
                return
            self.acknowledged += 1

    def _body(self, at: int) -> bytes:
        point = {
            "startTimeUnixNano": str((at - 1000) * 1_000_000),
            "timeUnixNano": str(at * 1_000_000),
            "asInt": "1",
            "attributes": [{"key": "sender", "value": {"stringValue": self._name}}],
        }
        total = {"dataPoints": [point], "isMonotonic": True, "aggregationTemporality": 1}
        request = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "killed", "sum": total}]}]}]}
        return json_format.ParseDict(request, ExportRequest()).SerializeToString()


@pytest.mark.timeout(300 + 60 * CYCLES)
def test_deltas_survive_kills_and_none_counts_twice(server: RealServer) -> None:
    randomly = random.Random(20261124)
    senders = [Sender(server.url + PATH, str(number)) for number in range(3)]
    for sender in senders:
        sender.start()
    try:
        for _ in range(CYCLES):
            time.sleep(randomly.uniform(0, 1.2))
            server.kill()
            server.start()
        deadline = time.monotonic() + 120
        while min(sender.acknowledged for sender in senders) <= CYCLES and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        for sender in senders:
            sender.ending.set()
        for sender in senders:
            sender.join(120)
    assert [sender.surprises for sender in senders] == [[]] * 3
    assert sum(sender.retries for sender in senders) > 0
    for number, sender in enumerate(senders):
        assert sender.acknowledged > CYCLES
        at = START_MS / 1000 + sender.acknowledged
        # A zero where counting began, then each delta once.
        selector = f'killed_total{{sender="{number}"}}'
        assert value(server, selector, at) == sender.acknowledged
        assert value(server, f"count_over_time({selector}[2h])", at) == sender.acknowledged + 1
