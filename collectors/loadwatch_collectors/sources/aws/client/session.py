"""Credentials and sessions by botocore: environment, files, container, task and instance roles, assumed roles."""

import os
from functools import cache
from typing import Any

import botocore.config
import botocore.credentials
import botocore.exceptions
import botocore.loaders
import botocore.session
import botocore.utils

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import Account, ConnectOptions
from loadwatch_collectors.sources.aws.client.credentials import HeldCredentials

_credentials: Any = botocore.credentials
_exceptions: Any = botocore.exceptions
_loaders: Any = botocore.loaders
_session: Any = botocore.session
_utils: Any = botocore.utils
_config: Any = botocore.config


def make_session(account: Account, region: str, credentials: HeldCredentials) -> Any:
    """A session for API calls, whose timestamps are milliseconds since the epoch.

    Raises:
        ConfigError: there is no such profile.
    """
    session = _new_session(account.profile)
    session.set_config_variable("region", region)
    factory = session.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=parse_time_ms)
    # Credentials come from a session of their own: botocore reads expiry times in its own form.
    session._credentials = credentials
    return session


def make_client(session: Any, service: str, region: str, options: ConnectOptions) -> Any:
    """A botocore client that does each request once: pace and repetition are ours, so that each one is counted."""
    return session.create_client(
        service, region_name=region, endpoint_url=options.endpoint_url, config=_client_config(service, options)
    )


def find_region(profile: str | None = None) -> str:
    """The region that environment, profile or instance metadata name; empty when none does.

    Raises:
        ConfigError: there is no such profile.
    """
    named = os.environ.get("AWS_REGION")
    if named:
        return named
    session = _new_session(profile)
    configured = session.get_config_variable("region")
    if configured:
        return str(configured)
    # It keeps to what environment and profile say of the metadata service, AWS_EC2_METADATA_DISABLED among it.
    return str(_utils.IMDSRegionProvider(session).provide() or "")


def parse_time_ms(value: Any) -> int:
    """Milliseconds since the epoch from a timestamp in any form that AWS's protocols have."""
    if isinstance(value, int | float):
        return round(value * 1000)
    text = str(value)
    try:
        return round(float(text) * 1000)
    except ValueError:
        return round(_utils.parse_timestamp(text).timestamp() * 1000)


def _new_session(profile: str | None) -> Any:
    session = _session.Session(profile=profile)
    # IMDSv2 only: an agent has no reason to accept instance credentials without its token.
    session.set_config_variable("ec2_metadata_v1_disabled", True)
    session.set_config_variable("metadata_service_num_attempts", 2)
    if profile is not None:
        try:
            session.get_scoped_config()
        except _exceptions.ProfileNotFound as error:
            raise ConfigError(f"there is no AWS profile {profile!r} in the shared configuration files") from error
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    return session


@cache
def _loader(data_path: str | None) -> Any:
    """Reads the descriptions of services, some 10 MiB for each, once for all places."""
    return _loaders.create_loader(data_path)


def _client_config(service: str, options: ConnectOptions) -> Any:
    return _config.Config(
        connect_timeout=options.connect_timeout_seconds,
        read_timeout=options.read_timeout_seconds,
        retries={"total_max_attempts": 1, "mode": "standard"},
        # Its requests are made in one place only, and checking 500 queries each time costs more than making them.
        parameter_validation=service != "cloudwatch",
        user_agent_extra="loadwatch",
    )


def find_credentials(account: Account, region: str, options: ConnectOptions) -> Any:
    """What botocore finds now; those of a role refresh themselves, and are not asked for before they are needed.

    Raises:
        ConfigError: there is no such profile.
        botocore.exceptions.NoCredentialsError: there are none.
    """
    session = _new_session(account.profile)
    session.set_config_variable("region", region)
    source = session.get_credentials()
    if source is None:
        raise _exceptions.NoCredentialsError()
    if account.role_arn is None:
        return source
    asked = {"RoleArn": account.role_arn, "RoleSessionName": account.session_name}
    if account.external_id:
        asked["ExternalId"] = account.external_id
    # One client for all its sessions: a fetcher of botocore's makes one each time that it asks.
    sts = make_client(session, "sts", region, options)

    def assume() -> dict[str, str]:
        found = sts.assume_role(**asked)["Credentials"]
        return {
            "access_key": found["AccessKeyId"],
            "secret_key": found["SecretAccessKey"],
            "token": found["SessionToken"],
            "expiry_time": found["Expiration"].isoformat(),
        }

    return _credentials.DeferredRefreshableCredentials(refresh_using=assume, method="assume-role")
