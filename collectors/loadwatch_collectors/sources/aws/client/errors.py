"""What may go wrong with an AWS API, in our own words.

AwsError                     (a CollectorError) says what was asked, of which account and region
├── ThrottledError           asked too fast; try again later, with backoff
├── ForbiddenError           a permission is missing; names the action
├── CredentialsError         no credentials, or they are refused
│   ├── ExpiredError         ... because their time is over
│   └── ClockError           ... because this host's clock is wrong; tells by how much
├── UnreachableError         no answer: connection, name, time
│   └── OutOfTimeError       ... since this poll's time was over before it was asked
├── ServiceError             AWS failed (5xx)
└── RequestError             AWS does not understand the request (4xx)
"""

import re
from typing import NamedTuple

from loadwatch_collectors.errors import CollectorError


class AwsError(CollectorError):
    """An AWS API could not be read; `code` is AWS's own word for why, or empty."""

    outcome = "error"
    """The outcome under which `aws_api_requests_total` counts it."""

    def __init__(self, text: str, *, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class ThrottledError(AwsError):
    outcome = "throttled"


class ForbiddenError(AwsError):
    """A permission is missing; `action` is its name in a policy, such as `rds:DescribeDBInstances`."""

    outcome = "forbidden"

    def __init__(self, text: str, *, action: str, code: str = "") -> None:
        super().__init__(text, code=code)
        self.action = action


ASSUME_ROLE = "sts:AssumeRole"
"""Without this permission nothing of the account can be read."""


class CredentialsError(AwsError):
    outcome = "credentials"


class ExpiredError(CredentialsError):
    outcome = "expired"


class ClockError(CredentialsError):
    """Signatures are refused since this host's clock is wrong by `offset_seconds` (positive: ahead of AWS)."""

    outcome = "clock"

    def __init__(self, text: str, *, offset_seconds: float | None, code: str = "") -> None:
        super().__init__(text, code=code)
        self.offset_seconds = offset_seconds


class UnreachableError(AwsError):
    outcome = "unreachable"


class OutOfTimeError(UnreachableError):
    """It was not asked: the time of this poll is over."""


class ServiceError(AwsError):
    outcome = "failed"


class RequestError(AwsError):
    outcome = "refused"


# AWS's error codes to the errors of `errors.py`. Pure: no botocore in this file.
#
# What to do stands before AWS's own words, since a series' label has room for 200 characters of a message.


CLOCK_TOLERANCE_SECONDS = 60.0
"""A clock that is wrong by more is named wherever a signature is refused; AWS itself tolerates about five minutes."""

# botocore/retries/standard.py, ThrottledRetryableChecker, and the words that single services use.
_THROTTLED = frozenset(
    "BandwidthLimitExceeded EC2ThrottledException LimitExceeded LimitExceededException PriorRequestNotComplete"
    " ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException SlowDown"
    " ThrottledException Throttling ThrottlingException TooManyRequestsException TransactionInProgressException".split()
)
_FORBIDDEN = frozenset(
    "AccessDenied AccessDeniedException AuthorizationError AuthorizationErrorException Forbidden NotAuthorized"
    " NotAuthorizedException UnauthorizedOperation".split()
)
# EC2 says RequestExpired for credentials whose time is over and for a wrong clock alike.
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
_REFUSED = frozenset(
    "AuthFailure IncompleteSignature IncompleteSignatureException InvalidAccessKeyId InvalidClientTokenId"
    " InvalidSignatureException InvalidToken MissingAuthenticationToken MissingAuthenticationTokenException"
    " OptInRequired SignatureDoesNotMatch UnrecognizedClientException".split()
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


class Refusal(NamedTuple):
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
