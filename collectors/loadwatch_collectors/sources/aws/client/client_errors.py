"""AWS's error codes to the errors of `errors.py`. Pure: no botocore in this file.

What to do stands before AWS's own words, since a series' label has room for 200 characters of a message.
"""

import re
from dataclasses import dataclass

from loadwatch_collectors.sources.aws.client.errors import (
    AwsError,
    ClockError,
    CredentialsError,
    ExpiredError,
    ForbiddenError,
    RequestError,
    ServiceError,
    ThrottledError,
)

CLOCK_TOLERANCE_SECONDS = 60.0
"""A clock that is wrong by more is named wherever a signature is refused; AWS itself tolerates about five minutes."""

# botocore/retries/standard.py, ThrottledRetryableChecker, and the words that single services use.
_THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceeded",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_FORBIDDEN = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AuthorizationErrorException",
        "Forbidden",
        "NotAuthorized",
        "NotAuthorizedException",
        "UnauthorizedOperation",
    }
)
# EC2 says RequestExpired for credentials whose time is over and for a wrong clock alike.
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
_REFUSED = frozenset(
    {
        "AuthFailure",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "InvalidToken",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_CLOCK = frozenset({"RequestInTheFuture", "RequestTimeTooSkewed"})
_CLOCK_IF_FAR = frozenset({"InvalidSignatureException", "RequestExpired", "SignatureDoesNotMatch"})
_CLOCK_TEXT = re.compile(r"signature (expired|not yet current)|too skewed", re.IGNORECASE)
_ACTION = re.compile(r"not authorized to perform:? ([a-z0-9-]+:[A-Za-z*]+)")
_CODE_TAIL = re.compile(r".*#")
# Times and ids differ in each answer; in the label of a series they would make a new one each minute.
_PASSING = re.compile(r"\b\d{8}T\d{6}Z\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")

_IAM_PREFIXES = {
    "application-autoscaling": "application-autoscaling",
    "elb": "elasticloadbalancing",
    "elbv2": "elasticloadbalancing",
    "resourcegroupstaggingapi": "tag",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer that is an error. `operation` is AWS's word, such as `DescribeDBInstances`; `where` is for the text."""

    service: str
    operation: str
    where: str
    status: int
    code: str
    message: str
    offset_seconds: float | None = None
    """By how much this host's clock is ahead of AWS's, by the answer's Date."""


def iam_action(service: str, operation: str) -> str:
    """The name of an operation in a policy: `elbv2`, `DescribeTags` is `elasticloadbalancing:DescribeTags`."""
    return f"{_IAM_PREFIXES.get(service, service)}:{operation}"


def explain(refusal: Refusal) -> AwsError:
    """The error for an answer, with what to do about it."""
    code = _CODE_TAIL.sub("", refusal.code)
    what = f"{refusal.service} {refusal.operation} in {refusal.where}"
    said = f"{code}: {_PASSING.sub('…', refusal.message)}" if refusal.message else code
    if code in _THROTTLED or refusal.status in (429, 503):
        return ThrottledError(f"{what}: AWS throttles ({said})", code=code)
    if _is_clock(refusal, code):
        return _explain_clock(refusal, what, code, said)
    if code in _EXPIRED:
        return ExpiredError(
            f"{what}: the credentials have expired, and reading them again gave no newer ones; renew them where they "
            f"come from{_clock_hint(refusal)} ({said})",
            code=code,
        )
    if code in _FORBIDDEN:
        found = _ACTION.search(refusal.message)
        action = found[1] if found else iam_action(refusal.service, refusal.operation)
        return ForbiddenError(f"{what}: the permission {action} is missing ({said})", action=action, code=code)
    if code in _REFUSED:
        return CredentialsError(
            f"{what}: AWS refuses the credentials; check the key or role, and that the region is enabled for the "
            f"account{_clock_hint(refusal)} ({said})",
            code=code,
        )
    if refusal.status >= 500 or code in ("InternalFailure", "InternalServiceError", "InternalServiceFault"):
        return ServiceError(f"{what}: AWS failed ({refusal.status} {said})", code=code)
    return RequestError(f"{what}: AWS refuses the request ({said})", code=code)


def _is_clock(refusal: Refusal, code: str) -> bool:
    if code in _CLOCK or _CLOCK_TEXT.search(refusal.message):
        return True
    far = abs(refusal.offset_seconds or 0.0) > CLOCK_TOLERANCE_SECONDS
    return far and code in _CLOCK_IF_FAR


def describe_offset(offset_seconds: float) -> str:
    """An offset in words, such as `5 min 10 s ahead of AWS's`; beyond a minute to ten seconds."""
    seconds = round(abs(offset_seconds))
    seconds = seconds if seconds < 60 else round(seconds, -1)
    minutes, rest = divmod(seconds, 60)
    amount = (f"{minutes} min {rest} s" if rest else f"{minutes} min") if minutes else f"{rest} s"
    return f"{amount} {'ahead of' if offset_seconds > 0 else 'behind'} AWS's"


def _explain_clock(refusal: Refusal, what: str, code: str, said: str) -> ClockError:
    offset = refusal.offset_seconds
    if offset is None or abs(offset) < 1:
        wrong = "this host's clock is wrong, or the request waited too long on its way"
    else:
        wrong = f"this host's clock is {describe_offset(offset)}"
    return ClockError(
        f"{what}: AWS refuses the signature because {wrong}; set the clock (chrony, systemd-timesyncd) ({said})",
        offset_seconds=offset,
        code=code,
    )


def _clock_hint(refusal: Refusal) -> str:
    offset = refusal.offset_seconds
    if offset is None or abs(offset) <= CLOCK_TOLERANCE_SECONDS:
        return ""
    return f". This host's clock is {describe_offset(offset)}, which may be the reason"
