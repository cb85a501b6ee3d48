"""The collector as a whole: real botocore over HTTP to moto and the proxy, under the real runner where that matters."""

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.config import AgentConfig, load_config
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.pipeline.runner import Runner
from loadwatch_collectors.pipeline.sender import encode_rows
from loadwatch_collectors.series import SampleRow
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.registry import sources_by_name

from collectors.tests.receiver import Received, decode_write_request
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, fail, hang, of, throttle
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query, read_parameters
from collectors.tests.sources.aws.fault_proxy.protocols import encode_error
from collectors.tests.sources.aws.moto_server import ACCOUNT, ENVIRONMENT, REGION, MotoServer

pytestmark = pytest.mark.usefixtures("aws_environment")

ORDERS = "custom: [{namespace: Shop, metric: Orders, dimensions: {shop: a}, statistics: [Sum, p99]}]"


def read_config(block: str, *, target: str = "") -> AgentConfig:
    lines = "\n".join(f"      {line}" for line in block.splitlines())
    text = f"targets:\n  - job: aws\n    instance: test\n{target}    cloudwatch:\n{lines}\n"
    return load_config(parse_document(text, "loadwatch.yml"), sources_by_name())


@dataclass
class Wall:
    now: float

    def read(self) -> float:
        return self.now


@pytest.fixture
def wall() -> Wall:
    return Wall(time.time() // 60 * 60 + 5)


@pytest.fixture
def made() -> Iterator[list[CloudWatchCollector]]:
    collectors: list[CloudWatchCollector] = []
    yield collectors
    for collector in collectors:
        collector.close()


def make(made: list[CloudWatchCollector], wall: Wall, url: str, block: str) -> CloudWatchCollector:
    config = read_config(f"endpoint_url: {url}\n{block}")
    made.append(CloudWatchCollector(config.collectors[0].settings, wall=wall.read))
    return made[-1]


def find(samples: Sequence[Sample], name: str, **labels: str) -> list[Sample]:
    return [sample for sample in samples if sample.name == name and labels.items() <= dict(sample.labels).items()]


def value(samples: Sequence[Sample], name: str, **labels: str) -> float:
    (sample,) = find(samples, name, **labels)
    return sample.value


def test_custom_metrics_with_their_labels_and_own_times(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    data = CloudWatchData(now=wall.read, value=lambda _query, begin: float(begin % 1000))
    data.attach(proxy)
    collector = make(made, wall, proxy.url, f"presets: []\n{ORDERS}")
    samples = collector.collect()
    points = find(samples, "aws_shop_orders_sum")
    assert len(points) == 10
    assert dict(points[0].labels) == {"account_id": ACCOUNT, "region": REGION, "dimension_shop": "a"}
    newest = max(point.timestamp_ms or 0 for point in points)
    assert newest == (int(wall.now) - 120) // 60 * 60 * 1000, "the end of the newest period that ended 2 min ago"
    assert len(find(samples, "aws_shop_orders_p99")) == 10
    assert value(samples, "aws_place_up", region=REGION) == 1
    assert value(samples, "aws_metrics_requested_total", preset="custom") == 1
    assert value(samples, "aws_newest_point_age_seconds", namespace="Shop") == pytest.approx(125, abs=1)
    assert value(samples, "aws_query_states_total", state="Complete") == 2
    assert value(samples, "aws_api_requests_total", operation="get_metric_data", outcome="ok") == 1
    assert collector.fault() is None
    again = collector.collect()
    assert find(again, "aws_shop_orders_sum") == []
    assert {info.name for info in collector.metadata()} == {"aws_shop_orders_sum", "aws_shop_orders_p99"}


def test_wildcards_of_custom_metrics_are_looked_up(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    data = CloudWatchData(now=wall.read)
    for shop in "abc":
        data.put(("Shop", "Orders", {"shop": shop}), "Sum", int(wall.now) // 60 * 60 - 240, 1.0)
    data.put(("Shop", "Orders", {"shop": "a", "till": "1"}), "Sum", int(wall.now) // 60 * 60 - 240, 1.0)
    data.attach(proxy)
    block = "presets: []\ncustom: [{namespace: Shop, metric: Orders, dimensions: {shop: '*'}, statistics: [Sum]}]"
    collector = make(made, wall, proxy.url, block)
    shops = sorted(dict(sample.labels)["dimension_shop"] for sample in find(collector.collect(), "aws_shop_orders_sum"))
    assert shops == ["a", "b", "c"]


def make_database(moto: MotoServer, name: str, region: str = REGION) -> None:
    moto.client("rds", region).create_db_instance(
        DBInstanceIdentifier=name, Engine="mysql", DBInstanceClass="db.r6g.large", AllocatedStorage=100,
        MasterUsername="root", MasterUserPassword="made-up-1",
    )  # fmt: skip


def test_metrics_of_a_day_are_looked_up_also_when_they_are_quiet(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    CloudWatchData(now=wall.read).attach(proxy)
    for period in ("1m", "1d"):
        custom = f"custom: [{{namespace: AWS/S3, metric: Size, dimensions: {{Bucket: '*'}}, period: {period}}}]"
        make(made, wall, proxy.url, f"presets: []\n{custom}").collect()
    minutely, daily = (read_parameters(request) for request in proxy.seen("ListMetrics"))
    assert minutely["RecentlyActive"] == "PT3H"
    assert "RecentlyActive" not in daily


def test_what_is_discovered_is_read(
    moto: MotoServer, proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    make_database(moto, "prod-1")
    make_database(moto, "prod-2")
    make_database(moto, "dev-1")
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    collector = make(made, wall, proxy.url, 'presets: [rds]\nselect: {rds: {names: ["prod-*"]}}')
    samples = collector.collect()
    connections = find(samples, "aws_rds_database_connections_average")
    assert {dict(sample.labels)["dimension_DBInstanceIdentifier"] for sample in connections} == {"prod-1", "prod-2"}
    (info,) = find(samples, "aws_rds_info", identifier="prod-1")
    assert dict(info.labels)["engine"] == "mysql"
    assert dict(info.labels)["name"] in {dict(sample.labels)["name"] for sample in connections}, "both join by name"
    kept = find(collector.collect(), "aws_rds_info", identifier="prod-1")
    assert [sample.timestamp_ms for sample in kept] == [KEPT], "facts stand between minutes"
    lines = "\n".join(collector.explain())
    assert "found 2 rds" in lines
    assert "USD in 30 days" in lines


def test_a_region_that_hangs_costs_the_others_nothing(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    proxy.before(hang(of(region="eu-west-1")))
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    block = f"regions: [eu-west-1, {REGION}]\ntimeout: 6s\npresets: []\n{ORDERS}"
    collector = make(made, wall, proxy.url, block)
    for minute in range(3):
        samples = collector.collect()
        assert len(find(samples, "aws_shop_orders_sum", region=REGION)) == (10 if minute == 0 else 1)
        assert find(samples, "aws_shop_orders_sum", region="eu-west-1") == []
        assert value(samples, "aws_place_up", region=REGION) == 1
        assert value(samples, "aws_place_up", region="eu-west-1") == 0
        fault = collector.fault()
        assert fault is not None
        assert not fault.total
        wall.now += 60
    proxy.release()


def test_a_region_that_goes_on_hanging_is_not_waited_for(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    failing = proxy.before(fail(of(region="us-west-2")))
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    block = f"regions: [{REGION}, us-west-2]\ntimeout: 40s\npresets: []\n{ORDERS}"
    collector = make(made, wall, proxy.url, block)
    collector.collect()
    fault = collector.fault()
    assert fault is not None
    hanging = proxy.before(hang(of(region="us-west-2")), first=True)
    proxy.remove(failing)
    wall.now += 60
    assert find(collector.collect(), "aws_shop_orders_sum", region=REGION), "what is there comes at once"
    assert collector.fault() == fault, "and nobody has waited for the end of its time"
    proxy.remove(hanging)
    proxy.release()
    give_up = time.monotonic() + 60
    samples: Sequence[Sample] = ()
    while not find(samples, "aws_shop_orders_sum", region="us-west-2"):
        assert time.monotonic() < give_up
        wall.now += 60
        samples = collector.collect()
    assert collector.fault() is None


def test_a_place_that_is_too_large_for_a_poll_is_not_down(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    def take_time(request: AwsRequest) -> None:
        if request.operation == "GetMetricData":
            time.sleep(2.0)

    slow = proxy.before(take_time)
    data = CloudWatchData(now=wall.read)
    begin = int(wall.now) // 60 * 60 - 300
    for number in range(1_600):
        data.put(("Shop", "Orders", {"shop": f"s{number}"}), "Sum", begin, 1.0)
    data.attach(proxy)
    custom = "custom: [{namespace: Shop, metric: Orders, dimensions: {shop: '*'}, statistics: [Sum]}]"
    collector = make(made, wall, proxy.url, f"timeout: 6s\npresets: []\n{custom}")
    samples = collector.collect()
    assert value(samples, "aws_unread_metrics") >= 100
    assert value(samples, "aws_place_up") == 1.0
    fault = collector.fault()
    assert fault is not None
    assert not fault.total
    assert "no time is left in this poll" in fault.text
    proxy.remove(slow)
    give_up = time.monotonic() + 120
    while len({sample.labels for sample in find(samples, "aws_shop_orders_sum")}) < 1_600:
        assert time.monotonic() < give_up
        wall.now += 60
        samples += collector.collect()


def test_accounts_are_read_side_by_side(proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]) -> None:
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    roles = ", ".join(f"{{role_arn: 'arn:aws:iam::{number * 12}:role/w'}}" for number in "12")
    collector = make(made, wall, proxy.url, f"accounts: [{roles}]\npresets: []\n{ORDERS}")
    samples = collector.collect()
    for number in "12":
        assert len(find(samples, "aws_shop_orders_sum", account_id=number * 12)) == 10


def test_accounts_that_cannot_be_read_are_told_apart(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    proxy.before(deny("sts:AssumeRole"))
    roles = ", ".join(f"{{role_arn: 'arn:aws:iam::{number * 12}:role/w'}}" for number in "12")
    collector = make(made, wall, proxy.url, f"accounts: [{roles}]\npresets: []\n{ORDERS}")
    samples = collector.collect()
    for number in "12":
        assert value(samples, "aws_place_up", account_id=number * 12) == 0.0


def test_a_namespace_of_which_nothing_is_left_is_not_late(
    moto: MotoServer, proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    make_database(moto, "db1")
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    collector = make(made, wall, proxy.url, f"presets: [rds]\ndiscovery_interval: 10s\n{ORDERS}")
    assert find(collector.collect(), "aws_newest_point_age_seconds", namespace="AWS/RDS")
    proxy.answers["rds", "DescribeDBInstances"] = lambda _: {"DBInstances": []}
    give_up = time.monotonic() + 60
    samples = collector.collect()
    while find(samples, "aws_rds_info") and time.monotonic() < give_up:
        time.sleep(0.5)
        wall.now += 60
        samples = collector.collect()
    ages = find(samples, "aws_newest_point_age_seconds")
    assert [dict(age.labels)["namespace"] for age in ages] == ["Shop"]


def test_missing_permissions_are_named(
    moto: MotoServer, proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    make_database(moto, "db1")
    proxy.before(deny("cloudwatch:GetMetricData", "elasticloadbalancing:DescribeLoadBalancers"))
    collector = make(made, wall, proxy.url, "presets: [rds, alb]")
    samples = collector.collect()
    missing = {item.permission: item for item in collector.missing_privileges()}
    assert {"cloudwatch:GetMetricData", "elasticloadbalancing:DescribeLoadBalancers"} <= missing.keys()
    assert f"metrics of {REGION} of account {ACCOUNT}" in missing["cloudwatch:GetMetricData"].lost
    assert value(samples, "aws_missing_permissions", permission="cloudwatch:GetMetricData") == 1
    assert find(samples, "aws_rds_info", identifier="db1"), "what may be seen is seen"


def test_an_account_whose_role_is_refused_is_down(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    """Nothing is found there, so nothing is asked of CloudWatch either, which must not look like an empty account."""
    refused = "is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::111122223333:role/loadwatch"
    denied = encode_error("query", "AccessDenied", refused, 403)
    proxy.before(lambda request: denied if request.operation == "AssumeRole" else None)
    block = "presets: [rds]\naccounts: [{role_arn: 'arn:aws:iam::111122223333:role/loadwatch'}]"
    collector = make(made, wall, proxy.url, block)
    samples = collector.collect()
    assert value(samples, "aws_place_up") == 0
    fault = collector.fault()
    assert fault is not None
    assert fault.total
    assert "the permission sts:AssumeRole is missing" in fault.text
    (missing,) = collector.missing_privileges()
    assert (missing.permission, missing.lost) == ("sts:AssumeRole", f"everything of {REGION} of account 111122223333")


def test_without_a_region_it_says_what_to_give(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(CollectorError, match=r"give `regions: \[\.\.\.\]`"):
        make(made, wall, proxy.url, "presets: []").collect()


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("regions: [tokyo]", "'tokyo' is not a region"),
        ("presets: [oracle]", "'oracle' is not a preset"),
        ("select: {oracle: {}}", "'oracle' is not a preset"),
        ("accounts: [{role_arn: me}]", "is not arn:aws:iam::ACCOUNT:role/NAME"),
        ("accounts: [{}]", "give profile or role_arn"),
        ("accounts: [{profile: x, external_id_file: y}]", "an external id belongs to a role"),
        ("reread: 10s", "reread must be at least 1m"),
        ("custom: [{namespace: a, metric: b, period: 7s}]", "period must be 1, 5, 10, 20, 30 s or whole minutes"),
        ("custom: [{namespace: a, metric: b, statistics: [Mean]}]", "'Mean' is not a statistic"),
        ("custom: [{namespace: a, metric: b, statistics: [p1, p2, p3, p4, p5, p6]}]", "give one to five"),
        ("custom: [{namespace: a, metric: b, unit: seconds}]", "'seconds' is not a unit of CloudWatch; write Seconds"),
        ("custom: [{namespace: a, metric: b, unit: Furlongs}]", "'Furlongs' is not a unit of CloudWatch; there are"),
        ("custom: [{namespace: a, metric: b, dimensions: {shop: ''}}]", "names and values must not be empty"),
        ("budget_usd_per_month: 0", "must be more than zero"),
        ("endpoint_url: here", "is not an http:// or https:// address"),
        ("acess_key: x", "unknown key 'acess_key'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(block: str, text: str) -> None:
    with pytest.raises(ConfigError, match=r"loadwatch\.yml:5: ") as caught:
        read_config(block)
    assert text in str(caught.value)


def test_costs_go_by_the_interval_that_is_configured(
    proxy: FaultProxy, wall: Wall, made: list[CloudWatchCollector]
) -> None:
    CloudWatchData(now=wall.read, value=lambda _query, _begin: 7.0).attach(proxy)
    block = (
        f"endpoint_url: {proxy.url}\npresets: []\n"
        "custom: [{namespace: Shop, metric: Orders, dimensions: {shop: a}, statistics: [Sum], period: 1s}]"
    )
    for target, seconds in (("    interval: 1s\n", 1), ("    interval: 5m\n", 300), ("", 60)):
        collector = read_config(block, target=target).collectors[0].build()
        assert isinstance(collector, CloudWatchCollector)
        made.append(collector)
        usd = value(collector.collect(), "aws_cost_usd_per_month_estimate", kind="metrics")
        assert usd == pytest.approx(30 * 86_400 / seconds / 1000 * 0.01)


def test_a_poll_ends_before_the_runner_gives_it_up(proxy: FaultProxy, made: list[CloudWatchCollector]) -> None:
    proxy.before(hang(of(operation="GetMetricData")))
    config = read_config(f"endpoint_url: {proxy.url}\ntimeout: 5m\npresets: []\n{ORDERS}", target="    timeout: 4s\n")
    collector = config.collectors[0].build()
    assert isinstance(collector, CloudWatchCollector)
    made.append(collector)
    collector.collect()
    fault = collector.fault()
    assert fault is not None
    assert "no answer within 2 s; the poll is still under way" in fault.text
    proxy.release()


def test_a_target_without_interval_is_read_each_minute() -> None:
    assert read_config("presets: []").collectors[0].interval_seconds == 60
    assert read_config("presets: []", target="    interval: 10s\n").collectors[0].interval_seconds == 10


class Sent(list[Received]):
    """What the runner would send."""

    def __init__(self) -> None:
        super().__init__()
        self.changed = threading.Condition()

    def write(self, blocks: Sequence[SampleRow]) -> None:
        with self.changed:
            self.extend(decode_write_request(encode_rows(blocks))[0])
            self.changed.notify_all()

    def wait_for(self, count: int, name: str, sample_value: float) -> None:
        with self.changed:
            assert self.changed.wait_for(
                lambda: sum(item.name == name and item.value == sample_value for item in list(self)) >= count, 180
            ), f"no {name} of {sample_value}"

    def named(self, name: str) -> list[Received]:
        with self.changed:
            return [item for item in self if item.name == name]


def test_under_the_runner_nothing_is_stale_between_points_and_up_tells_of_throttling(
    moto: MotoServer, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    make_database(moto, "db1")
    refusing = threading.Event()
    proxy.before(throttle(lambda request: refusing.is_set() and request.operation == "GetMetricData"))
    CloudWatchData(value=lambda _query, begin: float(begin)).attach(proxy)
    # Points of five seconds, so that several of them come while the test runs.
    block = (
        f"endpoint_url: {proxy.url}\ntimeout: 1s\ndelay: 0s\npresets: [rds]\n"
        "custom: [{namespace: Shop, metric: Orders, dimensions: {shop: a}, statistics: [Sum], period: 1s}]"
    )
    config = read_config(block, target="    interval: 300ms\n")
    received = Sent()
    runner = Runner(config.collectors, received.write)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(stop,))
    thread.start()
    try:
        received.wait_for(1, "up", 1.0)
        received.wait_for(1, "aws_rds_info", 1.0)
        refusing.set()
        received.wait_for(2, "up", 0.0)
        refusing.clear()
        recovered = len(received.named("up"))
        with received.changed:
            assert received.changed.wait_for(
                lambda: any(item.value == 1.0 for item in received.named("up")[recovered:]), 180
            )
    finally:
        stop.set()
        thread.join(180)
    orders = received.named("aws_shop_orders_sum")
    assert orders
    assert not any(item.is_stale for item in orders)
    assert all(item.value == item.timestamp_ms / 1000 - 1 for item in orders), "each at the end of its second"
    seconds = sorted({item.timestamp_ms // 1000 for item in orders})
    assert seconds == list(range(seconds[0], seconds[-1] + 1)), "throttling left no hole"
    infos = [item for item in received.named("aws_rds_info") if not item.is_stale]
    assert infos
    stale = [item.timestamp_ms for item in received.named("aws_rds_info") if item.is_stale]
    assert len(stale) == 1, "facts stand while AWS throttles; only the end marks them"
    errors = [item for item in received.named("collector_error_info") if not item.is_stale]
    assert any("AWS throttles" in item.labels["error"] for item in errors)
    assert not any(math.isnan(item.value) for item in orders)


def test_check_tells_what_it_sees_what_it_costs_and_what_it_may_not(
    moto: MotoServer, proxy: FaultProxy, tmp_path: Path
) -> None:
    make_database(moto, "db1")
    proxy.before(deny("elasticloadbalancing:DescribeLoadBalancers"))

    def level(query: Query, begin: int) -> float:
        return 12.0 if query.name == "DatabaseConnections" else 1.0

    CloudWatchData(value=level).attach(proxy)
    path = tmp_path / "loadwatch.yml"
    path.write_text(
        "targets:\n  - job: aws\n    instance: tokyo\n"
        f"    cloudwatch: {{endpoint_url: '{proxy.url}', presets: [rds, alb]}}\n"
    )
    program = Path(sys.executable).parent / "loadwatch"
    ran = subprocess.run(
        [str(program), "check", "--config", str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "aws · tokyo · cloudwatch: ok" in ran.stdout
    assert f"{REGION} of account {ACCOUNT}: found 1 rds" in ran.stdout
    assert "USD in 30 days" in ran.stdout
    assert "lacks elasticloadbalancing:DescribeLoadBalancers" in ran.stdout
    assert "lost without it: " in ran.stdout
