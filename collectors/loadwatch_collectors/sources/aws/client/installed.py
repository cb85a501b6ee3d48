"""Whether the extra `aws` is there; the base install does without it."""

from importlib.util import find_spec

from loadwatch_collectors.errors import ConfigError


def require_boto3() -> None:
    """Check that boto3 is installed.

    Raises:
        ConfigError: it is not; the text has the command that installs it.
    """
    if find_spec("boto3") is None or find_spec("botocore") is None:
        raise ConfigError('reading CloudWatch needs boto3, which is not installed: pip install "loadwatch[aws]"')
