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

from loadwatch_collectors.errors import CollectorError


class AwsError(CollectorError):
    """An AWS API could not be read; `code` is AWS's own word for why, or empty."""

    outcome = "error"
    """What `aws_api_requests_total` counts it as."""

    def __init__(self, text: str, *, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class ThrottledError(AwsError):
    """AWS asks to slow down."""

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
    """There are no credentials, or AWS refuses them."""

    outcome = "credentials"


class ExpiredError(CredentialsError):
    """The credentials' time is over, and no newer ones are to be had."""

    outcome = "expired"


class ClockError(CredentialsError):
    """Signatures are refused since this host's clock is wrong by `offset_seconds` (positive: ahead of AWS)."""

    outcome = "clock"

    def __init__(self, text: str, *, offset_seconds: float | None, code: str = "") -> None:
        super().__init__(text, code=code)
        self.offset_seconds = offset_seconds


class UnreachableError(AwsError):
    """No answer came: no route, no name, or not in time."""

    outcome = "unreachable"


class OutOfTimeError(UnreachableError):
    """It was not asked: the time of this poll is over."""


class ServiceError(AwsError):
    """AWS answered that it failed itself."""

    outcome = "failed"


class RequestError(AwsError):
    """AWS does not understand what was asked."""

    outcome = "refused"
