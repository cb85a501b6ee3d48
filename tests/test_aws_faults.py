"""What the cloudwatch collector must hold: each fault by a proxy before moto, with real botocore over real HTTP.

Where minutes must pass, the real collector runs in the runner's worker on a clock of the test's; elsewhere it is the
real agent's process.
"""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.sources.aws.presets import load_presets
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings, CustomMetricSettings

from collectors.tests.receiver import Received, Receiver, running
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy, running_proxy
from collectors.tests.sources.aws.fault_proxy.faults import expire, hang, of, refuse_signature, throttle
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query
from collectors.tests.sources.aws.fault_proxy.protocols import Answer
from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION, SECRET_KEY
from tests.aws_polling import MINUTE, Polling, aligned_now, query_range
from tests.serving import LOADWATCH, RealServer

ORDERS = ("Shop", "Orders", {"Store": "tokyo"})
SERIES = "aws_shop_orders_sum"
OTHER_REGION = "eu-west-1"
LB = "app/shop/50dc6c495c0c9188"
CALLER = {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/test", "UserId": "AIDATEST"}


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """A proxy that answers by itself: nothing here needs moto's data, and who calls is always the same."""
    with running_proxy("http://127.0.0.1:9") as running_one:
        running_one.answers["sts", "GetCallerIdentity"] = lambda _: CALLER
        yield running_one


@pytest.fixture(autouse=True)
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def loadwatch_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server for what is drawn; each test has a metric of its own."""
    server = RealServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server.url
    assert server.stop() == 0


def orders(**more: Any) -> CustomMetricSettings:
    return CustomMetricSettings(
        namespace="Shop", metric="Orders", dimensions={"Store": "tokyo"}, statistics=("Sum",), **more
    )


def settings(proxy: FaultProxy, **changes: Any) -> CloudWatchSettings:
    usual = CloudWatchSettings(endpoint_url=proxy.url, regions=(REGION,), presets=(), custom=(orders(),))
    return replace(usual, **changes)


@contextmanager
def polling(proxy: FaultProxy, now: float, **changes: Any) -> Generator[Polling]:
    one = Polling(settings(proxy, **changes), now)
    try:
        yield one
    finally:
        one.close()


def minutes(start: int, count: int) -> range:
    return range(start, start + count * MINUTE, MINUTE)


# ---- on the clock of the test ---------------------------------------------------------------------------------------


def test_throttling_for_ten_minutes_costs_no_point(proxy: FaultProxy, loadwatch_server: str) -> None:
    start = aligned_now(40)
    with polling(proxy, start, timeout=1.0) as watched:
        CloudWatchData(now=watched.clock, value=lambda _, begin: 1_000.0 + begin % 977).attach(proxy)
        watched.poll(5)
        fault = proxy.before(throttle(of("cloudwatch", "GetMetricData")), first=True)
        known = watched.named(SERIES)
        before = len(proxy.seen("GetMetricData"))
        during = watched.poll(10)
        asked = len(proxy.seen("GetMetricData")) - before
        assert watched.named(SERIES) == known, "nothing is sent that CloudWatch has not given"
        assert any("throttl" in error.lower() for error in watched.errors())
        assert watched.latest("up") == 0.0
        assert 0 < asked <= 10, "it backs off instead of asking on"
        assert not [sample for sample in during if sample.name == SERIES]
        proxy.remove(fault)
        wait_until_read(watched)
        end = int(watched.now)
        throttled = watched.latest("aws_api_throttled_total", service="cloudwatch")
        assert throttled is not None
        assert throttled >= asked
        watched.push(loadwatch_server)
    newest = end - 2 * MINUTE
    drawn = query_range(loadwatch_server, f"last_over_time({SERIES}[{MINUTE - 1}s])", start, newest)
    wanted = {at: 1_000.0 + (at - MINUTE) % 977 for at in range(start, newest + 1, MINUTE)}
    assert drawn == wanted, "every minute is there afterwards, also those of the ten"


def wait_until_read(watched: Polling) -> None:
    """Poll on until the place can be read again: the pace of requests goes by real time."""
    give_up = time.monotonic() + 180
    while time.monotonic() < give_up:
        watched.poll(seconds=1)
        if watched.latest("aws_place_up") == 1.0:
            return
        time.sleep(0.3)
    raise AssertionError(watched.errors())


def test_late_and_revised_values_overwrite(proxy: FaultProxy, loadwatch_server: str) -> None:
    start = aligned_now(40)
    custom = CustomMetricSettings(
        namespace="Revised", metric="Orders", dimensions={"Store": "tokyo"}, statistics=("Sum",)
    )
    metric = ("Revised", "Orders", {"Store": "tokyo"})
    third, sixth = start + 2 * MINUTE, start + 5 * MINUTE
    with polling(proxy, start, custom=(custom,)) as watched:
        data = CloudWatchData(now=watched.clock)
        data.attach(proxy)
        for number, begin in enumerate(minutes(start, 10)):
            if begin != sixth:
                data.put(metric, "Sum", begin, 10.0 + number, known_from=begin + MINUTE)
        # The third minute is counted up twice, four and seven minutes after; the sixth comes eight minutes late.
        data.put(metric, "Sum", third, 112.0, known_from=third + 4 * MINUTE)
        data.put(metric, "Sum", third, 212.0, known_from=third + 7 * MINUTE)
        data.put(metric, "Sum", sixth, 15.0, known_from=sixth + 8 * MINUTE)
        name = "aws_revised_orders_sum"
        values: list[float | None] = []
        for _ in range(16):
            watched.poll()
            values.append(watched.named(name).get(third + MINUTE))
            if watched.now < sixth + 8 * MINUTE:
                assert sixth + MINUTE not in watched.named(name), "late is not zero"
        assert [value for index, value in enumerate(values) if value not in values[:index]] == [
            None,
            12.0,
            112.0,
            212.0,
        ]
        sends = [s for s in watched.sent if s.name == name and s.timestamp_ms == (third + MINUTE) * 1000]
        assert len(sends) == 3, "a point that has not changed is not sent again"
        watched.push(loadwatch_server)
    drawn = query_range(loadwatch_server, f"last_over_time({name}[{MINUTE - 1}s])", start + MINUTE, start + 10 * MINUTE)
    expected = {begin + MINUTE: 10.0 + number for number, begin in enumerate(minutes(start, 10))}
    assert drawn == {**expected, third + MINUTE: 212.0, sixth + MINUTE: 15.0}


def answer_balancer(proxy: FaultProxy) -> None:
    arn = f"arn:aws:elasticloadbalancing:{REGION}:123456789012:loadbalancer/{LB}"
    proxy.answers["elbv2", "DescribeLoadBalancers"] = lambda _: {
        "LoadBalancers": [
            {"LoadBalancerArn": arn, "LoadBalancerName": "shop", "Type": "application", "Scheme": "internal"}
        ]
    }
    proxy.answers["elbv2", "DescribeLoadBalancerAttributes"] = lambda _: {
        "Attributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "60"}]
    }
    proxy.answers["elbv2", "DescribeTargetGroups"] = lambda _: {"TargetGroups": []}


def test_late_data_is_never_drawn_as_zero(proxy: FaultProxy, loadwatch_server: str) -> None:
    start = aligned_now(40)
    failures = start + 3 * MINUTE
    stall = start + 8 * MINUTE

    def value(query: Query, begin: int) -> float | None:
        """Requests each minute until CloudWatch stops delivering; 5xx only in the minute in which there were some."""
        if query.name == "RequestCount" and start - 20 * MINUTE <= begin < stall:
            return 600.0
        return 7.0 if query.name == "HTTPCode_Target_5XX_Count" and begin == failures else None

    answer_balancer(proxy)
    with polling(proxy, start, presets=("alb",), custom=()) as watched:
        CloudWatchData(now=watched.clock, value=value, hold_back=30.0).attach(proxy)
        watched.poll(30)
        assert watched.latest("aws_place_up") == 1.0, watched.errors()
        now = int(watched.now)
        age = watched.latest("aws_newest_point_age_seconds", namespace="AWS/ApplicationELB")
        assert age == now - stall, "how far CloudWatch is behind is told"
        watched.push(loadwatch_server)
    names = {
        "aws_applicationelb_request_count_sum": 600.0,
        "aws_applicationelb_httpcode_target_5_xx_count_sum": 0.0,
    }
    sent = {sample.name for sample in watched.sent}
    for name, usual in names.items():
        assert name in sent, sorted(sent)
        drawn = query_range(loadwatch_server, f"last_over_time({name}[{MINUTE - 1}s])", start, now)
        expected = dict.fromkeys(range(start, stall + 1, MINUTE), usual)
        if usual == 0.0:
            expected[failures + MINUTE] = 7.0
        assert drawn == expected, f"{name}: nothing beyond the newest point that was delivered"
    later = [s for s in watched.sent if s.name in loadbalancer_metrics() and s.timestamp_ms > stall * 1000]
    assert not later, "and nothing of the other metrics either"


def loadbalancer_metrics() -> set[str]:
    return {name for preset in load_presets(("alb",)).values() for metric in preset.metrics for name in metric.names}


def test_five_thousand_resources_are_read_whole(proxy: FaultProxy) -> None:
    count, page = 5_000, 1_000
    start = aligned_now(30)

    def queues(request: AwsRequest) -> dict[str, Any]:
        begin = int(request.parameters.get("NextToken") or 0)
        base = f"https://sqs.{REGION}.amazonaws.com/123456789012"
        urls = [f"{base}/queue-{number}" for number in range(begin, min(begin + page, count))]
        return {"QueueUrls": urls, **({"NextToken": str(begin + page)} if begin + page < count else {})}

    proxy.answers["sqs", "ListQueues"] = queues
    with polling(proxy, start, presets=("sqs",), custom=(), timeout=600.0, reread=120.0) as watched:
        data = CloudWatchData(now=watched.clock, value=lambda _, begin: float(begin % 101), page_points=5_000)
        data.attach(proxy)
        watched.poll()
        assert watched.latest("aws_place_up") == 1.0, watched.errors()
        assert len(proxy.seen("ListQueues")) == 5
        assert watched.latest("aws_discovered_resources", kind="sqs") == count
        wanted = watched.latest("aws_wanted_metrics")
        assert wanted is not None
        assert wanted >= count
        assert watched.latest("aws_unread_metrics") == 0
        name = "aws_sqs_approximate_number_of_messages_visible_average"
        newest = (int(watched.now) - 2 * MINUTE) * 1000
        found = {s.labels["dimension_QueueName"] for s in watched.sent if s.name == name and s.timestamp_ms == newest}
        assert len(found) == count
        assert data.metrics_requested == wanted, "each metric is asked for, and billed, once"
        assert all(queries <= 500 for _, _, queries in data.windows)


# ---- the agent's process -------------------------------------------------------------------------------------------


def write_config(folder: Path, receiver_url: str, proxy: FaultProxy, block: str = "") -> Path:
    path = folder / "loadwatch.yml"
    path.write_text(
        f"server: {{url: '{receiver_url}'}}\n"
        f"spool: {{directory: '{folder / 'spool'}'}}\n"
        "targets:\n"
        "  - job: aws\n"
        "    interval: 1s\n"
        "    cloudwatch:\n"
        f"      endpoint_url: {proxy.url}\n"
        "      presets: []\n"
        "      custom: [{namespace: Shop, metric: Orders, dimensions: {Store: tokyo}, statistics: [Sum], period: 5s}]\n"
        + block
    )
    return path


@contextmanager
def agent(config: Path, **environment: str) -> Generator["subprocess.Popen[bytes]"]:
    log = config.parent / "agent.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(LOADWATCH), "agent", "--config", str(config)], stderr=out, env={**os.environ, **environment}
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(120)


def newest(samples: list[Received], name: str, **labels: str) -> Received | None:
    found = [s for s in samples if s.name == name and labels.items() <= s.labels.items() and not s.is_stale]
    return max(found, key=lambda sample: sample.timestamp_ms, default=None)


def told(receiver: Receiver, word: str) -> bool:
    return any(word in sample.labels.get("error", "") for sample in receiver.samples)


def test_credentials_that_expire_in_the_middle_of_a_poll_are_read_again(proxy: FaultProxy, tmp_path: Path) -> None:
    # Each time that it is asked, the process that gives credentials gives the next key.
    counter, script, shared = tmp_path / "count", tmp_path / "credentials.py", tmp_path / "config"
    script.write_text(
        "import json, pathlib\n"
        f"path = pathlib.Path({str(counter)!r})\n"
        "number = int(path.read_text()) + 1 if path.exists() else 0\n"
        "path.write_text(str(number))\n"
        "key = 'AKIATESTING00000000' + chr(ord('A') + number)\n"
        f"print(json.dumps({{'Version': 1, 'AccessKeyId': key, 'SecretAccessKey': {SECRET_KEY!r},\n"
        "    'SessionToken': 'made-up', 'Expiration': '2099-01-01T00:00:00Z'}))\n"
    )
    shared.write_text(f"[profile shop]\ncredential_process = {sys.executable} {script}\n")
    expired: set[str] = set()

    def expire_between_pages(request: AwsRequest) -> Answer | None:
        """The first key's time is over when the first page has been given."""
        if request.operation == "GetMetricData" and request.parameters.get("NextToken"):
            expired.add("AKIATESTING00000000A")
        return None

    proxy.before(expire_between_pages)
    proxy.before(expire(expired))
    CloudWatchData(value=lambda _, begin: float(begin % 997), page_points=60).attach(proxy)
    receiver = Receiver()
    with running(receiver):
        config = write_config(tmp_path, receiver.url, proxy, "      accounts: [{profile: shop}]\n")
        without_keys = {"AWS_CONFIG_FILE": str(shared), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
        with agent(config, **without_keys):
            receiver.wait_for(lambda: len({s.timestamp_ms for s in receiver.samples if s.name == SERIES}) >= 10)
            receiver.wait_for(lambda: newest(receiver.samples, "aws_api_requests_total", outcome="expired") is not None)
    assert {request.access_key[-1] for request in proxy.seen("GetMetricData")} == {"A", "B"}
    ups = [sample.value for sample in receiver.named("up") if sample.labels["collector"] == "cloudwatch"]
    assert ups[0] == 1.0, "the poll went on with the new key"


def test_credentials_that_cannot_be_renewed_are_explained(proxy: FaultProxy, tmp_path: Path) -> None:
    CloudWatchData(value=lambda _, begin: float(begin % 997)).attach(proxy)
    receiver = Receiver()
    with running(receiver), agent(write_config(tmp_path, receiver.url, proxy), AWS_SESSION_TOKEN="made-up"):
        receiver.wait_for(lambda: bool(receiver.named(SERIES)))
        proxy.before(expire([ENVIRONMENT["AWS_ACCESS_KEY_ID"]]), first=True)
        receiver.wait_for(lambda: told(receiver, "credentials have expired"))
    assert {sample.value for sample in receiver.named(SERIES) if not sample.is_stale} != {0.0}
    assert "renew them" in (tmp_path / "agent.log").read_text()


def test_a_region_that_is_unreachable_costs_the_others_nothing(proxy: FaultProxy, tmp_path: Path) -> None:
    proxy.before(hang(of(region=OTHER_REGION)))
    CloudWatchData(value=lambda _, begin: float(begin % 997)).attach(proxy)
    receiver = Receiver()

    def up(region: str) -> float | None:
        found = newest(receiver.samples, "aws_place_up", region=region)
        return None if found is None else found.value

    with running(receiver):
        block = f"      regions: [{REGION}, {OTHER_REGION}]\n      timeout: 5s\n"
        with agent(write_config(tmp_path, receiver.url, proxy, block)):
            receiver.wait_for(lambda: bool(receiver.named(SERIES)))
            receiver.wait_for(lambda: newest(receiver.samples, "aws_place_error_info", region=OTHER_REGION) is not None)
            receiver.wait_for(lambda: (up(REGION), up(OTHER_REGION)) == (1.0, 0.0))
    assert {sample.labels["region"] for sample in receiver.named(SERIES)} == {REGION}
    assert 1.0 in {sample.value for sample in receiver.named("up") if sample.labels["collector"] == "cloudwatch"}


@pytest.mark.parametrize(("offset", "words"), [(300, "ahead of AWS"), (-320, "behind AWS")])
def test_a_wrong_clock_is_explained(proxy: FaultProxy, tmp_path: Path, offset: int, words: str) -> None:
    proxy.date_offset_seconds = -offset
    proxy.before(refuse_signature(offset))
    config = write_config(tmp_path, "http://127.0.0.1:9/write", proxy)
    found = subprocess.run(
        [str(LOADWATCH), "check", "--config", str(config)], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 1, found.stdout + found.stderr
    assert "this host's clock is 5 min" in found.stdout
    assert words in found.stdout
    assert "set the clock" in found.stdout
