import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from loadwatch_collectors.sources.aws.client import boto
from loadwatch_collectors.sources.aws.client.client import (
    Account,
    ApiCall,
    AwsClient,
    Backoff,
    ConnectOptions,
    connect,
    default_regions,
    regions_of,
)
from loadwatch_collectors.sources.aws.client.errors import (
    AwsError,
    ClockError,
    CredentialsError,
    ForbiddenError,
    RequestError,
    ServiceError,
    ThrottledError,
    UnreachableError,
)
from loadwatch_collectors.sources.aws.model import AccountRegion, DataQuery, DataRequest, MetricKey

from collectors.tests.sources.aws.credential_servers import CredentialServer, running_credential_server
from collectors.tests.sources.aws.fault_proxy.fault_proxy import Before, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import (
    close,
    deny,
    expire,
    fail,
    hang,
    of,
    refuse_signature,
    throttle,
    times,
)
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData
from collectors.tests.sources.aws.fault_proxy.protocols import Answer
from collectors.tests.sources.aws.moto_server import ACCESS_KEY, ACCOUNT, REGION, MotoServer

pytestmark = pytest.mark.usefixtures("aws_environment")

CPU = MetricKey(namespace="AWS/RDS", name="CPUUtilization", dimensions=(("DBInstanceIdentifier", "db1"),))
QUERY = DataQuery(id="q0", metric=CPU, statistic="Average", period_seconds=60)
BASE = 1_795_000_020  # a whole minute
REQUEST = DataRequest(queries=(QUERY,), start_ms=BASE * 1000, end_ms=(BASE + 600) * 1000)


class Calls(list[ApiCall]):
    def observe(self, call: ApiCall, seconds: float) -> None:
        assert seconds >= 0
        self.append(call)

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for call in self]


@pytest.fixture
def calls() -> Calls:
    return Calls()


def make(url: str, calls: Calls, account: Account | None = None, *, read_seconds: float = 120.0) -> AwsClient:
    options = ConnectOptions(endpoint_url=url, connect_timeout_seconds=30.0, read_timeout_seconds=read_seconds)
    return connect(account or Account(), REGION, options, calls.observe)


@pytest.fixture
def client(proxy: FaultProxy, calls: Calls) -> Iterator[AwsClient]:
    made = make(proxy.url, calls)
    yield made
    made.close()


def test_the_place_is_asked_for_once(client: AwsClient, proxy: FaultProxy, calls: Calls) -> None:
    assert client.place == client.place == AccountRegion(account_id=ACCOUNT, region=REGION)
    assert [request.operation for request in proxy.requests] == ["GetCallerIdentity"]
    assert calls == [ApiCall("sts", "get_caller_identity", REGION, "ok")]
    assert abs(client.clock_offset_seconds() or 99.0) < 30


