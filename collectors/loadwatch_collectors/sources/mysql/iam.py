"""A password for RDS by IAM: signed from AWS credentials, valid for fifteen minutes, made anew for later logins."""

import re
import time
from collections.abc import Callable

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect, default_regions
from loadwatch_collectors.transport.mysql_session import MySQLLogin

_SPARE_SECONDS = 120.0
_RDS_HOST = re.compile(r".+\.([a-z]{2}(?:-[a-z]+)+-\d+)\.rds\.amazonaws\.com(?:\.cn)?\.?")


class IamPassword:
    """Gives the password for each login; a token is used until shortly before its end. For one thread at a time."""

    denied_hint = (
        "IAM database authentication: the agent's policy must allow rds-db:connect to this account, the account must "
        "be made with the plugin AWSAuthenticationPlugin, and IAM authentication must be on for the instance"
    )
    certificate_hint = "Give tls_ca_file, Amazon's bundle of RDS certificates (global-bundle.pem)"

    def __init__(
        self, source: AwsClient, *, host: str, port: int, user: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._host = host
        self._port = port
        self._user = user
        self._monotonic = monotonic
        self._token = ""
        self._until = 0.0

    def __call__(self) -> str:
        """The password.

        Raises:
            AwsError: there are no credentials to sign with.
        """
        now = self._monotonic()
        if not self._token or now >= self._until:
            made = self._source.database_token(host=self._host, port=self._port, user=self._user)
            self._token = made.token
            self._until = now + made.valid_seconds - _SPARE_SECONDS
        return self._token

    def forget(self) -> None:
        self._token = ""


def region_of(host: str) -> str:
    """The region in the name of an RDS endpoint; empty when it has none."""
    match = _RDS_HOST.fullmatch(host)
    return match[1] if match else ""


def open_iam_password(login: MySQLLogin) -> IamPassword | None:
    """The password of a configured server, signed with the credentials that boto3 finds; None without `iam_auth`.

    Raises:
        ConfigError: boto3 is not installed, or the region is not known.
    """
    if not login.iam_auth:
        return None
    client = open_client(login.host, login.iam_region, "iam_auth needs iam_region")
    return IamPassword(client, host=login.host, port=login.port, user=login.user)


def open_client(host: str, region: str | None, advice: str) -> AwsClient:
    """AWS in a server's region, with the credentials that boto3 finds; without one, that of its name or ours.

    Raises:
        ConfigError: boto3 is not installed, or the region is not known.
    """
    found = region or region_of(host) or next(iter(default_regions()), "")
    if not found:
        raise ConfigError(f"the region of {host} is not known; {advice}")
    return connect(Account(), found, ConnectOptions(), lambda _call, _seconds: None)
