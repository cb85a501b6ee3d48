"""Turns whatever goes wrong into the one error type that has a JSON shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_backend.core.errors import (
    BadRequestError,
    InvalidError,
    MethodNotAllowedError,
    NotFoundError,
    ProblemError,
)
from loadwatch_backend.core.schemas import PROBLEM_MEDIA_TYPE

PROMETHEUS_PREFIX = "/prometheus/api/"
PROMETHEUS_WRITE = "/prometheus/api/v1/write"
PROMETHEUS_OTLP = "/prometheus/api/v1/otlp/v1/metrics"
ALERTMANAGER_PREFIX = "/alertmanager/api/"


class MalformedError(BadRequestError, code="malformed-json", title="Not JSON"):
    """The body is not JSON at all."""


def problem_of_validation(errors: Sequence[Mapping[str, Any]]) -> ProblemError:
    if any(error["type"] == "json_invalid" for error in errors):
        first = errors[0]
        return MalformedError(f"The body is not JSON: {first.get('ctx', {}).get('error', 'it cannot be parsed')}.")
    found = [{"field": ".".join(str(part) for part in error["loc"]), "problem": str(error["msg"])} for error in errors]
    return InvalidError("; ".join(f"{item['field']}: {item['problem']}" for item in found), errors=found)


def problem_of_status(status: int, detail: str, method: str, path: str) -> ProblemError:
    if status == 404:
        return NotFoundError(f"There is nothing at {path}.")
    if status == 405:
        return MethodNotAllowedError(f"{path} does not take {method}.")
    if status == 400:
        return BadRequestError(detail)
    error = ProblemError(detail)
    error.status = status  # pyright: ignore[reportAttributeAccessIssue] - a class constant elsewhere, known only here
    return error


def is_prometheus_path(path: str) -> bool:
    """Whether errors at the path have the shape of Prometheus' HTTP API, which Grafana reads."""
    return path.startswith(PROMETHEUS_PREFIX) and path not in (PROMETHEUS_WRITE, PROMETHEUS_OTLP)


_KINDS = {
    400: "bad_data",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "bad_data",
    413: "bad_data",
    422: "execution",
    429: "unavailable",
    503: "unavailable",
}


def error_document(error: ProblemError, path: str) -> tuple[dict[str, Any] | str, str]:
    """The error in the form that errors have at the path, and its media type; below Alertmanager's API it is a text."""
    if path.startswith(ALERTMANAGER_PREFIX):
        return error.detail, "application/json"
    if is_prometheus_path(path):
        kind = _KINDS.get(error.status, "internal")
        return {"status": "error", "errorType": kind, "error": error.detail}, "application/json"
    return error.problem(path), PROBLEM_MEDIA_TYPE
