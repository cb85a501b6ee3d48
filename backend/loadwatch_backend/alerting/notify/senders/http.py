"""What all senders over HTTP share: headers of the configuration, and what an answer means."""

import base64
from collections.abc import Mapping
from urllib.parse import urlsplit

from loadwatch_formats.retry_after import parse_retry_after

from loadwatch_backend.alerting.notify.senders.http_config import HttpConfig
from loadwatch_backend.alerting.notify.senders.model import (
    RESPONSE_LENGTH,
    AttemptOutcome,
    Result,
    SendContext,
    UnusableError,
)
from loadwatch_backend.alerting.notify.senders.transport import BadAddressError, HttpAnswer, HttpRequest, parse_address
from loadwatch_backend.core.version import VERSION

AGENT = f"Loadwatch/{VERSION}"
PASSING = frozenset({408, 425, 429})
LONGEST_RETRY_AFTER_SECONDS = 3_600.0
"""A receiver may not silence its alerts for longer by one answer."""
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
    for name, header in http.headers.items():
        if name.lower() in OWN_HEADERS:
            raise UnusableError(f"the header {name} cannot be set: it is part of how messages are sent")
        found[name] = ", ".join(value.reveal() for value in header.all)
    if http.basic_auth is not None:
        password = "" if http.basic_auth.password is None else http.basic_auth.password.reveal()
        pair = f"{http.basic_auth.username.reveal()}:{password}"
        found["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    if http.bearer_token is not None:
        found["Authorization"] = f"Bearer {http.bearer_token.reveal()}"
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
    outcome = AttemptOutcome.PASSING
    retry_after: float | None = None
    if status is None:
        outcome = AttemptOutcome.PERMANENT if answer.forbidden or answer.unusable else AttemptOutcome.PASSING
    elif 200 <= status < 300:
        outcome = AttemptOutcome.DELIVERED
    else:
        permanent = status in MOVED or (400 <= status < 500 and status not in PASSING)
        outcome = AttemptOutcome.PERMANENT if permanent else AttemptOutcome.PASSING
        retry_after = parse_retry_after(answer.headers.get("retry-after"), now_ms, LONGEST_RETRY_AFTER_SECONDS)
        error = _refusal_text(status, answer)
        error += f" and asks to wait {retry_after:.0f} s" if retry_after is not None else ""
    return Result(
        outcome=outcome,
        status_code=status,
        error=error,
        response=response,
        address=answer.address,
        retry_after_seconds=retry_after,
    )


def _refusal_text(status: int, answer: HttpAnswer) -> str:
    if 300 <= status < 400:
        pointed = _pointed(answer.headers.get("location"))
        return f"answered {status}, pointing to {pointed}; redirects are not followed"
    if status == 410:
        return "answered 410 Gone: nobody takes messages there any more"
    return f"answered {status}"


def _pointed(location: str | None) -> str:
    """Where a redirect led, without its path, which is often that of the secret address."""
    if not location:
        return "nowhere"
    try:
        parts = urlsplit(location)
    except ValueError:
        return "something that is no address"
    if not parts.netloc:
        return "another path of its own"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/***"[:200]


def shown_host(url: str) -> str:
    """Scheme and host of a URL; the path of a webhook is often its only secret."""
    try:
        address = parse_address(url)
    except BadAddressError as error:
        return f"({error})"
    return f"{address.scheme}://{address.host_header}/***"
