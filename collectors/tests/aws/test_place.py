"""One place with the real client over HTTP, on a clock of the test's."""

from collections.abc import Iterator

import pytest
from loadwatch_collectors.aws import client_botocore
from loadwatch_collectors.aws.client import Account, AwsClient, ConnectOptions
from loadwatch_collectors.aws.connect import connect
from loadwatch_collectors.aws.place import NothingToFind, PlaceWatch
from loadwatch_collectors.aws.reader import PlaceReader, ReaderOptions
from loadwatch_collectors.aws.settings import CustomMetricSettings

from collectors.tests.aws.fault_proxy import FaultProxy
from collectors.tests.aws.fault_proxy_faults import of, throttle
from collectors.tests.aws.fault_proxy_metrics import CloudWatchData
from collectors.tests.aws.moto_server import REGION

START = 1_795_000_080


class Clock:
    def __init__(self) -> None:
        self.now = float(START)

    def read(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def client(proxy: FaultProxy, aws_environment: None) -> Iterator[AwsClient]:
    made = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
    yield made
    made.close()


def test_a_lookup_that_is_throttled_leaves_time_to_read_what_is_known(
    client: AwsClient, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    data = CloudWatchData(now=clock.read)
    for name in ("Orders", "Carts"):
        for minute in range(-10, 20):
            data.put(("Shop", name, {"shop": "a"}), "Sum", START + minute * 60, 1.0)
    custom = [
        CustomMetricSettings(namespace="Shop", metric=name, dimensions={"shop": "*"}, statistics=("Sum",))
        for name in ("Orders", "Carts")
    ]
    reader = PlaceReader(client, ReaderOptions(), clock=clock.read, pause=clock.pause)
    watch = PlaceWatch(client, reader, NothingToFind(), presets={}, custom=custom, clock=clock.read)

    def poll() -> tuple[int, set[str]]:
        """How many lookups failed, and of what there is something new."""
        clock.now += 60
        found = watch.poll(int(clock.now * 1000), clock.now + 40)
        return len(found.errors), {sample.name for sample in found.reading.samples}

    both = {"aws_shop_orders_sum", "aws_shop_carts_sum"}
    data.attach(proxy)
    assert poll() == (0, both)
    clock.now += 300
    monkeypatch.setattr(client_botocore, "CALL_SECONDS", 0.2)
    throttled = proxy.before(throttle(of(operation="ListMetrics")), first=True)
    assert poll() == (1, both)
    assert poll() == (1, both)
    asked = len(proxy.seen("ListMetrics"))
    assert poll() == (0, both), "what is known is read, and looked up again later"
    assert len(proxy.seen("ListMetrics")) == asked
    proxy.remove(throttled)
    monkeypatch.setattr(client_botocore, "CALL_SECONDS", 60.0)
    clock.now += 300
    assert poll() == (0, both)
    assert len(proxy.seen("ListMetrics")) == asked + 2
