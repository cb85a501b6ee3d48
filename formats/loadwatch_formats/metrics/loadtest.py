"""Names of what a run sends while it is under way; the server's importers write the same series from its result."""

REQUESTS = "loadtest_requests_total"
DURATION = "loadtest_request_duration_seconds"
BYTES = "loadtest_bytes_total"
TARGET_RATE = "loadtest_target_rate"
USERS = "loadtest_active_users"
OWN_FIGURE = "loadtest_figure"
GENERATOR_CPU = "loadtest_generator_cpu_ratio"
QUANTILE_LABELS = ("0.5", "0.9", "0.95", "0.99", "1")
FASTEST_LABEL = "0"
"""Of the quickest request of each second."""
