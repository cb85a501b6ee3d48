"""Under which names requests are counted by route, and whose counts are read. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.records.model import FloatArray


@dataclass(frozen=True, slots=True, order=True)
class RouteKey:
    """A route and its method."""

    method: str
    route: str

    @property
    def name(self) -> str:
        """As people write it: GET /users/:id."""
        return f"{self.method} {self.route}".strip()


OTHER_ROUTES = RouteKey("", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Names under which somebody counts requests by route; `seconds` and `sent_bytes` may not be there."""

    count: str
    seconds: str
    sent_bytes: str = ""
    route: str = "route"
    method: str = "method"
    code: str = "code"

    def job_of(self, labels: Mapping[str, str]) -> str | None:
        """Who counted a series; None of those that name no route."""
        return labels.get("job", "") if labels.get(self.route) else None


REQUESTS: Sequence[Requests] = (
    Requests(
        count="http_requests_total",
        seconds="http_request_duration_seconds_sum",
        sent_bytes="http_response_bytes_total",
    ),
    Requests(
        count="http_server_request_duration_seconds_count",
        seconds="http_server_request_duration_seconds_sum",
        route="http_route",
        method="http_request_method",
        code="http_response_status_code",
    ),
    Requests(count="http_request_duration_seconds_count", seconds="http_request_duration_seconds_sum"),
)
"""The first that is there is read: from access logs, by OpenTelemetry, and as many a library has it."""


def busiest_job(by_job: Mapping[str | None, FloatArray]) -> str | None:
    """Of several that count the same requests, as a proxy and the application behind it, the one that counted most."""
    counts = {job: float(values.sum()) for job, values in by_job.items() if job is not None}
    return max(sorted(counts), key=lambda job: counts[job], default=None)
