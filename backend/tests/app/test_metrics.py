import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loadwatch_backend.app.application import BODY_BYTES
from loadwatch_backend.core.version import VERSION
from loadwatch_formats.metrics.model import metrics_of
from prometheus_client.parser import text_string_to_metric_families


def read(server: Any) -> dict[str, float]:
    text = server.client.get("/metrics").text
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def test_requests_refusals_and_the_store_are_counted(server: Any):
    server.write(({"__name__": "a"}, [(server.clock.now_ms, 1.0)]))
    server.client.get("/api/annotations/7")
    server.client.get("/api/annotations/8")
    server.client.get("/no/such/page")
    found = read(server)
    asked = "method=GET,route=/api/annotations/{annotation_id},status=404"
    assert found[f"loadwatch_http_request_duration_seconds_count{{{asked}}}"] == 2
    assert found["loadwatch_http_refusals_total{code=annotation-not-found}"] == 2
    assert found["loadwatch_http_request_duration_seconds_count{method=GET,route=other,status=404}"] == 1
    assert found["loadwatch_store_series{}"] == 1
    assert found["loadwatch_store_samples_appended_total{}"] == 1
    assert found[f"loadwatch_build_info{{version={VERSION}}}"] == 1
    assert found["loadwatch_live_streams{}"] == 0
    assert found["process_open_fds{}"] > 0


def test_the_metrics_are_those_of_the_catalogue(server: Any):
    server.client.get("/api/annotations/7")
    shown = {
        (family.name, family.type, family.documentation)
        for family in text_string_to_metric_families(server.client.get("/metrics").text)
        if family.name.startswith("loadwatch_") and not family.name.endswith("_created")
    }
    # The parser knows counters without their ending, and what is only information as a gauge.
    described = {
        (metric.name.removesuffix("_total"), "gauge" if metric.type == "info" else metric.type, metric.help)
        for metric in metrics_of("loadwatch")["server"]
    }
    assert shown == described


def test_every_refusal_of_ingest_has_a_counter_with_its_reason(server: Any):
    server.client.post("/prometheus/api/v1/write", content=b"x", headers={"content-type": "text/plain"})
    headers = {"content-type": "application/x-protobuf", "content-encoding": "snappy"}
    server.client.post("/prometheus/api/v1/write", content=b"\xff\xff", headers=headers)
    found = {name: value for name, value in read(server).items() if "rejected_requests" in name}
    assert sum(found.values()) == 2
    assert all(re.search(r"reason=\w+", name) for name in found)


def test_refusals_at_the_door_are_counted(start_server: Callable[..., Any], tmp_path: Path):
    with start_server(tmp_path) as running:
        running.client.post("/api/annotations", content=b"x" * (BODY_BYTES + 1))
        running.client.get("/api/status", headers={"host": "evil.example"})
        found = read(running)
    assert found["loadwatch_http_refusals_total{code=body-too-large}"] == 1
    assert found["loadwatch_http_refusals_total{code=foreign-host}"] == 1


def test_health_and_readiness(server: Any):
    assert server.client.get("/-/healthy").text == "Loadwatch is healthy.\n"
    assert server.client.get("/-/ready").status_code == 200
    services, server.app.state.services = server.services, None
    assert server.client.get("/-/healthy").status_code == 200
    starting = server.client.get("/-/ready")
    server.app.state.services = services
    assert (starting.status_code, starting.json()["code"]) == (503, "not-ready")