def test_metric_data_comes_with_times_in_milliseconds(client: AwsClient, proxy: FaultProxy) -> None:
    data = CloudWatchData()
    data.put(("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "db1"}), "Average", BASE + 60, 41.5)
    data.attach(proxy)
    page = client.get_metric_data(REQUEST)
    (result,) = page.results
    assert (result.id, result.status) == ("q0", "Complete")
    assert (list(result.times_ms), list(result.values)) == ([(BASE + 60) * 1000], [41.5])
    assert page.next_token == ""
    assert data.windows == [(BASE, BASE + 600, 1)]


def test_real_moto_agrees(moto: MotoServer, calls: Calls) -> None:
    moto.client("cloudwatch").put_metric_data(
        Namespace="Shop",
        MetricData=[
            {"MetricName": "orders", "Dimensions": [{"Name": "shop", "Value": "a"}], "Timestamp": BASE, "Value": 3.0}
        ],
    )
    client = make(moto.url, calls)
    (key,) = client.list_metrics("Shop", "orders", (("shop", ""),), recently_active=False)
    assert key == MetricKey(namespace="Shop", name="orders", dimensions=(("shop", "a"),))
    query = DataQuery(id="q0", metric=key, statistic="Sum", period_seconds=60)
    page = client.get_metric_data(DataRequest(queries=(query,), start_ms=BASE * 1000, end_ms=(BASE + 60) * 1000))
    assert [(list(item.times_ms), list(item.values)) for item in page.results] == [([BASE * 1000], [3.0])]


def test_pages_of_a_describe_call_are_walked(moto: MotoServer, proxy: FaultProxy, calls: Calls) -> None:
    topics = moto.client("sqs")
    for number in range(5):
        topics.create_queue(QueueName=f"queue-{number}")
    client = make(proxy.url, calls)
    pages = list(client.pages("sqs", "list_queues", {"MaxResults": 2}))
    assert sum(len(page.get("QueueUrls", ())) for page in pages) == 5
    assert len(calls) == len(pages) == 3


def test_throttling_is_waited_out_by_calls_that_list(client: AwsClient, proxy: FaultProxy, calls: Calls) -> None:
    proxy.before(throttle(times(2, of("rds"))))
    assert client.call("rds", "describe_db_instances")["DBInstances"] == []
    assert calls.outcomes == ["throttled", "throttled", "ok"]


def test_metric_data_is_not_repeated_by_the_client(client: AwsClient, proxy: FaultProxy, calls: Calls) -> None:
    proxy.before(throttle(of("cloudwatch"), 503))
    with pytest.raises(ThrottledError):
        client.get_metric_data(REQUEST)
    assert calls.outcomes == ["throttled"]


def test_a_missing_permission_is_named(client: AwsClient, proxy: FaultProxy) -> None:
    proxy.before(deny("rds:DescribeDBInstances", "cloudwatch:GetMetricData"))
    with pytest.raises(ForbiddenError) as caught:
        client.call("rds", "describe_db_instances")
    assert caught.value.action == "rds:DescribeDBInstances"
    with pytest.raises(ForbiddenError) as caught:
        client.get_metric_data(REQUEST)
    assert caught.value.action == "cloudwatch:GetMetricData"


@pytest.mark.parametrize("offset", [300.0, -300.0])
def test_a_clock_five_minutes_off_is_explained(client: AwsClient, proxy: FaultProxy, offset: float) -> None:
    proxy.before(refuse_signature(offset))
    proxy.date_offset_seconds = -offset
    with pytest.raises(ClockError) as caught:
        client.get_metric_data(REQUEST)
    assert caught.value.offset_seconds == pytest.approx(offset, abs=30)
    assert ("ahead of" if offset > 0 else "behind") in str(caught.value)


def test_only_reading_operations_are_done(client: AwsClient, proxy: FaultProxy) -> None:
    with pytest.raises(RequestError, match="changes nothing"):
        client.call("rds", "reboot_db_instance", {"DBInstanceIdentifier": "db1"})
    assert proxy.requests == []


@pytest.mark.parametrize("fault", [fail(of("rds")), close(of("rds"))])
def test_other_failures_are_tried_once_more(client: AwsClient, proxy: FaultProxy, calls: Calls, fault: Before) -> None:
    proxy.before(fault)
    with pytest.raises(AwsError):
        client.call("rds", "describe_db_instances")
    assert len(calls) == 2


def test_a_hanging_service_is_given_up(proxy: FaultProxy, calls: Calls) -> None:
    proxy.before(hang(of("cloudwatch")))
    client = make(proxy.url, calls, read_seconds=0.3)
    with pytest.raises(UnreachableError, match="unreachable"):
        client.get_metric_data(REQUEST)
    proxy.release()


def test_a_dead_address_is_unreachable(calls: Calls) -> None:
    client = make("http://127.0.0.1:1", calls)
    with pytest.raises(UnreachableError, match="check the region's name"):
        client.get_metric_data(REQUEST)
    assert calls.outcomes == ["unreachable"]


def test_a_role_is_assumed_and_assumed_again_when_it_has_expired(proxy: FaultProxy, calls: Calls) -> None:
    expired: list[str] = []
    proxy.before(expire(expired))
    account = Account(role_arn="arn:aws:iam::222222222222:role/watch", external_id="the-id")
    client = make(proxy.url, calls, account)
    assert client.place.account_id == "222222222222"
    client.call("cloudwatch", "list_metrics")
    (assumed,) = proxy.seen("AssumeRole")
    assert assumed.parameters["ExternalId"] == "the-id"
    assert assumed.access_key == ACCESS_KEY
    first = proxy.requests[-1].access_key
    assert first != ACCESS_KEY
    expired.append(first)
    client.call("cloudwatch", "list_metrics")
    assert len(proxy.seen("AssumeRole")) == 2
    assert proxy.requests[-1].access_key not in (first, ACCESS_KEY)
    assert calls.outcomes == ["ok", "expired", "ok"]


def test_a_role_that_may_not_be_assumed_is_told(proxy: FaultProxy, calls: Calls) -> None:
    proxy.before(deny("sts:AssumeRole"))
    client = make(proxy.url, calls, Account(role_arn="arn:aws:iam::222222222222:role/watch"))
    with pytest.raises(ForbiddenError) as caught:
        client.call("cloudwatch", "list_metrics")
    assert caught.value.action == "sts:AssumeRole"


@pytest.mark.parametrize("status", [200, 403, 502])
@pytest.mark.parametrize("service", ["sts", "cloudwatch", "rds", "ecs"])
def test_a_page_of_a_proxy_is_no_answer_of_aws(proxy: FaultProxy, calls: Calls, service: str, status: int) -> None:
    page = b"<html><body><h1>Please sign in<br></h1></body></html>"
    proxy.before(lambda _request: Answer(status=status, headers={"Content-Type": "text/html"}, body=page))
    operation = {"sts": "get_caller_identity", "cloudwatch": "list_metrics", "rds": "describe_db_instances"}
    with pytest.raises(AwsError) as error:
        make(proxy.url, calls).call(service, operation.get(service, "list_clusters"))
    assert not isinstance(error.value, ThrottledError)


def test_a_profile_that_is_not_there_is_told(proxy: FaultProxy, calls: Calls) -> None:
    client = make(proxy.url, calls, Account(profile="nobody"))
    with pytest.raises(CredentialsError, match="no AWS profile 'nobody'"):
        client.call("cloudwatch", "list_metrics")


def test_a_sign_in_that_has_expired_is_told(tmp_path: Path) -> None:
    shared = tmp_path / "config"
    shared.write_text(
        "[profile dev]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = reader\n"
        "[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp.example/start\n"
        "sso_registration_scopes = sso:account:access\n"
    )
    cache = tmp_path / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True)
    token = {"accessToken": "made-up", "expiresAt": "2020-01-01T00:00:00Z", "startUrl": "https://corp.example/start"}
    (cache / f"{hashlib.sha1(b'corp').hexdigest()}.json").write_text(json.dumps(token))
    ask = (
        "from loadwatch_collectors.sources.aws.client.client import Account, ConnectOptions\n"
        "from loadwatch_collectors.sources.aws.client.client import connect\n"
        "from loadwatch_collectors.sources.aws.client.errors import AwsError\n"
        f"client = connect(Account(profile='dev'), '{REGION}', ConnectOptions(), lambda call, seconds: None)\n"
        "try:\n"
        "    client.call('cloudwatch', 'list_metrics')\n"
        "except AwsError as error:\n"
        "    print(error.outcome, error)\n"
    )
    # In a process of its own: botocore looks up the user's folder once.
    environment = {"HOME": str(tmp_path), "AWS_CONFIG_FILE": str(shared), "PATH": os.environ["PATH"]}
    found = subprocess.run(
        [sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout.startswith("expired ")
    assert "the credentials of the profile dev cannot be had" in found.stdout
    assert "Token has expired" in found.stdout


def test_no_credentials_at_all(proxy: FaultProxy, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    client = make(proxy.url, calls)
    with pytest.raises(CredentialsError, match="no credentials of the environment; give a profile"):
        client.call("cloudwatch", "list_metrics")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[CredentialServer]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with running_credential_server() as server:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"{server.url}/")
        yield server


def test_an_instance_role_by_version_two_of_the_metadata(
    proxy: FaultProxy, calls: Calls, machine: CredentialServer
) -> None:
    client = make(proxy.url, calls)
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "ASIAROLE000000000001"
    assert machine.refused == [], "version 1 was never tried"
    machine.key = "ASIAROLE000000000002"
    proxy.before(expire(["ASIAROLE000000000001"]))
    client.call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "ASIAROLE000000000002"


def test_the_instance_tells_its_region(machine: CredentialServer) -> None:
    assert list(default_regions()) == ["eu-central-1"]


def test_a_profile_tells_its_own_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "config"
    shared.write_text("[profile shop]\nregion = sa-east-1\n[profile other]\noutput = json\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(shared))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert list(regions_of(Account(profile="shop"))) == ["sa-east-1"]
    assert list(regions_of(Account(profile="other"))) == []
    assert list(regions_of(Account(profile="nobody"))) == []
    assert list(regions_of(Account())) == []


def test_the_environment_tells_the_region_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(default_regions()) == [REGION]
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert list(default_regions()) == ["eu-west-3"]


def test_a_task_role_by_the_containers_endpoint(
    proxy: FaultProxy, calls: Calls, machine: CredentialServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{machine.url}/task")
    make(proxy.url, calls).call("cloudwatch", "list_metrics")
    assert proxy.requests[-1].access_key == "ASIAROLE000000000001"


def test_a_database_token_is_signed_without_a_request(client: AwsClient, proxy: FaultProxy) -> None:
    made = client.database_token(host="db.example.com", port=3306, user="watch")
    assert made.token.startswith("db.example.com:3306/?Action=connect&DBUser=watch&")
    assert "X-Amz-Signature=" in made.token
    assert "X-Amz-Expires=900" in made.token
    assert made.valid_seconds == 900
    assert proxy.requests == []


def test_a_service_that_is_left_alone_is_not_said_to_throttle(
    client: AwsClient, proxy: FaultProxy, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boto, "Backoff", partial(Backoff, first_seconds=600.0, most_seconds=600.0))
    proxy.before(fail(of("rds")))
    for _ in range(2):
        # The next try is minutes away, so why the last one failed is told again.
        with pytest.raises(ServiceError, match="AWS failed"):
            client.call("rds", "describe_db_instances")
    assert calls.outcomes == ["failed"]
