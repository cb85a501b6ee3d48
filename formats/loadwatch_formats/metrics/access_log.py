"""What the collector `access_log` sends: requests by route, from the log of any web server."""

from collections.abc import Sequence

from loadwatch_formats.metrics.model import describe

BOUNDS: Sequence[float] = tuple(round(0.0005 * 2 ** (step / 4), 9) for step in range(69))
"""Upper bounds of durations in seconds: from 0.5 ms to 65.5 s, each 2^(1/4) times the one before."""

QUANTILE_ERROR = 2 ** (1 / 8) - 1
"""How far a quantile that is read from these buckets may be off: half a bucket, 9 %."""

METRICS = (
    *describe(
        http_requests_total="Requests by route, method and exact status, counted when their line is read.",
        http_response_bytes_total="Bytes of answers by route and method, as the log counts them.",
        access_log_lines_total="Lines of the log, by what became of them: counted, unreadable, or too long.",
        access_log_other_routes_requests_total="Requests under the route `other`, which is beyond the bound of routes.",
        access_log_routes="Routes with a name of their own.",
        access_log_delay_seconds="From the time that the newest line names to its being read: what the server buffers, "
        "and what is still to be caught up with.",
        access_log_lost_files_total="Times that the log was cut or replaced and its rest, if it had one, was gone.",
    ),
    *describe(
        "histogram",
        "seconds",
        http_request_duration_seconds="Durations of requests by route and method, as the log tells them.",
    ),
)
