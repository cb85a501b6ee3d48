"""Credentials and sessions by boto3: environment, files, container, task and instance roles, assumed roles.

What boto3 has no word for is set on the botocore session below it: version 2 of the metadata only, whose credentials
sign, how times are read, and where descriptions of services are kept.
"""

import os
from functools import cache
from typing import Any, NamedTuple

import boto3.session
import botocore.exceptions
import botocore.session
from botocore.config import Config
from botocore.credentials import DeferredRefreshableCredentials
from botocore.loaders import Loader, create_loader
from botocore.utils import IMDSRegionProvider, parse_timestamp

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account, ConnectOptions
from loadwatch_collectors.sources.aws.client.credentials import HeldCredentials


class _Held(NamedTuple):
    """Stands in the place of botocore's chain of providers."""

    credentials: HeldCredentials

    def load_credentials(self) -> HeldCredentials:
        """What botocore asks its chain for."""
        return self.credentials


class AwsSession(NamedTuple):
    """A session of boto3's, and the botocore session that it stands on."""

    session: boto3.session.Session
    core: botocore.session.Session

    def client(self, service: str, options: ConnectOptions) -> Any:
        """A client that does each request once: pace and repetition are ours, so that each one is counted."""
        return self.session.client(service, endpoint_url=options.endpoint_url, config=_client_config(service, options))


def make_session(account: Account, region: str, credentials: HeldCredentials) -> AwsSession:
    """A session for API calls, whose timestamps are milliseconds since the epoch.

    Raises:
        ConfigError: there is no such profile.
    """
    session = _new_session(account.profile, region)
    factory = session.core.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=parse_time_ms)
    # Credentials come from a session of their own: botocore reads expiry times in its own form.
    session.core.register_component("credential_provider", _Held(credentials))
    return session


def find_region(profile: str | None = None) -> str:
    """The region that environment, profile or instance metadata name; empty when none does.

    Raises:
        ConfigError: there is no such profile.
    """
    named = os.environ.get("AWS_REGION")
    if named:
        return named
    session = _new_session(profile)
    # The last one keeps to what environment and profile say of the metadata, AWS_EC2_METADATA_DISABLED among it.
    return session.session.region_name or IMDSRegionProvider(session.core).provide() or ""


def parse_time_ms(value: Any) -> int:
    """Milliseconds since the epoch from a timestamp in any form that AWS's protocols have."""
    if isinstance(value, int | float):
        return round(value * 1000)
    text = str(value)
    try:
        return round(float(text) * 1000)
    except ValueError:
        return round(parse_timestamp(text).timestamp() * 1000)


def _new_session(profile: str | None, region: str | None = None) -> AwsSession:
    core = botocore.session.Session()
    # IMDSv2 only: an agent has no reason to accept instance credentials without its token.
    core.set_config_variable("ec2_metadata_v1_disabled", True)
    core.set_config_variable("metadata_service_num_attempts", 2)
    try:
        session = boto3.session.Session(botocore_session=core, profile_name=profile, region_name=region)
    except botocore.exceptions.ProfileNotFound as error:
        raise ConfigError(f"there is no AWS profile {core.profile!r} in the shared configuration files") from error
    # After boto3, which adds a path of its own to the loader of each session.
    core.register_component("data_loader", _loader(core.get_config_variable("data_path")))
    return AwsSession(session=session, core=core)


@cache
def _loader(data_path: str | None) -> Loader:
    """Reads the descriptions of services, some 10 MiB for each, once for all places."""
    return create_loader(data_path)


def _client_config(service: str, options: ConnectOptions) -> Config:
    return Config(
        connect_timeout=options.connect_timeout_seconds,
        read_timeout=options.read_timeout_seconds,
        retries={"total_max_attempts": 1, "mode": "standard"},
        # Its requests are made in one place only, and checking 500 queries each time costs more than making them.
        parameter_validation=service != "cloudwatch",
        user_agent_extra="loadwatch",
    )


def find_credentials(account: Account, region: str, options: ConnectOptions) -> Any:
    """What boto3 finds now; those of a role refresh themselves, and are not asked for before they are needed.

    Raises:
        ConfigError: there is no such profile.
        botocore.exceptions.NoCredentialsError: there are none.
    """
    session = _new_session(account.profile, region)
    source = session.session.get_credentials()
    if source is None:
        raise botocore.exceptions.NoCredentialsError()
    if account.role_arn is None:
        return source
    asked = {"RoleArn": account.role_arn, "RoleSessionName": account.session_name}
    if account.external_id:
        asked["ExternalId"] = account.external_id
    # One client for all its sessions: a fetcher of botocore's makes one each time that it asks.
    sts = session.client("sts", options)

    def assume() -> dict[str, str]:
        found = sts.assume_role(**asked)["Credentials"]
        return {
            "access_key": found["AccessKeyId"],
            "secret_key": found["SecretAccessKey"],
            "token": found["SessionToken"],
            "expiry_time": found["Expiration"].isoformat(),
        }

    return DeferredRefreshableCredentials(refresh_using=assume, method="assume-role")
