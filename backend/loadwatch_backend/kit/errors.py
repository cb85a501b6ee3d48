"""The base of every error that reaches a client, and its one JSON shape (RFC 9457 problem details).

    ProblemError
    ├── BadRequestError        400
    ├── UnauthorizedError      401
    ├── ForbiddenError         403
    ├── NotFoundError          404
    ├── MethodNotAllowedError  405
    ├── PayloadTooLargeError   413
    ├── UnsupportedMediaError  415
    ├── InvalidError           422, understood, and against a rule
    ├── LimitError             422, names the limit and how to raise it
    ├── TooManyRequestsError   429, says when to come again
    └── UnavailableError       503, worth trying again

Slices derive their own errors from these and give each a stable `code`.
"""

from typing import Any, ClassVar


class ProblemError(Exception):
    """An error with an HTTP status and a stable code; `detail` says what, where, and what to do."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"

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
        """What the answer says beside its document."""
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


class BadRequestError(ProblemError):
    """The request cannot be understood."""

    status = 400
    code = "bad-request"
    title = "Bad request"


class UnauthorizedError(ProblemError):
    """No valid token or session came with the request."""

    status = 401
    code = "unauthorized"
    title = "Not signed in"


class ForbiddenError(ProblemError):
    """The token is valid and does not allow this."""

    status = 403
    code = "forbidden"
    title = "Not allowed"


class NotFoundError(ProblemError):
    """There is no such thing."""

    status = 404
    code = "not-found"
    title = "Not found"


class MethodNotAllowedError(ProblemError):
    """The path exists and does not take this method."""

    status = 405
    code = "method-not-allowed"
    title = "Method not allowed"


class PayloadTooLargeError(ProblemError):
    """The body is larger than the limit."""

    status = 413
    code = "payload-too-large"
    title = "Payload too large"


class UnsupportedMediaError(ProblemError):
    """The body's type or encoding is not one that the route takes."""

    status = 415
    code = "unsupported-media"
    title = "Unsupported media type"


class InvalidError(ProblemError):
    """The request can be understood and is against a rule; `detail` says which."""

    status = 422
    code = "invalid"
    title = "Invalid request"


class LimitError(ProblemError):
    """A limit would be passed; `detail` names it and how to raise it."""

    status = 422
    code = "limit"
    title = "Limit reached"


class TooManyRequestsError(ProblemError):
    """Somebody asks too often; the answer's `Retry-After` says when to come again."""

    status = 429
    code = "too-many-requests"
    title = "Too many requests"

    def __init__(self, detail: str, *, retry_after_seconds: int) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds

    def headers(self) -> dict[str, str]:
        """When to come again."""
        return {"Retry-After": str(self.retry_after_seconds)}


class UnavailableError(ProblemError):
    """The server cannot do this now; the same request may work later."""

    status = 503
    code = "unavailable"
    title = "Unavailable"

    def headers(self) -> dict[str, str]:
        """When to come again."""
        return {"Retry-After": "5"}
