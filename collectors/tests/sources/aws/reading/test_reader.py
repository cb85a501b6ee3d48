"""The reader with the real client over HTTP; the clocks are the tests', so minutes pass at once."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, Backoff, ConnectOptions, connect
from loadwatch_collectors.sources.aws.client.errors import (
    ForbiddenError,
    OutOfTimeError,
    RequestError,
    ServiceError,
    ThrottledError,
)
from loadwatch_collectors.sources.aws.model import MetricKey, WantedMetric, WantedStatistic
from loadwatch_collectors.sources.aws.reading.reader import (
    MOST_SEARCHES,
    REFUSED_SECONDS,
    PlaceReader,
    ReaderOptions,
    Reading,
)

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, fail, of, throttle, times
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData
from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_error
from collectors.tests.sources.aws.moto_server import REGION

pytestmark = pytest.mark.usefixtures("aws_environment")

START = 1_795_000_080  # a whole minute
POLL_SECONDS = 40.0


@dataclass
class Clock:
    """AWS's and this host's time, in seconds since the epoch; pauses pass at once."""

    now: float = float(START)

    def read(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


class World:
    """One place whose CloudWatch is the test's."""

    def __init__(self, client: AwsClient, data: CloudWatchData, clock: Clock) -> None:
        self.data = data
        self.clock = clock
        self.client = client
        self.reader = PlaceReader(
            client, ReaderOptions(), backoff=Backoff(draw=lambda: 1.0), clock=clock.read, pause=clock.pause
        )
        self.shown: dict[tuple[str, int], float] = {}
        """Seconds from START at which a sample lies, and the value that was sent last."""

    def poll(self, *wanted: WantedMetric) -> Reading:
        reading = self.reader.read(wanted, int(self.clock.now * 1000), self.clock.now + POLL_SECONDS)
        for sample in reading.samples:
            assert sample.timestamp_ms is not None
            self.shown[sample.name, sample.timestamp_ms // 1000 - START] = sample.value
        return reading

    def sent(self, reading: Reading) -> list[tuple[str, int, float]]:
        return sorted((item.name, (item.timestamp_ms or 0) // 1000 - START, item.value) for item in reading.samples)

    def next_minute(self) -> None:
        self.clock.now = (self.clock.now // 60 + 1) * 60


@pytest.fixture
def world(proxy: FaultProxy) -> Iterator[World]:
    clock = Clock()
    data = CloudWatchData(now=clock.read)
    client = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
    assert client.place.region == REGION
    yield World(client, data, clock)
    client.close()


@pytest.fixture
def behaved(world: World, proxy: FaultProxy) -> World:
    world.data.attach(proxy)
    return world


def metric(
    name: str, *statistics: str, absent: str = "gap", period: int = 60, every: int = 1, priority: int = 1
) -> WantedMetric:
    return WantedMetric(
        metric=MetricKey(namespace="AWS/ApplicationELB", name=name, dimensions=(("LoadBalancer", "app/a/1"),)),
        statistics=tuple(WantedStatistic(item, f"{name}_{item}") for item in statistics or ("Sum",)),
        labels=(("name", "a"),),
        period_seconds=period,
        resource="a",
        preset="alb",
        absent=absent,
        every=every,
        priority=priority,
    )


def put(
    world: World, name: str, seconds: int, value: float, *, known_from: float = 0.0, statistic: str = "Sum"
) -> None:
    world.data.put(
        ("AWS/ApplicationELB", name, {"LoadBalancer": "app/a/1"}),
        statistic,
        START + seconds,
        value,
        known_from=START + known_from if known_from else 0.0,
    )


def test_the_first_poll_reads_ten_minutes_and_each_later_one_what_is_new(behaved: World) -> None:
    world = behaved
    for minute in range(-20, 10):
        put(world, "RequestCount", minute * 60, 100.0 + minute)
    first = world.poll(metric("RequestCount"))
    assert world.sent(first) == [("RequestCount_Sum", minute * 60 + 60, 100.0 + minute) for minute in range(-12, -2)], (
        "ten points, each at the end of its period, the newest two minutes ago"
    )
    assert world.poll(metric("RequestCount")).samples == [], "not due before the next minute"
    world.next_minute()
    assert world.sent(world.poll(metric("RequestCount"))) == [("RequestCount_Sum", -60, 98.0)]
    assert world.data.calls == 2


def test_late_and_revised_values_overwrite(behaved: World) -> None:
    world = behaved
    put(world, "RequestCount", -240, 5.0)
    put(world, "RequestCount", -240, 7.0, known_from=60)
    put(world, "RequestCount", -180, 9.0, known_from=120)
    requests = metric("RequestCount")
    assert world.sent(world.poll(requests)) == [("RequestCount_Sum", -180, 5.0)]
    world.next_minute()
    assert world.sent(world.poll(requests)) == [("RequestCount_Sum", -180, 7.0)]
    world.next_minute()
    assert world.sent(world.poll(requests)) == [("RequestCount_Sum", -120, 9.0)]
    world.next_minute()
    assert world.poll(requests).samples == []


ERRORS = "HTTPCode_Target_5XX_Count"


def errors_of(world: World) -> dict[int, float]:
    return {key[1]: value for key, value in world.shown.items() if key[0] == f"{ERRORS}_Sum"}


def test_what_is_late_is_never_zero(behaved: World) -> None:
    world = behaved
    for minute in range(-12, 0):
        put(world, "RequestCount", minute * 60, 50.0, known_from=minute * 60 + 400)
        put(world, ERRORS, minute * 60, 3.0, known_from=minute * 60 + 400)
    wanted = (metric("RequestCount"), metric(ERRORS, absent="zero-when-delivered"))
    for _ in range(15):
        world.poll(*wanted)
        world.next_minute()
    assert 0.0 not in world.shown.values()
    assert errors_of(world)[0] == 3.0


def test_a_count_that_comes_after_the_other_metrics_of_its_minute_was_never_zero(behaved: World) -> None:
    world = behaved
    for minute in range(-12, 40):
        put(world, "RequestCount", minute * 60, 50.0, known_from=minute * 60 + 90)
    put(world, ERRORS, 0, 4.0, known_from=9 * 60)
    zeros: list[int] = []
    for _ in range(30):
        reading = world.poll(metric("RequestCount"), metric(ERRORS, absent="zero-when-delivered"))
        zeros += [second for name, second, value in world.sent(reading) if name == f"{ERRORS}_Sum" and value == 0]
        world.next_minute()
    assert 60 not in zeros, "neither before nor after it came"
    assert zeros == sorted(set(zeros)), "each once"
    assert set(zeros) | {60} >= set(range(-600, 960, 60)), "all others in the end"
    assert errors_of(world)[60] == 4.0


def test_absence_is_zero_once_it_is_settled_and_where_the_others_were_delivered_only(behaved: World) -> None:
    world = behaved
    for minute in (-6, -5, -4):
        put(world, "RequestCount", minute * 60, 50.0)
    put(world, ERRORS, -300, 4.0)
    errors = metric(ERRORS, "Sum", "Average", absent="zero-when-delivered")
    world.poll(metric("RequestCount"), errors)
    assert errors_of(world) == {-240: 4.0}, "the two beside it may be late yet"
    for _ in range(20):
        world.next_minute()
        world.poll(metric("RequestCount"), errors)
    assert errors_of(world) == {-300: 0.0, -240: 4.0, -180: 0.0}
    assert not any(key[0] == f"{ERRORS}_Average" for key in world.shown), "an average of none is none"


def test_metrics_that_are_read_more_seldom_tell_of_delivery_too(behaved: World) -> None:
    world = behaved
    for minute in range(-60, 60):
        put(world, "RequestCount", minute * 60, 50.0)
    for _ in range(40):
        world.poll(metric("RequestCount", every=5), metric(ERRORS, absent="zero-when-delivered"))
        world.next_minute()
    found = sorted(errors_of(world))
    assert found == list(range(found[0], found[-1] + 60, 60)), "no hole"
    assert set(errors_of(world).values()) == {0.0}


def test_half_an_hour_of_late_delivery_leaves_no_hole(behaved: World) -> None:
    world = behaved
    for minute in range(-12, 60):
        late = 1800 if 0 <= minute < 30 else 90
        put(world, "RequestCount", minute * 60, 50.0, known_from=max(minute * 60 + 90, 1800 if late == 1800 else 0))
        put(world, ERRORS, minute * 60, 2.0, known_from=max(minute * 60 + 90, 2100 if late == 1800 else 0))
    for _ in range(60):
        world.poll(metric("RequestCount"), metric(ERRORS, absent="zero-when-delivered"))
        world.next_minute()
    for name in ("RequestCount", ERRORS):
        found = sorted(second for key, second in world.shown if key == f"{name}_Sum")
        assert found == list(range(found[0], found[-1] + 60, 60)), f"{name}: no hole"
    assert set(errors_of(world).values()) == {2.0}, "and no zero, though they came five minutes after the others"


def test_absence_with_nothing_else_delivered_is_no_zero(behaved: World) -> None:
    reading = behaved.poll(metric("RequestCount"), metric(ERRORS, absent="zero-when-delivered"))
    assert reading.samples == []
    assert reading.states == {"Complete": 2}


def test_pages_in_any_order(behaved: World) -> None:
    world = behaved
    world.data.page_points = 3
    for name in ("RequestCount", "ActiveConnectionCount"):
        for minute in range(-12, -2):
            put(world, name, minute * 60, float(minute))
    reading = world.poll(metric("RequestCount"), metric("ActiveConnectionCount"))
    assert len(reading.samples) == 20
    assert reading.states == {"Complete": 2}
    assert world.data.calls == 7
    assert reading.metrics_requested == {"alb": 2}, "pages are not billed again"


def test_a_partial_answer_is_asked_for_again_in_the_same_poll(behaved: World) -> None:
    world = behaved
    left = [1]

    def status(query: object) -> str:
        left[0] -= 1
        return "PartialData" if left[0] >= 0 else "Complete"

    world.data.status = status
    for minute in range(-12, -2):
        put(world, "RequestCount", minute * 60, float(minute))
    reading = world.poll(metric("RequestCount"))
    assert len(reading.samples) == 10
    assert reading.states == {"PartialData": 1, "Complete": 1}
    assert reading.metrics_requested == {"alb": 2}, "a repetition is billed"
    assert (reading.unread, reading.error) == (0, None)


def test_an_internal_error_that_lasts_is_caught_up_later(behaved: World) -> None:
    world = behaved
    world.data.status = lambda query: "InternalError" if query.name == "RequestCount" else "Complete"
    for minute in range(-40, 30):
        put(world, "RequestCount", minute * 60, float(minute))
        put(world, "ActiveConnectionCount", minute * 60, float(minute))
    wanted = (metric("RequestCount"), metric("ActiveConnectionCount"))
    for _ in range(20):
        reading = world.poll(*wanted)
        assert reading.unread == 1
        assert {sample.name for sample in reading.samples} <= {"ActiveConnectionCount_Sum"}
        world.next_minute()
    world.data.status = lambda _: "Complete"
    reading = world.poll(*wanted)
    assert reading.unread == 0
    times_of = sorted(key[1] for key in world.shown if key[0] == "RequestCount_Sum")
    assert times_of[-1] - times_of[0] == 60 * (len(times_of) - 1), "no hole"
    assert len(times_of) >= 30, "from the first poll on, though it failed"


def test_a_forbidden_query_names_the_permission(behaved: World) -> None:
    world = behaved
    world.data.status = lambda query: "Forbidden" if query.name == "RequestCount" else "Complete"
    put(world, "ActiveConnectionCount", -240, 1.0)
    reading = world.poll(metric("RequestCount"), metric("ActiveConnectionCount"))
    assert [sample.name for sample in reading.samples] == ["ActiveConnectionCount_Sum"]
    (missing,) = reading.missing
    assert missing.permission == "cloudwatch:GetMetricData"
    assert "1 statistics of AWS/ApplicationELB" in missing.lost
    assert reading.error is None


def test_no_permission_at_all(world: World, proxy: FaultProxy) -> None:
    proxy.before(deny("cloudwatch:GetMetricData"))
    reading = world.poll(metric("RequestCount"))
    assert isinstance(reading.error, ForbiddenError)
    assert [item.permission for item in reading.missing] == ["cloudwatch:GetMetricData"]
    assert reading.unread == 1


def test_what_is_forbidden_is_told_until_it_is_allowed_and_asked_for_seldom(world: World, proxy: FaultProxy) -> None:
    fault = proxy.before(deny("cloudwatch:GetMetricData"))
    world.data.attach(proxy)
    put(world, "RequestCount", -240, 1.0)
    for _ in range(100):  # called each second
        reading = world.reader.read([metric("RequestCount")], int(world.clock.now * 1000), world.clock.now + 0.5)
        assert isinstance(reading.error, ForbiddenError)
        assert [item.permission for item in reading.missing] == ["cloudwatch:GetMetricData"]
        world.clock.now += 1
    assert len(proxy.seen("GetMetricData")) < 12
    proxy.remove(fault)
    world.clock.now += 60
    assert world.poll(metric("RequestCount")).error is None


def test_a_forbidden_query_is_told_also_when_nothing_is_due(behaved: World) -> None:
    behaved.data.status = lambda _: "Forbidden"
    assert len(behaved.poll(metric("RequestCount")).missing) == 1
    assert len(behaved.poll(metric("RequestCount")).missing) == 1
    behaved.data.status = lambda _: "Complete"
    behaved.next_minute()
    assert behaved.poll(metric("RequestCount")).missing == []


def test_throttling_for_ten_minutes_leaves_no_hole_and_few_requests(world: World, proxy: FaultProxy) -> None:
    begin = START + 300
    proxy.before(
        throttle(lambda request: request.operation == "GetMetricData" and begin <= world.clock.now < begin + 600)
    )
    world.data.attach(proxy)
    for minute in range(-30, 60):
        put(world, "RequestCount", minute * 60, float(minute))
    requests = metric("RequestCount")
    for _ in range(25):
        reading = world.poll(requests)
        if begin <= world.clock.now < begin + 600:
            assert isinstance(reading.error, ThrottledError)
        world.next_minute()
    assert len(proxy.seen("GetMetricData")) < 25 + 25, "backing off asks hardly more often than once a minute"
    times_of = sorted(key[1] for key in world.shown)
    assert times_of == list(range(times_of[0], times_of[-1] + 60, 60)), "no hole"
    assert times_of[-1] >= 22 * 60
    assert all(value == (at - 60) / 60 for (_, at), value in world.shown.items())


def test_a_short_throttling_is_waited_out_within_the_poll(world: World, proxy: FaultProxy) -> None:
    proxy.before(throttle(times(3, of("cloudwatch"))))
    world.data.attach(proxy)
    put(world, "RequestCount", -240, 1.0)
    before = world.clock.now
    assert len(world.poll(metric("RequestCount")).samples) == 1
    assert world.clock.now - before == pytest.approx(0.5 + 1.0 + 2.0)


def test_a_poll_that_runs_out_of_time_is_no_refusal_by_aws(world: World, proxy: FaultProxy) -> None:
    world.data.attach(proxy)
    put(world, "RequestCount", -240, 1.0)
    pauses: list[float] = []
    reader = PlaceReader(
        world.client, ReaderOptions(), clock=lambda: time.monotonic() - 100, pause=pauses.append, backoff=Backoff()
    )
    # The time runs out between the reader and its client.
    reading = reader.read([metric("RequestCount")], START * 1000, time.monotonic() - 50)
    assert isinstance(reading.error, OutOfTimeError)
    assert proxy.seen("GetMetricData") == []
    reading = reader.read([metric("RequestCount")], START * 1000, time.monotonic() + 60)
    assert (reading.error, len(reading.samples), pauses) == (None, 1, [])


def test_failures_are_tried_three_times(world: World, proxy: FaultProxy) -> None:
    proxy.before(fail(of("cloudwatch")))
    reading = world.poll(metric("RequestCount"))
    assert isinstance(reading.error, ServiceError)
    assert len(proxy.seen("GetMetricData")) == 3


def test_five_statistics_are_one_metric_requested(behaved: World) -> None:
    names = ("Average", "p50", "p95", "p99", "Maximum")
    for name in names:
        put(behaved, "TargetResponseTime", -240, 0.5, statistic=name)
    reading = behaved.poll(metric("TargetResponseTime", *names))
    assert {sample.name for sample in reading.samples} == {f"TargetResponseTime_{name}" for name in names}
    assert reading.metrics_requested == {"alb": 1}
    assert behaved.data.metrics_requested == 1


def test_a_metric_of_five_minutes_is_asked_for_every_five_minutes(behaved: World) -> None:
    slow = metric("RequestCount", period=300)
    for _ in range(20):
        behaved.poll(slow)
        behaved.next_minute()
    assert behaved.data.calls == 4 + 1
    assert all(start % 300 == end % 300 == 0 for start, end, _ in behaved.data.windows)


def test_sums_of_different_periods_tell_theirs_with_each_point(behaved: World) -> None:
    def sums(name: str, instance: str, period: int) -> WantedMetric:
        return replace(
            metric(name, period=period), labels=(("name", instance),), resource=instance, period_series="period"
        )

    for minute in range(-20, 10):
        put(behaved, "In", minute * 60, 600.0)
        put(behaved, "Out", minute * 60, 60.0)
    reading = behaved.poll(sums("In", "detailed", 60), sums("Out", "detailed", 60), sums("In", "basic", 300))
    told = [
        (dict(item.labels)["name"], item.timestamp_ms, item.value) for item in reading.samples if item.name == "period"
    ]
    assert len(set(told)) == len(told), "once for all metrics of an instance"
    points = {(dict(item.labels)["name"], item.timestamp_ms) for item in reading.samples if item.name.endswith("_Sum")}
    assert {(name, time_ms) for name, time_ms, _ in told} == points
    assert {(name, period) for name, _, period in told} == {("detailed", 60.0), ("basic", 300.0)}


def test_seconds_of_a_custom_metric(behaved: World) -> None:
    fine = metric("Depth", period=1)
    for second in range(-800, 0):
        put(behaved, "Depth", second, float(second))
    reading = behaved.poll(fine)
    assert len(reading.samples) == 600
    assert behaved.sent(reading)[-1] == ("Depth_Sum", -120, -121.0)
    behaved.clock.now += 10
    assert len(behaved.poll(fine).samples) == 10


def test_a_budgets_factor_stretches_and_loses_nothing(behaved: World) -> None:
    for minute in range(-30, 30):
        put(behaved, "RequestCount", minute * 60, float(minute))
    stretched = metric("RequestCount", every=5)
    for _ in range(21):
        behaved.poll(stretched)
        behaved.next_minute()
    assert behaved.data.calls <= 6
    times_of = sorted(key[1] for key in behaved.shown)
    assert times_of == list(range(times_of[0], times_of[-1] + 60, 60))


def test_urgent_metrics_are_read_first_when_there_are_many(world: World, proxy: FaultProxy) -> None:
    proxy.before(throttle(lambda _: len(proxy.seen("GetMetricData")) > 1))
    world.data.attach(proxy)
    put(world, "RequestCount", -240, 1.0)
    many = [metric(f"m{number}", priority=2) for number in range(600)]
    reading = world.poll(*many, metric("RequestCount", priority=0))
    assert [sample.name for sample in reading.samples] == ["RequestCount_Sum"]
    assert isinstance(reading.error, ThrottledError)
    assert reading.unread == 101


def test_nobody_waits_for_ever_when_a_poll_has_no_time_for_all(world: World, proxy: FaultProxy) -> None:
    allowed = [0]
    proxy.before(throttle(lambda _: len(proxy.seen("GetMetricData")) > allowed[0]))
    world.data.attach(proxy)
    world.data.value = lambda _, begin: float(begin % 997)
    urgent = [metric(f"urgent{number}", priority=0) for number in range(600)]
    others = [metric(f"other{number}", priority=2) for number in range(600)]
    for _ in range(20):
        allowed[0] = len(proxy.seen("GetMetricData")) + 1  # time for five hundred metrics in each poll
        world.poll(*urgent, *others)
        world.next_minute()
    read = {name for name, _ in world.shown}
    assert len([name for name in read if name.startswith("urgent")]) == 600
    assert len([name for name in read if name.startswith("other")]) == 600


def test_a_metric_that_is_not_accepted_costs_the_others_nothing(world: World, proxy: FaultProxy) -> None:
    def refuse(request: AwsRequest) -> Answer | None:
        if request.operation == "GetMetricData" and b"Wrong" in request.body:
            return encode_error(request.protocol, "ValidationError", "The parameter Unit is not valid.")
        return None

    proxy.before(refuse)
    world.data.attach(proxy)
    world.data.value = lambda _, begin: float(begin % 997)
    wanted = [*(metric(f"m{number}") for number in range(700)), metric("Wrong"), metric("Last")]
    reading = world.poll(*wanted)
    assert {sample.name for sample in reading.samples} == {f"m{number}_Sum" for number in range(700)} | {"Last_Sum"}
    assert reading.error is None, "the place can be read"
    assert [str(error).partition(":")[0] for error in reading.refused] == [
        "Wrong of AWS/ApplicationELB is not accepted"
    ]
    searched = len(proxy.seen("GetMetricData"))
    world.next_minute()
    reading = world.poll(*wanted)
    assert len(reading.refused) == 1, "it is told until it ends"
    assert len(proxy.seen("GetMetricData")) == searched + 2, "and not searched for again"
    proxy.remove(refuse)
    world.clock.now += REFUSED_SECONDS
    reading = world.poll(*wanted)
    assert reading.refused == []
    assert "Wrong_Sum" in {sample.name for sample in reading.samples}


def test_when_nothing_is_accepted_few_requests_tell_it(world: World, proxy: FaultProxy) -> None:
    proxy.before(
        lambda request: (
            encode_error(request.protocol, "ValidationError", "No.") if request.operation == "GetMetricData" else None
        )
    )
    reading = world.poll(*(metric(f"m{number}") for number in range(700)))
    assert isinstance(reading.error, RequestError)
    assert len(proxy.seen("GetMetricData")) <= MOST_SEARCHES + 1


def test_five_statistics_of_a_metric_of_seconds_fit_into_a_request(proxy: FaultProxy) -> None:
    clock = Clock()
    data = CloudWatchData(now=clock.read, value=lambda _, begin: float(begin % 997))
    data.attach(proxy)
    client = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
    reader = PlaceReader(client, ReaderOptions(reread_ms=86_400_000), clock=clock.read, pause=clock.pause)
    seconds = metric("Seconds", "Sum", "Average", "Maximum", "Minimum", "p99", period=1)
    reading = reader.read([seconds], int(clock.now * 1000), clock.now + POLL_SECONDS)
    client.close()
    assert reading.error is None
    assert len(reading.samples) == 5 * 3 * 3600


def test_metrics_that_are_not_wanted_any_more_are_forgotten(behaved: World) -> None:
    put(behaved, "RequestCount", -240, 1.0)
    requests = metric("RequestCount")
    behaved.poll(requests)
    behaved.next_minute()
    behaved.poll(metric("ActiveConnectionCount"))
    behaved.next_minute()
    assert len(behaved.poll(requests).samples) == 1, "what comes back is sent anew"
