"""One place with the real client over HTTP, on a clock of the test's."""

from collections.abc import Iterator, Sequence

import pytest
from loadwatch_collectors.sources.aws.client import boto
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect
from loadwatch_collectors.sources.aws.client.errors import AwsError, ClockError, ThrottledError
from loadwatch_collectors.sources.aws.model import AccountRegion, Found, Resource
from loadwatch_collectors.sources.aws.place import NothingToFind, PlaceWatch, Poll
from loadwatch_collectors.sources.aws.presets import load_presets
from loadwatch_collectors.sources.aws.reading.reader import PlaceReader, ReaderOptions
from loadwatch_collectors.sources.aws.settings import CustomMetricSettings

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import of, refuse_signature, throttle
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData
from collectors.tests.sources.aws.moto_server import REGION

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
    monkeypatch.setattr(boto, "CALL_SECONDS", 0.2)
    throttled = proxy.before(throttle(of(operation="ListMetrics")), first=True)
    assert poll() == (1, both)
    assert poll() == (1, both)
    asked = len(proxy.seen("ListMetrics"))
    assert poll() == (0, both), "what is known is read, and looked up again later"
    assert len(proxy.seen("ListMetrics")) == asked
    proxy.remove(throttled)
    monkeypatch.setattr(boto, "CALL_SECONDS", 60.0)
    clock.now += 300
    assert poll() == (0, both)
    assert len(proxy.seen("ListMetrics")) == asked + 2


class Finds(NothingToFind):
    """Finds what a test says."""

    def __init__(self, *resources: Resource) -> None:
        self.resources: Sequence[Resource] = resources
        self.failed: Sequence[tuple[str, AwsError]] = ()

    def found(self, wait_seconds: float = 0.0) -> Found:
        return Found(resources=self.resources)

    def errors(self) -> Sequence[tuple[str, AwsError]]:
        return self.failed


def make_queue(name: str) -> Resource:
    return Resource(
        kind="sqs",
        name=f"arn:aws:sqs:{REGION}:123456789012:{name}",
        place=AccountRegion(account_id="123456789012", region=REGION),
        dimensions=(("QueueName", name),),
    )


AGE = "aws_sqs_approximate_age_of_oldest_message_maximum"


def ages(poll: Poll, queue: str) -> dict[int, float]:
    """What is new of a queue, by minutes since the beginning."""
    return {
        ((sample.timestamp_ms or 0) // 1000 - START) // 60: sample.value
        for sample in poll.reading.samples
        if sample.name == AGE and ("dimension_QueueName", queue) in sample.labels
    }


def test_the_last_minutes_of_what_goes_are_read_and_what_is_revised_of_them(
    client: AwsClient, proxy: FaultProxy
) -> None:
    clock = Clock()
    data = CloudWatchData(now=clock.read)
    for queue in ("gone", "stays"):
        metric = ("AWS/SQS", "ApproximateAgeOfOldestMessage", {"QueueName": queue})
        for minute in range(-10, 5):
            data.put(metric, "Maximum", START + minute * 60, float(minute))
        # The last minute comes five minutes after its end, and an earlier one changes.
        data.put(metric, "Maximum", START + 5 * 60, 5.0, known_from=START + 11 * 60)
        data.put(metric, "Maximum", START + 3 * 60, 33.0, known_from=START + 10 * 60)
    data.attach(proxy)
    reader = PlaceReader(client, ReaderOptions(), clock=clock.read, pause=clock.pause)
    finds = Finds(make_queue("gone"), make_queue("stays"))
    watch = PlaceWatch(client, reader, finds, presets=load_presets(["sqs"]), linger_ms=720_000, clock=clock.read)
    found: dict[int, float] = {}
    wanted: list[int] = []
    for minute in range(24):
        clock.now = START + minute * 60 + 1
        if minute == 6:
            finds.resources = (make_queue("stays"),)
        poll = watch.poll(int(clock.now * 1000), clock.now + 40)
        found |= ages(poll, "gone")
        wanted.append(len(poll.wanted))
    assert {minute: found[minute] for minute in (3, 4, 5, 6)} == {3: 2.0, 4: 33.0, 5: 4.0, 6: 5.0}
    assert wanted[5] == wanted[6] == wanted[17] == 2 * wanted[18], "it is read, and billed, for twelve minutes more"
    assert watch.poll(int(clock.now * 1000), clock.now + 40).newest_ms.keys() == {"AWS/SQS"}
    finds.resources = ()
    assert not watch.poll(int(clock.now * 1000), clock.now + 40).newest_ms, "nothing of it can be late any more"
    finds.resources = (make_queue("stays"),)
    assert len(watch.poll(int(clock.now * 1000), clock.now + 40).wanted) == wanted[18], "what comes back is read once"


def test_why_an_earlier_look_failed_does_not_hide_why_reading_fails_now(client: AwsClient, proxy: FaultProxy) -> None:
    clock = Clock()
    CloudWatchData(now=clock.read, value=lambda _query, _begin: 1.0).attach(proxy)
    reader = PlaceReader(client, ReaderOptions(), clock=clock.read, pause=clock.pause)
    finds = Finds(make_queue("mails"))
    wrong_clock = ClockError("sqs ListQueues: this host's clock is wrong", offset_seconds=600.0, code="x")
    slow = ThrottledError("sqs ListQueues: AWS throttles", code="Throttling")
    finds.failed = [("sqs", wrong_clock), ("rds", slow)]
    watch = PlaceWatch(client, reader, finds, presets=load_presets(["sqs"]), clock=clock.read)

    def poll() -> list[str]:
        clock.now += 60
        return [str(error) for error in watch.poll(int(clock.now * 1000), clock.now + 40).errors]

    assert poll() == [str(slow)], "AWS has answered, so the clock is right by now"
    fault = proxy.before(throttle(of(operation="GetMetricData")), first=True)
    first, *others = poll()
    assert first.startswith("cloudwatch GetMetricData")
    assert "throttles" in first
    assert others == [str(slow)]
    proxy.remove(fault)
    fault = proxy.before(refuse_signature(600.0, of(operation="GetMetricData")), first=True)
    proxy.date_offset_seconds = -600.0
    clock.now += 60
    first, *others = poll()
    assert first.startswith("cloudwatch GetMetricData")
    assert "clock" in first
    assert others == [str(wrong_clock), str(slow)]
