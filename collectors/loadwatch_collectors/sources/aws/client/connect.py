"""Clients that are real, and regions by AWS's own configuration.

boto3 is imported when the first client is made, so that the base install can check a configuration without it.
"""

from collections.abc import Sequence
from importlib.util import find_spec

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, Observe


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
    """The region of an account for which none is configured: its profile's, where it has one."""
    try:
        return default_regions(account.profile)
    except ConfigError:  # A profile that is not there is told by what uses it.
        return default_regions()
