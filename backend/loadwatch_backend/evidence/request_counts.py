"""Who counted the requests by which figures are divided."""

from dataclasses import dataclass
from enum import StrEnum


class RequestsBy(StrEnum):
    """Who counted requests."""

    LOAD_TOOL = "load_tool"
    """The tool that sent them."""
    ROUTES = "routes"
    """Whoever counted them by route: an access log, or the application."""


@dataclass(frozen=True, slots=True)
class RequestCount:
    """Requests of a time, and who counted them."""

    requests: float
    by: RequestsBy
