"""What does not work is read again, once for a place and seldom; sessions and clients stay."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import botocore.loaders
import botocore.session
import pytest
from loadwatch_collectors.sources.aws.client.boto import MOST_SECONDS, BotocoreClient
from loadwatch_collectors.sources.aws.client.client import Account, ApiCall, ConnectOptions
from loadwatch_collectors.sources.aws.client.errors import AwsError, CredentialsError, ExpiredError, ForbiddenError

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, expire
from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_error
from collectors.tests.sources.aws.moto_server import ACCESS_KEY, REGION

pytestmark = pytest.mark.usefixtures("aws_environment")

OPERATIONS = (
    ("cloudwatch", "list_metrics"),
    ("rds", "describe_db_instances"),
    ("sqs", "list_queues"),
    ("elbv2", "describe_load_balancers"),
)
KEYS = "[watch]\naws_access_key_id = {key}\naws_secret_access_key = made-up\naws_session_token = x\n"
ROLE = Account(role_arn="arn:aws:iam::222222222222:role/watch")
Make = Callable[..., BotocoreClient]


class Clock:
    """Monotonic seconds, as the test sets them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait_long(self) -> None:
        self.now += MOST_SECONDS


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def calls() -> list[ApiCall]:
    return []


@pytest.fixture
def make(proxy: FaultProxy, clock: Clock, calls: list[ApiCall]) -> Iterator[Make]:
    made: list[BotocoreClient] = []

    def make_client(account: Account | None = None) -> BotocoreClient:
        options = ConnectOptions(endpoint_url=proxy.url, connect_timeout_seconds=30.0, read_timeout_seconds=120.0)
        client = BotocoreClient(account or Account(), REGION, options, lambda call, _: calls.append(call), clock=clock)
        made.append(client)
        return client

    yield make_client
    for client in made:
        client.close()


class Made:
    """What was made of botocore's."""

    def __init__(self) -> None:
        self.sessions = 0
        self.clients = 0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    counts = Made()
    original: Any = botocore.session.Session

    def make_session(*arguments: Any, **keywords: Any) -> Any:
        counts.sessions += 1
        session = original(*arguments, **keywords)
        make_client = session.create_client

        def create_client(*arguments: Any, **keywords: Any) -> Any:
            counts.clients += 1
            return make_client(*arguments, **keywords)

        session.create_client = create_client
        return session

    monkeypatch.setattr(botocore.session, "Session", make_session)
    return counts


@pytest.fixture
def credentials_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return path


def refuse(*keys: str) -> Callable[[AwsRequest], Answer | None]:
    """Keys that were deleted."""

    def fault(request: AwsRequest) -> Answer | None:
        if request.access_key not in keys:
            return None
        text = "The security token included in the request is invalid."
        return encode_error(request.protocol, "InvalidClientTokenId", text, 403)

    return fault


def ask_all(client: BotocoreClient, times: int, error: type[AwsError]) -> None:
    for _ in range(times):
        for service, operation in OPERATIONS:
            with pytest.raises(error):
                client.call(service, operation)


def test_an_hour_of_expired_credentials_makes_no_session_anew(
    make: Make, proxy: FaultProxy, clock: Clock, made: Made
) -> None:
    client = make()
    for service, operation in OPERATIONS:
        client.call(service, operation)
    proxy.before(expire([ACCESS_KEY]))
    before, asked = made.sessions, len(proxy.requests)
    for _ in range(60):
        ask_all(client, 5, ExpiredError)
        clock.now += 60
    assert made.clients == len(OPERATIONS)
    # Read anew at most once a minute, which makes a session without clients; 1,200 calls were made.
    assert made.sessions - before <= 60
    assert len(proxy.requests) - asked <= 60


def test_what_expired_is_told_without_asking_again(make: Make, proxy: FaultProxy, calls: list[ApiCall]) -> None:
    proxy.before(expire([ACCESS_KEY]))
    client = make()
    with pytest.raises(ExpiredError, match="reading them again gave no newer ones") as first:
        client.call("cloudwatch", "list_metrics")
    with pytest.raises(ExpiredError) as second:
        client.call("rds", "describe_db_instances")
    assert str(second.value) == str(first.value)
    assert [call.outcome for call in calls] == ["expired"]


