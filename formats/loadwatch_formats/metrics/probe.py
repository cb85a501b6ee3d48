"""What the collector `probe` sends."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    probe_ingest_lag_seconds="Time from sending a marked request until its row could be read; its age while it is "
    "still on the way.",
    probe_success="0 when the application did not take the marked request, or its row did not come within give_up.",
    probe_error_info="1 while the application does not take marked requests.",
    probe_http_duration_seconds="Time until the marked request was answered.",
    probe_requests_total="Marked requests that were sent; an application counts them among its own.",
    probe_failures_total="Marked requests that failed, by reason: request (no good answer), lost (no row within "
    "give_up).",
)
