from collections.abc import Callable
from typing import Any

import pytest

SECOND = 1_000
Values = dict[str, float]


@pytest.fixture
def ask(server: Any) -> Callable[[str], Values]:
    """The newest value of each series of a signal, by its name."""

    def ask(signal: str) -> Values:
        now = server.clock.now_ms
        body = {"signals": [signal], "start_ms": now - 30 * SECOND, "end_ms": now, "max_points": 60}
        answer = server.client.post("/api/signals/query", json=body)
        assert answer.status_code == 200, answer.text
        (result,) = answer.json()["results"]
        assert result["error"] is None
        newest = {
            series["name"]: [value for value in series["values"] if value is not None] for series in result["series"]
        }
        return {name: round(values[-3], 6) for name, values in newest.items() if len(values) > 3}

    return ask


def write(server: Any, job: str, name: str, rate: float, instance: str = "web-1", **labels: str) -> None:
    now = server.clock.now_ms
    samples = [(now - (60 - second) * SECOND, rate * second) for second in range(61)]
    server.write(({"__name__": name, "job": job, "instance": instance, **labels}, samples))


def write_buckets(server: Any, job: str, name: str, *, scale: float = 1.0, **labels: str) -> None:
    """Ten requests a second, of which nine take at most 0.1 s."""
    for bound, rate in (("0.1", 9), ("0.2", 10), ("+Inf", 10)):
        le = bound if bound == "+Inf" else f"{float(bound) * scale:g}"
        write(server, job, name, rate, le=le, **labels)


def test_a_job_that_counts_twice_is_read_once_by_the_stated_order(server: Any, ask: Callable[[str], Values]):
    write(server, "shop", "http_requests_total", 100, route="/items/:id", method="GET", code="200")
    write(server, "shop", "http_requests_total", 7, handler="/items", status="200")
    write(server, "shop", "http_request_duration_seconds_count", 3, path="/items")
    write(server, "shop", "nginx_http_requests_total", 105)
    write(server, "edge", "nginx_http_requests_total", 120)
    write(server, "edge", "envoy_cluster_upstream_rq_total", 11)
    write(
        server, "api", "http_server_request_duration_seconds_count", 5, http_route="/a", http_response_status_code="500"
    )
    write(server, "api", "http_requests_total", 4, code="200")
    write(server, "mesh", "envoy_cluster_upstream_rq_total", 20)
    write(server, "gate", "traefik_service_requests_total", 30, code="200")
    write(server, "old", "nginx_vts_server_requests_total", 40, host="*", code="2xx")
    write(server, "old", "nginx_vts_server_requests_total", 40, host="*", code="total")
    write(server, "old", "nginx_vts_server_requests_total", 40, host="example.org", code="2xx")
    rates = {"shop": 100, "edge": 120, "api": 5, "mesh": 20, "gate": 30, "old": 40}
    assert ask("rps_answered") == {f"Answered · {job}": rate for job, rate in rates.items()}
    assert ask("requests_rate") == {f"{job} web-1": rate for job, rate in rates.items()}


