"""How far this host's clock is from the server's, from the headers of its answers."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

TIME_HEADER = "X-Loadwatch-Time"
"""Our server's clock in milliseconds since the epoch, when it began to answer."""

_DATE_GRAIN_MS = 2_000
"""`Date` has whole seconds, and servers such as uvicorn refresh it once a second only."""


def measure_skew(headers: Mapping[str, str], sent_ms: float, received_ms: float) -> float | None:
    """Seconds by which the agent's clock is ahead of the server's; negative when behind, None when unknown.

    With `X-Loadwatch-Time` the error is at most half of the request's duration. With `Date` alone it is the least
    difference that the header proves, so 0 stands for "within two seconds".
    """
    exact = headers.get(TIME_HEADER)
    if exact is not None:
        try:
            server_ms = float(exact)
        except ValueError:
            return None
        return ((sent_ms + received_ms) / 2 - server_ms) / 1000
    try:
        date_ms = parsedate_to_datetime(headers["Date"]).timestamp() * 1000
    except (KeyError, ValueError, TypeError):
        return None
    least, most = sent_ms - date_ms - _DATE_GRAIN_MS, received_ms - date_ms
    if least > 0:
        return least / 1000
    return min(most, 0.0) / 1000
