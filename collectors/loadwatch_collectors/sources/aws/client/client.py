"""The small interface through which everything here reaches AWS. No botocore in this file.

`boto.py` implements it. A client belongs to one account in one region and
may be used by several threads.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.model import AccountRegion, DataPage, DataRequest, MetricKey, Pairs

# When the next request may go: doubling with jitter while AWS throttles, halving as it recovers. No I/O.

FIRST_SECONDS = 0.5
MOST_SECONDS = 60.0
_RECOVERY_SPACING_SECONDS = 1.0
_NEGLIGIBLE_SECONDS = 0.1


@dataclass(slots=True, kw_only=True)
class Backoff:
    """The pace of requests to one service of one place. Times are of a monotonic clock.

    Each refusal doubles the delay, from `first` to `most` seconds, and half of each wait is random, so that many agents
    do not come back together. Each success halves it; until it is negligible, requests keep a little apart, so that
    what was just relieved is not hit by the whole backlog at once.
    """

    first_seconds: float = FIRST_SECONDS
    most_seconds: float = MOST_SECONDS
    draw: Callable[[], float] = random.random
    delay_seconds: float = 0.0
    not_before: float = field(default=float("-inf"))
    refusals: int = 0

    def refused(self, now: float) -> None:
        self.refusals += 1
        self.delay_seconds = min(max(self.delay_seconds * 2, self.first_seconds), self.most_seconds)
        self.not_before = now + self.delay_seconds * (0.5 + 0.5 * self.draw())

    def succeeded(self, now: float) -> None:
        self.refusals = 0
        self.delay_seconds /= 2
        if self.delay_seconds < _NEGLIGIBLE_SECONDS:
            self.delay_seconds = 0.0
        self.not_before = now + min(self.delay_seconds, _RECOVERY_SPACING_SECONDS)

    def wait_seconds(self, now: float) -> float:
        """How long the next request has to wait; 0 when it may go."""
        return max(0.0, self.not_before - now)


Document = Mapping[str, Any]
"""An answer as AWS documents it. Timestamps are milliseconds since the epoch (int), not datetimes; a body is its bytes,
so whoever asks for a large one asks for ranges of it."""


class ApiCall(NamedTuple):
    """A kind of request and how it ended: `ok`, or `AwsError.outcome`."""

    service: str
    operation: str
    region: str
    outcome: str


class LoginToken(NamedTuple):
    """A password for a database, made from AWS credentials without a request."""

    token: str
    valid_seconds: float


class AwsClient(Protocol):
    """One account in one region.

    Every method raises the errors of `errors.py`. `service` and `operation` are botocore's: `rds` and
    `describe_db_instances`. `deadline` is of `time.monotonic()`; without one a request has the client's own limit.
    """

    @property
    def place(self) -> AccountRegion:
        """Where it is. May ask AWS for the account's id, once."""
        ...

    def get_metric_data(self, request: DataRequest, *, deadline: float | None = None) -> DataPage:
        """One page of one GetMetricData request, not repeated when it fails."""
        ...

    def list_metrics(
        self, namespace: str, name: str = "", dimensions: Pairs = (), *, recently_active: bool = True
    ) -> Iterator[MetricKey]:
        """The metrics that CloudWatch has, page by page. A dimension with an empty value matches any value."""
        ...

    def call(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Document:
        """One answer of an operation that reads; throttling is waited out within the deadline."""
        ...

    def pages(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Iterator[Document]:
        """All pages of an operation that reads; throttling is waited out within the deadline."""
        ...

    def database_token(self, *, host: str, port: int, user: str) -> LoginToken:
        """A password for RDS with IAM database authentication (`rds-db:connect`), valid for 15 minutes."""
        ...

    def clock_offset_seconds(self) -> float | None:
        """By how much this host's clock is ahead of AWS's, by the last answer's Date; None before any answer."""
        ...

    def close(self) -> None: ...


Observe = Callable[[ApiCall, float], None]
"""Is told of every request and its seconds, also of those that fail."""


class Account(NamedTuple):
    """Whose metrics: a profile of the shared files, a role to assume, or neither: what botocore finds by itself."""

    profile: str | None = None
    role_arn: str | None = None
    external_id: str | None = None
    session_name: str = "loadwatch"

    def __str__(self) -> str:
        if self.role_arn:
            return f"the role {self.role_arn}"
        return f"the profile {self.profile}" if self.profile else "the environment"


class ConnectOptions(NamedTuple):
    """How a client reaches AWS. `endpoint_url` replaces every service's address, STS too (tests, private endpoints)."""

    endpoint_url: str | None = None
    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 20.0


Connect = Callable[[Account, str, ConnectOptions, Observe], AwsClient]
"""Makes the client of an account in a region; does no request before the first call."""


# Clients that are real, and regions by AWS's own configuration.
#
# boto3 is imported when the first client is made, so that the base install can check a configuration without it.


def require_boto3() -> None:
    """Check that boto3 is installed.

    Raises:
        ConfigError: it is not; the text has the command that installs it.
    """
    if find_spec("boto3") is None or find_spec("botocore") is None:
        raise ConfigError('reading CloudWatch needs boto3, which is not installed: pip install "loadwatch[aws]"')


def connect(account: Account, region: str, options: ConnectOptions, observe: Observe) -> AwsClient:
    """The real client.

    Raises:
        ConfigError: boto3 is not installed, or there is no such profile.
    """
    require_boto3()
    from loadwatch_collectors.sources.aws.client.boto import BotocoreClient

    return BotocoreClient(account, region, options, observe)


def default_regions(profile: str | None = None) -> Sequence[str]:
    """The region that the environment, the profile or the instance names; empty when none does.

    Raises:
        ConfigError: boto3 is not installed, or there is no such profile.
    """
    require_boto3()
    from loadwatch_collectors.sources.aws.client.boto import find_region

    region = find_region(profile)
    return (region,) if region else ()


def regions_of(account: Account) -> Sequence[str]:
    """Region of an account for which none is configured: its profile's, else the default one."""
    try:
        return default_regions(account.profile)
    except ConfigError:  # A profile that is not there is told by what uses it.
        return default_regions()