def test_many_at_once_read_them_again_once(make: Make, proxy: FaultProxy, made: Made) -> None:
    client = make()
    for service, operation in OPERATIONS:
        client.call(service, operation)
    proxy.before(expire([ACCESS_KEY]))
    before = made.sessions
    threads = [threading.Thread(target=ask_all, args=(client, 3, ExpiredError)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert made.sessions - before == 1


def test_a_credentials_file_that_was_renewed_is_read_again(
    make: Make, proxy: FaultProxy, clock: Clock, credentials_file: Path
) -> None:
    credentials_file.write_text(KEYS.format(key="ASIAOLD"))
    proxy.before(expire(["ASIAOLD"]))
    client = make(Account(profile="watch"))
    with pytest.raises(ExpiredError):
        client.call("cloudwatch", "list_metrics")
    credentials_file.write_text(KEYS.format(key="ASIANEW"))
    clock.wait_long()
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "ASIANEW"


def test_newer_ones_are_found_by_the_request_that_failed(
    make: Make, proxy: FaultProxy, credentials_file: Path, calls: list[ApiCall]
) -> None:
    credentials_file.write_text(KEYS.format(key="ASIAOLD"))
    client = make(Account(profile="watch"))
    client.call("cloudwatch", "list_metrics")
    credentials_file.write_text(KEYS.format(key="ASIANEW"))
    proxy.before(expire(["ASIAOLD"]))
    client.call("cloudwatch", "list_metrics")
    assert [call.outcome for call in calls] == ["ok", "expired", "ok"]


def test_a_key_that_was_deleted_is_replaced(make: Make, proxy: FaultProxy, credentials_file: Path) -> None:
    credentials_file.write_text(KEYS.format(key="AKIAOLD"))
    client = make(Account(profile="watch"))
    client.call("cloudwatch", "list_metrics")
    proxy.before(refuse("AKIAOLD"))
    credentials_file.write_text(KEYS.format(key="AKIANEW"))
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "AKIANEW"


def test_a_refused_key_makes_no_session_for_each_call(
    make: Make, proxy: FaultProxy, credentials_file: Path, made: Made
) -> None:
    credentials_file.write_text(KEYS.format(key="AKIAOLD"))
    proxy.before(refuse("AKIAOLD"))
    client = make(Account(profile="watch"))
    ask_all(client, 10, CredentialsError)
    assert made.sessions <= 4


def test_credentials_that_come_later_are_found(
    make: Make, clock: Clock, credentials_file: Path, proxy: FaultProxy, made: Made
) -> None:
    client = make()
    ask_all(client, 10, CredentialsError)
    assert made.sessions <= 3
    assert proxy.requests == []
    credentials_file.write_text(KEYS.format(key="AKIALATE").replace("watch", "default"))
    clock.wait_long()
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "AKIALATE"


def test_a_profile_that_comes_later_is_found(
    make: Make, clock: Clock, credentials_file: Path, proxy: FaultProxy
) -> None:
    client = make(Account(profile="watch"))
    ask_all(client, 2, CredentialsError)
    credentials_file.write_text(KEYS.format(key="AKIALATE"))
    clock.wait_long()
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "AKIALATE"


def test_a_role_that_may_not_be_assumed_is_asked_for_seldom(make: Make, proxy: FaultProxy, clock: Clock) -> None:
    denial = proxy.before(deny("sts:AssumeRole"))
    client = make(ROLE)
    ask_all(client, 5, ForbiddenError)
    # Once by the first call, and once after the credentials were read again.
    assert len(proxy.seen("AssumeRole")) <= 2
    proxy.remove(denial)
    clock.wait_long()
    client.call("cloudwatch", "list_metrics")


def test_a_login_to_a_database_takes_the_files_newer_key(make: Make, clock: Clock, credentials_file: Path) -> None:
    client = make(Account(profile="watch"))
    for key in ("ASIAOLD", "ASIANEW"):
        credentials_file.write_text(KEYS.format(key=key))
        clock.wait_long()
        assert f"Credential={key}%2F" in client.database_token(host="db.example.com", port=3306, user="watch").token


def test_places_share_the_descriptions_of_services(
    make: Make, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().call("sqs", "list_queues")
    read: list[str] = []
    reader: Any = botocore.loaders.JSONFileLoader
    original = reader.load_file

    def load(loader: Any, path: str) -> Any:
        read.append(path)
        return original(loader, path)

    monkeypatch.setattr(reader, "load_file", load)
    make(ROLE).call("sqs", "list_queues")
    assert not [path for path in read if "sqs" in path or path.endswith("endpoints")]
