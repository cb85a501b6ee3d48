"""The metrics that a run under way sends; the server's importers write the same series from the result."""

from collections.abc import Sequence

from loadwatch_collectors.collector import MetricInfo

LOAD_METRICS: Sequence[MetricInfo] = (
    MetricInfo(
        name="loadtest_requests_total",
        type="counter",
        help="Requests of a run by outcome: ok, timeout, reset, refused, dns, http_4xx, http_5xx, assertion, other.",
    ),
    MetricInfo(
        name="loadtest_request_duration_seconds",
        type="gauge",
        help="Quantile of the requests that started in the second before, by nearest rank.",
        unit="seconds",
    ),
    MetricInfo(name="loadtest_bytes_total", type="counter", help="Bytes of bodies by direction.", unit="bytes"),
    MetricInfo(name="loadtest_target_rate", type="gauge", help="Requests per second that were asked for."),
    MetricInfo(
        name="loadtest_generator_cpu_ratio", type="gauge", help="CPU in use on the host that `loadwatch run` runs on."
    ),
    MetricInfo(name="loadtest_active_users", type="gauge", help="Users that the load tool simulates."),
)
