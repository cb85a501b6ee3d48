"""Who counted the requests by which figures are divided."""

from collections.abc import Sequence
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


def weakest_of(several: Sequence[RequestsBy | None]) -> RequestsBy | None:
    """Who to name where requests of several sides stand together: whoever is not the load tool. Pure."""
    known = [one for one in several if one is not None]
    return RequestsBy.ROUTES if RequestsBy.ROUTES in known else next(iter(known), None)
