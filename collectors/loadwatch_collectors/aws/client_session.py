"""Credentials and sessions by botocore: environment, files, container, task and instance roles, assumed roles."""

import os
from typing import Any

import botocore.config
import botocore.credentials
import botocore.exceptions
import botocore.session
import botocore.utils

from loadwatch_collectors.aws.client import Account, ConnectOptions
from loadwatch_collectors.errors import ConfigError

_credentials: Any = botocore.credentials
_exceptions: Any = botocore.exceptions
_session: Any = botocore.session
_utils: Any = botocore.utils
_config: Any = botocore.config


def make_session(account: Account, region: str, options: ConnectOptions) -> Any:
    """A session for API calls, whose timestamps are milliseconds since the epoch.

    Raises:
        ConfigError: there is no such profile.
    """
    session = _new_session(account.profile)
    session.set_config_variable("region", region)
    factory = session.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=parse_time_ms)
    # Credentials come from a session of their own: botocore reads expiry times in its own form.
    session._credentials = _find_credentials(account, region, options)
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
    return session


def _client_config(service: str, options: ConnectOptions) -> Any:
    return _config.Config(
        connect_timeout=options.connect_timeout_seconds,
        read_timeout=options.read_timeout_seconds,
        retries={"total_max_attempts": 1, "mode": "standard"},
        # Its requests are made in one place only, and checking 500 queries each time costs more than making them.
        parameter_validation=service != "cloudwatch",
        user_agent_extra="loadwatch",
    )


def _find_credentials(account: Account, region: str, options: ConnectOptions) -> Any:
    session = _new_session(account.profile)
    session.set_config_variable("region", region)
    if account.role_arn is None:
        return session.get_credentials()
    source = session.get_credentials()
    if source is None:
        raise _exceptions.NoCredentialsError()

    def make_sts(service: str, **keywords: Any) -> Any:
        keywords.setdefault("config", _client_config(service, options))
        return session.create_client(service, region_name=region, endpoint_url=options.endpoint_url, **keywords)

    extra = {"RoleSessionName": account.session_name}
    if account.external_id:
        extra["ExternalId"] = account.external_id
    fetcher = _credentials.AssumeRoleCredentialFetcher(
        client_creator=make_sts, source_credentials=source, role_arn=account.role_arn, extra_args=extra, cache={}
    )
    return _credentials.DeferredRefreshableCredentials(
        refresh_using=fetcher.fetch_credentials, method="assume-role", time_fetcher=_credentials._local_now
    )
