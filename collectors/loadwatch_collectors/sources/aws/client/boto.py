"""The interface of `client.py` by boto3. The only importer of boto3 and botocore."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

import boto3.session
import botocore.exceptions
import botocore.session
from botocore.config import Config
from botocore.credentials import DeferredRefreshableCredentials
from botocore.loaders import Loader, create_loader
from botocore.model import ServiceId
from botocore.paginate import Paginator
from botocore.parsers import ResponseParserError
from botocore.signers import RequestSigner
from botocore.utils import IMDSRegionProvider, parse_timestamp

from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.aws.client.client import (
    Account,
    ApiCall,
    Backoff,
    ConnectOptions,
    Document,
    LoginToken,
    Observe,
)
from loadwatch_collectors.sources.aws.client.errors import (
    ASSUME_ROLE,
    AwsError,
    CredentialsError,
    ExpiredError,
    ForbiddenError,
    OutOfTimeError,
    Refusal,
    RequestError,
    ServiceError,
    ThrottledError,
    UnreachableError,
    explain,
)
from loadwatch_collectors.sources.aws.model import (
    AccountRegion,
    DataPage,
    DataQuery,
    DataRequest,
    DataResult,
    MetricKey,
    Pairs,
)

# The credentials of one place, read anew under clients that stay. No botocore in this file.

FIRST_SECONDS = 15.0
"""How long credentials are left alone after they were read again; doubles while they do not work."""
MOST_SECONDS = 120.0


class HeldCredentials:
    """What a session and its clients hold in place of botocore's credentials; safe to use by several threads.

    `find` gives botocore's, and may make requests to have them. Where they do not work they are read again by whoever
    comes first, once for the whole place, and seldom; a session with all its clients costs some 100 MiB, and stays.
    """

    method = "loadwatch"

    def __init__(self, find: Callable[[], Any], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._find = find
        self._clock = clock
        self._lock = threading.RLock()
        self._found: Any = None
        self._last: Any = None
        self._read_at = float("-inf")
        self.reading = 0
        """Number of the reading of credentials that a request beginning now uses."""
        self._failure: AwsError | None = None
        self._backoff = Backoff(first_seconds=FIRST_SECONDS, most_seconds=MOST_SECONDS)

    def get_frozen_credentials(self) -> Any:
        with self._lock:
            if self._found is None:
                self._found = self._find()
                self._read_at = self._clock()
            found = self._found
        self._last = found.get_frozen_credentials()
        return self._last

    def get_deferred_property(self, name: str) -> Callable[[], Any]:
        return lambda: getattr(self.get_frozen_credentials(), name, None)

    def check(self) -> None:
        """Let a request go.

        Raises:
            AwsError: why they did not work; it is not yet time to try them again.
        """
        with self._lock:
            if self._failure is not None and self._backoff.wait_seconds(self._clock()):
                raise self._failure.with_traceback(None)  # Or each time it is told again it would hold more frames.

    def renew(self, reading: int) -> bool:
        """Read them again after those of a reading did not work; whether there are others now.

        Raises:
            Exception: botocore's, when they are not to be had.
        """
        with self._lock:
            if self.reading != reading:
                return self._failure is None
            if self._found is None or self._backoff.wait_seconds(self._clock()):
                return False
            before = self._last
            self._backoff.refused(self._clock())
            self._forget()
            return self.get_frozen_credentials() != before

    def renew_older(self, seconds: float) -> None:
        """Read the credentials again at their next use if they are older than `seconds`."""
        with self._lock:
            if self._clock() - self._read_at > seconds:
                self._forget()

    def failed(self, error: AwsError) -> None:
        """They do not work. Where nothing of the place can work with them, no request goes until the wait is over."""
        with self._lock:
            if not self._backoff.wait_seconds(self._clock()):
                self._backoff.refused(self._clock())
            # No credentials, or their time is over: without a code it is ours.
            of_all = isinstance(error, ExpiredError | ForbiddenError) or not error.code
            self._failure = error if of_all else None

    def worked(self) -> None:
        if self._failure is not None:
            with self._lock:
                self._failure = None
                self._backoff = Backoff(first_seconds=FIRST_SECONDS, most_seconds=MOST_SECONDS)

    def _forget(self) -> None:
        self._found = None
        self.reading += 1


def is_of_credentials(error: AwsError) -> bool:
    """Whether other credentials could avoid the error."""
    if isinstance(error, ForbiddenError):
        return error.action == ASSUME_ROLE
    # AWS has another word where an account has not opted in to a service or region.
    return isinstance(error, CredentialsError) and error.outcome != "clock" and error.code != "OptInRequired"


# Credentials and sessions by boto3: environment, files, container, task and instance roles, assumed roles.
#
# What boto3 has no word for is set on the botocore session below it: version 2 of the metadata only, whose credentials
# sign, how times are read, and where descriptions of services are kept.


class _Held(NamedTuple):
    credentials: HeldCredentials

    def load_credentials(self) -> HeldCredentials:
        return self.credentials


class AwsSession(NamedTuple):
    session: boto3.session.Session
    core: botocore.session.Session

    def client(self, service: str, options: ConnectOptions) -> Any:
        """A client that does each request once: pace and repetition are ours, so that each one is counted."""
        config = Config(
            connect_timeout=options.connect_timeout_seconds,
            read_timeout=options.read_timeout_seconds,
            retries={"total_max_attempts": 1, "mode": "standard"},
            # Its requests are made in one place only, and checking 500 queries each time costs more than making them.
            parameter_validation=service != "cloudwatch",
            user_agent_extra="loadwatch",
        )
        return self.session.client(service, endpoint_url=options.endpoint_url, config=config)


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


__all__ = ["BotocoreClient", "find_region"]

_T = TypeVar("_T")

CALL_SECONDS = 30.0
"""Limit of `call` and `pages` without a deadline, waits for throttling included; of `pages` for each page."""
_TRANSIENT_REPEATS = 1
_TOKEN_SECONDS = 900
_TOKEN_CREDENTIALS_SECONDS = 60.0
_NO_ANSWER = "what answered is not AWS, but maybe a proxy that wants a sign-in"
_READS = ("describe_", "get_", "list_", "filter_", "lookup_", "download_")


class BotocoreClient:
    def __init__(
        self,
        account: Account,
        region: str,
        options: ConnectOptions,
        observe: Observe,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._account = account
        self._region = region
        self._options = options
        self._observe = observe
        self._lock = threading.RLock()
        self._credentials = HeldCredentials(lambda: find_credentials(account, region, options), clock=clock)
        self._session: AwsSession | None = None
        self._clients: dict[str, Any] = {}
        self._backoffs: dict[str, Backoff] = {}
        self._failures: dict[str, AwsError] = {}
        """Why the last request to a service failed, for those that do not go while it is left alone."""
        self._account_id = account.role_arn.split(":")[4] if account.role_arn else ""
        self._offset: float | None = None

    @property
    def place(self) -> AccountRegion:
        """Where it is; the account's id is asked for once (sts:GetCallerIdentity needs no permission)."""
        if not self._account_id:
            self._account_id = str(self.call("sts", "get_caller_identity").get("Account", ""))
        return AccountRegion(account_id=self._account_id, region=self._region)

    def get_metric_data(self, request: DataRequest, *, deadline: float | None = None) -> DataPage:
        """One page; `deadline` is for callers that have one, since a request has the client's own limits."""
        parameters: dict[str, Any] = {
            "MetricDataQueries": [_query(query) for query in request.queries],
            "StartTime": datetime.fromtimestamp(request.start_ms / 1000, UTC),
            "EndTime": datetime.fromtimestamp(request.end_ms / 1000, UTC),
        }
        if request.next_token:
            parameters["NextToken"] = request.next_token
        if deadline is not None and time.monotonic() >= deadline:
            raise OutOfTimeError(f"cloudwatch GetMetricData in {self._where}: no time is left for it in this poll")
        return _page(self._request("cloudwatch", "get_metric_data", parameters))

    def list_metrics(
        self, namespace: str, name: str = "", dimensions: Pairs = (), *, recently_active: bool = True
    ) -> Iterator[MetricKey]:
        """The metrics that CloudWatch has; `recently_active` leaves out those without a point in three hours."""
        parameters: dict[str, Any] = {"Namespace": namespace}
        if name:
            parameters["MetricName"] = name
        if dimensions:
            parameters["Dimensions"] = [
                {"Name": key, "Value": value} if value else {"Name": key} for key, value in dimensions
            ]
        if recently_active:
            parameters["RecentlyActive"] = "PT3H"
        for page in self.pages("cloudwatch", "list_metrics", parameters):
            for metric in page.get("Metrics", ()):
                pairs = sorted((str(item["Name"]), str(item["Value"])) for item in metric.get("Dimensions", ()))
                yield MetricKey(namespace=metric["Namespace"], name=metric["MetricName"], dimensions=tuple(pairs))

    def call(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Document:
        """One answer; throttling is waited out, other failures are tried once more, within the deadline."""
        if not operation.startswith(_READS):
            raise RequestError(f"{service} {operation} does not read; Loadwatch changes nothing in AWS")
        until = deadline if deadline is not None else time.monotonic() + CALL_SECONDS
        backoff = self._backoffs.setdefault(service, Backoff())
        repeats = 0
        while True:
            wait = backoff.wait_seconds(time.monotonic())
            if wait and time.monotonic() + wait > until:
                raise self._failures[service].with_traceback(None)
            if time.monotonic() > until:
                raise OutOfTimeError(f"{service} {operation} in {self._where}: no time is left for it in this poll")
            if wait:
                time.sleep(wait)
            try:
                answer = self._request(service, operation, parameters or {})
            except ThrottledError as error:
                self._failures[service] = error
                backoff.refused(time.monotonic())
                if time.monotonic() + backoff.wait_seconds(time.monotonic()) > until:
                    raise
            except (ServiceError, UnreachableError) as error:
                self._failures[service] = error
                backoff.refused(time.monotonic())
                repeats += 1
                if repeats > _TRANSIENT_REPEATS or time.monotonic() >= until:
                    raise
            else:
                backoff.succeeded(time.monotonic())
                return answer

    def pages(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        deadline: float | None = None,
    ) -> Iterator[Document]:
        with self._lock:
            client = self._client(service)
            config = None
            if client.can_paginate(operation):
                paging = self._current_session().core.get_paginator_model(service)
                config = paging.get_paginator(client.meta.method_to_api_mapping[operation])
        if config is None:
            yield self.call(service, operation, parameters, deadline=deadline)
            return

        def page(**keywords: Any) -> Document:
            return self.call(service, operation, keywords, deadline=deadline)

        shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[operation])
        yield from Paginator(page, config, shape).paginate(**dict(parameters or {}))

    def database_token(self, *, host: str, port: int, user: str) -> LoginToken:
        """Signed here, without a request, as botocore's `generate_db_auth_token` does.

        botocore's own function needs a client of `rds`, whose description costs megabytes.
        """

        def sign() -> str:
            with self._lock:
                events = self._current_session().session.events
                signer = RequestSigner(ServiceId("RDS"), self._region, "rds-db", "v4", self._credentials, events)
                url = signer.generate_presigned_url(
                    request_dict={
                        "url_path": "/",
                        "query_string": "",
                        "headers": {},
                        "body": {"Action": "connect", "DBUser": user},
                        "method": "GET",
                        "url": f"https://{host}:{port}/",
                        "context": {},
                    },
                    operation_name="connect",
                    expires_in=_TOKEN_SECONDS,
                )
            return str(url).removeprefix("https://")

        # Nobody tells here that their time is over: a server refuses the password, and another one is asked for.
        self._credentials.renew_older(_TOKEN_CREDENTIALS_SECONDS)
        token = self._with_credentials("rds-db", "connect", lambda: self._translate("rds-db", "connect", sign))
        return LoginToken(token=token, valid_seconds=float(_TOKEN_SECONDS))

    def clock_offset_seconds(self) -> float | None:
        """By the Date of the last answer; it has whole seconds."""
        return self._offset

    def close(self) -> None:
        """Close the connections; a request under way ends with an error."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            with suppress(Exception):  # Nothing is left to do about a client that fails to close.
                client.close()

    @property
    def _where(self) -> str:
        return str(AccountRegion(account_id=self._account_id, region=self._region))

    def _current_session(self) -> AwsSession:
        if self._session is None:
            self._session = make_session(self._account, self._region, self._credentials)
        return self._session

    def _client(self, service: str) -> Any:
        with self._lock:  # Sessions are not safe for threads; clients are.
            found = self._clients.get(service)
            if found is None:
                found = self._current_session().client(service, self._options)
                self._clients[service] = found
            return found

    def _request(self, service: str, operation: str, parameters: Mapping[str, Any]) -> Document:
        return self._with_credentials(service, operation, lambda: self._counted(service, operation, parameters))

    def _with_credentials(self, service: str, operation: str, act: Callable[[], _T]) -> _T:
        """Do something that needs credentials, once more when they did not work and there are others now.

        Raises:
            AwsError: as it failed, or as the last one failed, for as long as they are not tried again.
        """
        held = self._credentials
        held.check()
        reading = held.reading
        try:
            try:
                done = act()
            except AwsError as error:
                if not is_of_credentials(error) or not self._translate(service, operation, lambda: held.renew(reading)):
                    raise
                done = act()
        except AwsError as error:
            if is_of_credentials(error):
                held.failed(error)
            raise
        held.worked()
        return done

    def _counted(self, service: str, operation: str, parameters: Mapping[str, Any]) -> Document:
        began = time.monotonic()
        outcome = "ok"
        try:
            return self._translate(
                service,
                operation,
                lambda: self._measured(service, operation, getattr(self._client(service), operation)(**parameters)),
            )
        except AwsError as error:
            outcome = error.outcome
            raise
        finally:
            self._observe(ApiCall(service, operation, self._region, outcome), time.monotonic() - began)

    def _measured(self, service: str, operation: str, answer: Any) -> Document:
        headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        self._note_date(headers)
        if headers.get("content-type", "").startswith("text/html") and answer.keys() <= {"ResponseMetadata"}:
            # botocore makes an empty answer of a page where the protocol is JSON: nothing would be found.
            raise ServiceError(f"{service} {_api_name(operation)} in {self._where}: {_NO_ANSWER}")
        if hasattr(answer.get("Body"), "read"):
            # Read here, where errors of the connection are translated, and a request is tried again.
            answer["Body"] = answer["Body"].read()
        return answer

    def _note_date(self, headers: Mapping[str, str]) -> None:
        with suppress(ValueError, TypeError):
            theirs = parsedate_to_datetime(headers["date"]) if "date" in headers else None
            if theirs is not None:
                self._offset = time.time() - theirs.timestamp()

    def _translate(self, service: str, operation: str, act: Callable[[], _T]) -> _T:
        what = f"{service} {_api_name(operation)} in {self._where}"
        try:
            return act()
        except AwsError:
            raise
        except ConfigError as error:  # There is no such profile: found out when the session is made.
            raise CredentialsError(f"{what}: {error}") from error
        except botocore.exceptions.ClientError as error:
            raise self._explain(error.response, service, error.operation_name) from error
        except (
            botocore.exceptions.NoCredentialsError,
            botocore.exceptions.PartialCredentialsError,
            botocore.exceptions.NoAuthTokenError,
        ) as error:
            raise CredentialsError(
                f"{what}: there are no credentials of {self._account}; give a profile, set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or run where an instance or task role is"
            ) from error
        except (
            botocore.exceptions.CredentialRetrievalError,
            botocore.exceptions.MetadataRetrievalError,
            botocore.exceptions.SSOError,
            botocore.exceptions.TokenRetrievalError,
            botocore.exceptions.LoginError,
        ) as error:
            raise ExpiredError(f"{what}: the credentials of {self._account} cannot be had: {error}") from error
        except (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError, OSError) as error:
            raise UnreachableError(
                f"{what} is unreachable: {error}; check the region's name, network, proxy and VPC endpoints"
            ) from error
        except botocore.exceptions.BotoCoreError as error:
            raise RequestError(f"{what}: {error}") from error
        except ResponseParserError as error:  # No BotoCoreError, for reasons of its own.
            raise ServiceError(f"{what}: {_NO_ANSWER} ({' '.join(str(error).split())[:200]})") from error
        except RuntimeError as error:  # botocore's word for credentials that are still expired after a refresh.
            if "expired" not in str(error).lower():
                raise
            raise ExpiredError(f"{what}: the credentials of {self._account}: {error}") from error

    def _explain(self, response: Mapping[str, Any], service: str, operation: str) -> AwsError:
        metadata = response.get("ResponseMetadata", {})
        self._note_date(metadata.get("HTTPHeaders", {}))
        error = response.get("Error", {})
        return explain(
            Refusal(
                service="sts" if operation.startswith("AssumeRole") else service,
                operation=operation,
                where=self._where,
                status=int(metadata.get("HTTPStatusCode", 0)),
                code=str(error.get("Code", "")),
                message=str(error.get("Message", "")),
                offset_seconds=self._offset,
            )
        )


def _query(query: DataQuery) -> dict[str, Any]:
    stat: dict[str, Any] = {
        "Metric": {
            "Namespace": query.metric.namespace,
            "MetricName": query.metric.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in query.metric.dimensions],
        },
        "Period": query.period_seconds,
        "Stat": query.statistic,
    }
    if query.unit:
        stat["Unit"] = query.unit
    return {"Id": query.id, "MetricStat": stat, "ReturnData": True}


def _page(answer: Document) -> DataPage:
    return DataPage(
        results=[
            DataResult(
                id=item["Id"],
                status=item.get("StatusCode", ""),
                times_ms=item.get("Timestamps", ()),
                values=item.get("Values", ()),
            )
            for item in answer.get("MetricDataResults", ())
        ],
        next_token=answer.get("NextToken") or "",
    )


def _api_name(operation: str) -> str:
    """AWS's word for one of botocore's methods: `DescribeDBInstances` for `describe_db_instances`."""
    return "".join("DB" if word == "db" else word.capitalize() for word in operation.split("_"))
