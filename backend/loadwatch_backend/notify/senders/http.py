"""What all senders over HTTP share: headers of the configuration, and what an answer means."""

import base64
from collections.abc import Mapping
from urllib.parse import urlsplit

from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.notify.configuration_model import HttpConfig
from loadwatch_backend.notify.schedule import parse_retry_after
from loadwatch_backend.notify.senders.model import (
    RESPONSE_LENGTH,
    Outcome,
    Result,
    SendContext,
    UnusableError,
)
from loadwatch_backend.notify.transport import BadAddressError, HttpAnswer, HttpRequest, parse_place

AGENT = f"Loadwatch/{VERSION}"
PASSING = frozenset({408, 425, 429})
MOVED = frozenset({301, 308})
OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "webhook-id", "webhook-timestamp"}
    | {"webhook-signature"}
)


def post_json(
    url: str, body: bytes, headers: Mapping[str, str], http: HttpConfig, context: SendContext, seconds: float
) -> HttpAnswer:
    """Post a JSON document as the configuration asks for."""
    given = {"Content-Type": "application/json", "User-Agent": AGENT, **configured_headers(http), **headers}
    request = HttpRequest(url=url, body=body, headers=given, tls=http.tls)
    return context.transport.post(request, seconds)


def configured_headers(http: HttpConfig) -> dict[str, str]:
    """Headers of `http_config`; raises SecretError where a file cannot be read."""
    found: dict[str, str] = {}
    for name, values in http.headers.items():
        if name.lower() in OWN_HEADERS:
            raise UnusableError(f"the header {name} cannot be set: it is part of how messages are sent")
        found[name] = ", ".join(value.reveal() for value in values)
    if http.basic_auth is not None:
        password = "" if http.basic_auth.password is None else http.basic_auth.password.reveal()
        pair = f"{http.basic_auth.username.reveal()}:{password}"
        found["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    if http.authorization is not None:
        found["Authorization"] = f"{http.authorization.type} {http.authorization.credentials.reveal()}"
    return found


def judge(answer: HttpAnswer, now_ms: int) -> Result:
    """What an answer means for the message.

    A 2xx is the receiver's word that it has the message, whatever becomes of the rest of its answer.
    """
    status = answer.status
    response = answer.body[:RESPONSE_LENGTH].decode("utf-8", "replace")
    error = answer.error
    outcome = Outcome.PASSING
    retry_after: float | None = None
    if status is None:
        outcome = Outcome.PERMANENT if answer.forbidden or answer.unusable else Outcome.PASSING
    elif 200 <= status < 300:
        outcome = Outcome.DELIVERED
    elif 300 <= status < 400:
        outcome = Outcome.PERMANENT if status in MOVED else Outcome.PASSING
        error = f"answered {status}, pointing to {_pointed(answer.headers.get('location'))}; redirects are not followed"
    elif status == 410:
        outcome = Outcome.GONE
        error = "answered 410 Gone: nobody takes messages there any more"
    elif status in PASSING or status >= 500:
        retry_after = parse_retry_after(answer.headers.get("retry-after"), now_ms)
        error = f"answered {status}" + (f" and asks to wait {retry_after:.0f} s" if retry_after is not None else "")
    else:
        outcome = Outcome.PERMANENT
        error = f"answered {status}: the same message would be refused again"
    return Result(
        outcome=outcome,
        status_code=status,
        error=error,
        response=response,
        address=answer.address,
        retry_after_seconds=retry_after,
    )


def _pointed(location: str | None) -> str:
    """Where a redirect led, without what may be secret in a query."""
    if not location:
        return "nowhere"
    try:
        parts = urlsplit(location)
    except ValueError:
        return "something that is no address"
    if not parts.netloc:
        return parts.path[:200] or "itself"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:200]


def shown_url(url: str) -> str:
    """A URL for people: without user, path's secrets are the caller's to leave out, values of its query hidden."""
    try:
        place = parse_place(url)
    except BadAddressError as error:
        return f"({error})"
    path, question, query = place.target.partition("?")
    names = "&".join(f"{part.partition('=')[0]}=***" for part in query.split("&")) if question else ""
    return f"{place.scheme}://{place.host_header}{path}{question}{names}"


def shown_host(url: str) -> str:
    """Scheme and host of a URL whose path is a secret."""
    try:
        place = parse_place(url)
    except BadAddressError as error:
        return f"({error})"
    return f"{place.scheme}://{place.host_header}/***"
