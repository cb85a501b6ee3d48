"""What a run sends while it is under way; the server's importers write the same series from its result."""

from loadwatch_formats.metrics.model import describe
from loadwatch_formats.outcomes import OUTCOMES

REQUESTS = "loadtest_requests_total"
DURATION = "loadtest_request_duration_seconds"
BYTES = "loadtest_bytes_total"
TARGET_RATE = "loadtest_target_rate"
USERS = "loadtest_active_users"
GENERATOR_CPU = "loadtest_generator_cpu_ratio"
QUANTILE_LABELS = ("0.5", "0.9", "0.95", "0.99", "1")
"""Of `DURATION`."""
FASTEST_LABEL = "0"
"""Of the quickest request of each second."""

METRICS = describe(
    loadtest_requests_total=f"Requests of a run by outcome: {', '.join(OUTCOMES)}.",
    loadtest_request_duration_seconds=(
        "Latency of the second's requests, by nearest rank; quantile 0 is the fastest, 1 the slowest."
    ),
    loadtest_bytes_total="Bytes of answers (in) and requests (out).",
    loadtest_target_rate="Requests per second that were asked for.",
    loadtest_generator_cpu_ratio="CPU in use on the host that `loadwatch run` runs on.",
    loadtest_active_users="Users that the load tool simulates.",
)