def test_proxies_that_count_a_request_at_several_places_are_read_once(server: Any, ask: Callable[[str], Values]):
    write(server, "ingress", "nginx_ingress_controller_requests", 9, status="200", path="/")
    write(server, "ingress", "nginx_ingress_controller_requests", 1, status="503", path="/")
    write(server, "gate", "traefik_service_requests_total", 30, code="200")
    write(server, "gate", "traefik_entrypoint_requests_total", 31, entrypoint="web", code="200")
    write(server, "door", "traefik_entrypoint_requests_total", 40, entrypoint="web", code="200")
    write(server, "door", "traefik_entrypoint_requests_total", 10, entrypoint="websecure", code="500")
    write(server, "door", "traefik_entrypoint_requests_total", 7, entrypoint="traefik", code="200")
    for prefix, rate in (("ingress_http", 20), ("admin", 3)):
        labels = {"envoy_http_conn_manager_prefix": prefix}
        write(server, "mesh", "envoy_http_downstream_rq_total", rate, **labels)
        write(server, "mesh", "envoy_http_downstream_rq_xx", rate / 4, **labels, envoy_response_code_class="5")
        write_buckets(server, "mesh", "envoy_http_downstream_rq_time_bucket", scale=1_000, **labels)
    write(server, "mesh", "envoy_cluster_upstream_rq_total", 25)
    write_buckets(server, "ingress", "nginx_ingress_controller_request_duration_seconds_bucket", status="200")
    write_buckets(server, "door", "traefik_entrypoint_request_duration_seconds_bucket", entrypoint="web")
    assert ask("requests_rate") == {"ingress web-1": 10, "gate web-1": 30, "door web-1": 50, "mesh web-1": 20}
    assert ask("requests_failed") == {
        **{"ingress web-1": pytest.approx(0.1), "gate web-1": 0, "door web-1": 0.2, "mesh web-1": 0.25}
    }
    latencies = ask("latency_answered")
    assert latencies == {f"Web server p95 · {job}": pytest.approx(0.15) for job in ("ingress", "door", "mesh")}


def test_failures_are_right_or_absent(server: Any, ask: Callable[[str], Values]):
    write(server, "log", "http_requests_total", 90, route="/", method="GET", code="200")
    write(server, "log", "http_requests_total", 10, route="/", method="GET", code="502")
    write(server, "fine", "http_requests_total", 50, route="/", method="GET", code="304")
    write(server, "client", "http_requests_total", 6, status="200")
    write(server, "client", "http_requests_total", 2, status="500")
    # Nothing tells what nginx answered: no share, and not 0.
    write(server, "stub", "nginx_http_requests_total", 50)
    write(server, "mesh", "envoy_cluster_upstream_rq_total", 20)
    write(server, "mesh", "envoy_cluster_upstream_rq_xx", 5, envoy_response_code_class="5")
    shares = {"log web-1": 0.1, "fine web-1": 0.0, "client web-1": 0.25, "mesh web-1": 0.25}
    assert ask("requests_failed") == shares
    rates = {"Answered 5xx · log": 10, "Answered 5xx · client": 2, "Answered 5xx · mesh": 5}
    assert ask("failures_answered") == rates


def test_latency_is_read_from_whichever_histogram_there_is(server: Any, ask: Callable[[str], Values]):
    write_buckets(server, "log", "http_request_duration_seconds_bucket", route="/", method="GET")
    write_buckets(server, "log", "http_request_duration_seconds_bucket", handler="/slow", scale=100)
    write_buckets(server, "otel", "http_server_request_duration_seconds_bucket", http_route="/")
    write_buckets(server, "mesh", "envoy_cluster_upstream_rq_time_bucket", scale=1_000)
    found = ask("latency_answered")
    assert found == {f"Web server p95 · {job}": pytest.approx(0.15) for job in ("log", "otel", "mesh")}
    assert ask("requests_p50")["p50 · log web-1"] == pytest.approx(0.055556, abs=1e-5)


def test_answers_by_status_with_304_apart(server: Any, ask: Callable[[str], Values]):
    for code, rate in (("200", 5), ("201", 2), ("304", 4), ("301", 1), ("404", 3)):
        write(server, "log", "http_requests_total", rate, route="/", method="GET", code=code)
    assert ask("requests_status") == {"log 2xx": 7, "log 304": 4, "log 3xx": 1, "log 4xx": 3}


def test_routes_by_time(server: Any, ask: Callable[[str], Values]):
    name = "http_request_duration_seconds_sum"
    write(server, "log", name, 2.5, route="/items/:id", method="GET")
    write(server, "log", name, 0.5, route="/login", method="POST", instance="web-2")
    write(server, "api", "http_server_request_duration_seconds_sum", 1, http_route="/a", http_request_method="PUT")
    found = ask("requests_routes")
    assert found == {"log GET /items/:id": 2.5, "log POST /login": 0.5, "api PUT /a": 1}
