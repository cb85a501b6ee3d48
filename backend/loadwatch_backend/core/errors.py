"""The base of every error that reaches a client, and its one JSON shape (RFC 9457 problem details).

Slices derive their own errors from these and give each a stable `code`.
"""

from typing import Any, ClassVar


class ProblemError(Exception):
    """An error with an HTTP status and a stable code; `detail` says what, where, and what to do."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"

    def __init_subclass__(cls, *, code: str | None = None, status: int | None = None, title: str | None = None) -> None:
        """What a class does not give is as in its base."""
        super().__init_subclass__()
        cls.code, cls.status, cls.title = code or cls.code, status or cls.status, title or cls.title

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra

    @property
    def detail_ja(self) -> str:
        """The same in Japanese, where the error brings it; else empty."""
        said = self.extra.get("detail_ja", "")
        return said if isinstance(said, str) else ""

    def headers(self) -> dict[str, str]:
        return {}

    def problem(self, instance: str) -> dict[str, Any]:
        """The RFC 9457 document for this error at the request path `instance`."""
        return {
            "type": f"urn:loadwatch:error:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "instance": instance,
            **self.extra,
        }


class BadRequestError(ProblemError, code="bad-request", status=400, title="Bad request"):
    """The request cannot be understood."""


class UnauthorizedError(ProblemError, code="unauthorized", status=401, title="Not signed in"):
    """No valid token or session came with the request."""


class ForbiddenError(ProblemError, code="forbidden", status=403, title="Not allowed"):
    """The token is valid and does not allow this."""


class NotFoundError(ProblemError, code="not-found", status=404, title="Not found"):
    """There is no such thing."""


class MethodNotAllowedError(ProblemError, code="method-not-allowed", status=405, title="Method not allowed"):
    """The path exists and does not take this method."""


class PayloadTooLargeError(ProblemError, code="payload-too-large", status=413, title="Payload too large"):
    """The body is larger than the limit."""


class UnsupportedMediaError(ProblemError, code="unsupported-media", status=415, title="Unsupported media type"):
    """The body's type or encoding is not one that the route takes."""


class InvalidError(ProblemError, code="invalid", status=422, title="Invalid request"):
    """The request can be understood and is against a rule; `detail` says which."""


class LimitError(ProblemError, code="limit", status=422, title="Limit reached"):
    """A limit would be passed; `detail` names it and how to raise it."""


class TooManyRequestsError(ProblemError, code="too-many-requests", status=429, title="Too many requests"):
    def __init__(self, detail: str, *, retry_after_seconds: int) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after_seconds)}


class UnavailableError(ProblemError, code="unavailable", status=503, title="Unavailable"):
    """The server cannot do this now; the same request may work later."""

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "5"}
