import time
from collections.abc import Iterator
from typing import Any

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect
from loadwatch_collectors.sources.aws.model import AccountRegion, Resource
from loadwatch_collectors.sources.aws.presets import load_presets, read_preset_file
from loadwatch_collectors.sources.aws.reading.insights import (
    REFUSED_MS,
    REREAD_MS,
    InsightsReader,
    PiPoint,
    average,
    make_parameters,
    parse_page,
)
from loadwatch_collectors.sources.aws.reading.states import Window

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, of, throttle
from collectors.tests.sources.aws.fault_proxy.insights import Insights
from collectors.tests.sources.aws.fault_proxy.protocols import encode_error
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION

NOW = 1_800_000_000_000
LOAD = "aws_rds_insights_db_load_average"
PRESETS = {name: load_presets([name])[name] for name in ("rds_insights", "rds_insights_mysql")}
"""What most tests count the requests of."""
NO_DEADLINE = float("inf")


def make_instance(identifier: str = "shop-1", **attributes: str) -> Resource:
    facts = {"resource_id": f"db-{identifier.upper()}", "engine": "aurora-mysql", "performance_insights": "true"}
    return Resource(
        kind="rds",
        name=f"arn:aws:rds:{REGION}:{ACCOUNT}:db:{identifier}",
        place=AccountRegion(account_id=ACCOUNT, region=REGION),
        dimensions=(("DBInstanceIdentifier", identifier),),
        attributes=tuple(sorted((facts | attributes).items())),
    )


@pytest.fixture
def client(aws_environment: None, proxy: FaultProxy) -> Iterator[AwsClient]:
    made = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
    yield made
    made.close()


@pytest.fixture
def insights(proxy: FaultProxy) -> Insights:
    made = Insights(newest_ms=NOW)
    proxy.answers["pi", "GetResourceMetrics"] = made.answer
    return made


def by_event(samples: list[Sample]) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for sample in samples:
        if sample.name == LOAD:
            event = dict(sample.labels).get("wait_event", "all")
            found.setdefault(event, []).append((sample.timestamp_ms or 0, sample.value))
    return found


def test_load_comes_by_wait_and_as_a_total_over_all_pages(client: AwsClient, insights: Insights) -> None:
    reading = InsightsReader(client, PRESETS).read([make_instance()], NOW, NO_DEADLINE)
    assert not reading.errors
    found = by_event(reading.samples)
    assert {event: {value for _, value in points} for event, points in found.items()} == {
        "all": {2.0},
        "CPU": {1.5},
        "io/table/sql/handler": {0.5},
    }
    # Ten seconds apart, and each at the end of its period.
    times = [time for time, _ in found["CPU"]]
    assert times == list(range(NOW - 20_000 - REREAD_MS + 10_000, NOW - 20_000 + 1, 10_000))
    counters = {sample.name for sample in reading.samples} - {LOAD}
    assert "aws_rds_insights_db_users_threads_running_average" in counters
    assert not any("numbackends" in name for name in counters)
    cpu = next(sample for sample in reading.samples if ("wait_event", "CPU") in sample.labels)
    assert dict(cpu.labels) == {
        "account_id": ACCOUNT,
        "dimension_DBInstanceIdentifier": "shop-1",
        "name": f"arn:aws:rds:{REGION}:{ACCOUNT}:db:shop-1",
        "region": REGION,
        "wait_event": "CPU",
        "wait_event_type": "CPU",
    }


def test_only_new_and_revised_points_are_sent(client: AwsClient, insights: Insights) -> None:
    insights.newest_ms = NOW - 40_000
    reader = InsightsReader(client, PRESETS)
    first = by_event(reader.read([make_instance()], NOW, NO_DEADLINE).samples)
    assert max(time for time, _ in first["CPU"]) == NOW - 40_000
    insights.newest_ms = NOW + 60_000
    second = by_event(reader.read([make_instance()], NOW + 60_000, NO_DEADLINE).samples)
    # What was late comes once, what was there is not repeated.
    assert [time for time, _ in second["CPU"]] == list(range(NOW - 30_000, NOW + 40_001, 10_000))
    insights.loads["CPU"] = 3.0
    third = by_event(reader.read([make_instance()], NOW + 120_000, NO_DEADLINE).samples)
    assert "io/table/sql/handler" in third
    assert len(third["CPU"]) > len(third["io/table/sql/handler"])
    assert {value for _, value in third["CPU"]} == {3.0}


def test_points_without_a_value_are_no_zeros(client: AwsClient, insights: Insights) -> None:
    hole = NOW - 60_000
    insights.without_value = frozenset(range(hole, hole + 10_000, 1_000))
    found = by_event(InsightsReader(client, PRESETS).read([make_instance()], NOW, NO_DEADLINE).samples)
    times = [time for time, _ in found["CPU"]]
    assert hole + 10_000 not in times
    assert hole in times
    assert all(value for _, value in found["CPU"])


def test_ten_seconds_are_the_mean_of_their_seconds() -> None:
    def points(labels: tuple[tuple[str, str], ...], values: dict[int, float]) -> list[PiPoint]:
        return [PiPoint(LOAD, labels, NOW + second * 1_000, value) for second, value in values.items()]

    total = points((), dict.fromkeys(range(10), 4.0) | {10: 6.0, 11: 8.0})
    # An event that nobody waited for in a second may have no point of it.
    event = points((("wait_event", "CPU"),), {0: 5.0, 3: 5.0, 10: 1.0})
    found = {(point.labels, point.start_ms - NOW): point.value for point in average([*total, *event], 10_000)}
    assert found == {
        ((), 0): 4.0,
        ((), 10_000): 7.0,
        ((("wait_event", "CPU"),), 0): 1.0,
        ((("wait_event", "CPU"),), 10_000): 0.5,
    }


def test_a_fleet_that_is_too_large_for_a_poll_is_read_in_turn(
    client: AwsClient, insights: Insights, proxy: FaultProxy
) -> None:
    insights.newest_ms = NOW + 10_000_000
    reader = InsightsReader(client, PRESETS)
    fleet = [make_instance(f"shop-{number}") for number in range(6)]

    def read(poll: int, requests: int) -> set[str]:
        """One poll that ends early, after so many requests."""
        before = len(proxy.seen("GetResourceMetrics"))

        def enough(_: AwsRequest) -> Any:
            over = len(proxy.seen("GetResourceMetrics")) > before + requests
            return encode_error("json", "AccessDeniedException", "enough") if over else None

        fault = proxy.before(enough)
        reading = reader.read(fleet, NOW + poll * 60_000, NO_DEADLINE)
        proxy.remove(fault)
        return {dict(sample.labels)["dimension_DBInstanceIdentifier"] for sample in reading.samples}

    read_at_all = set[str]()
    for poll in range(6):
        read_at_all |= read(poll, 8)
    assert read_at_all == {f"shop-{number}" for number in range(6)}


def test_one_instance_in_trouble_leaves_the_others(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    def fail(request: AwsRequest) -> Any:
        broken = request.parameters.get("Identifier") == "db-BROKEN"
        return encode_error("json", "InternalServiceError", "try later", status=500) if broken else None

    proxy.before(fail)
    reader = InsightsReader(client, {"rds_insights": PRESETS["rds_insights"]})
    reading = reader.read([make_instance("broken"), make_instance("shop-1")], NOW, NO_DEADLINE)
    assert {type(error).__name__ for error in reading.errors} == {"ServiceError"}
    assert by_event(reading.samples)


def test_a_gap_that_is_too_long_to_be_filled_is_left(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    insights.newest_ms = NOW + 10_000_000
    reader = InsightsReader(client, PRESETS)
    reader.read([make_instance()], NOW, NO_DEADLINE)

    def refuse(request: AwsRequest) -> Any:
        asked = request.parameters
        if request.operation == "GetResourceMetrics" and asked["EndTime"] - asked["StartTime"] > 3_600:
            return encode_error("json", "InvalidArgumentException", "too many data points")
        return None

    proxy.before(refuse)
    later = NOW + 7_200_000
    assert len(reader.read([make_instance()], later, NO_DEADLINE).errors) == 2
    reading = reader.read([make_instance()], later + 60_000, NO_DEADLINE)
    assert reading.errors == []
    assert by_event(reading.samples)


def test_it_is_not_asked_twice_in_a_minute(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    reader = InsightsReader(client, PRESETS)
    reader.read([make_instance()], NOW, NO_DEADLINE)
    before = len(proxy.seen("GetResourceMetrics"))
    assert reader.read([make_instance()], NOW + 10_000, NO_DEADLINE).samples == []
    assert len(proxy.seen("GetResourceMetrics")) == before


def test_an_outage_is_filled(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    reader = InsightsReader(client, PRESETS)
    reader.read([make_instance()], NOW, NO_DEADLINE)
    fault = proxy.before(throttle(of("pi")))
    reading = reader.read([make_instance()], NOW + 60_000, time.monotonic() + 0.2)
    assert [type(error).__name__ for error in reading.errors] == ["ThrottledError"]
    assert reading.samples == []
    proxy.remove(fault)
    insights.newest_ms = NOW + 1_000_000
    found = by_event(reader.read([make_instance()], NOW + 600_000, NO_DEADLINE).samples)
    assert [time for time, _ in found["CPU"]] == list(range(NOW - 10_000, NOW + 580_001, 10_000))


def test_a_missing_permission_names_itself_and_what_is_lost(client: AwsClient, proxy: FaultProxy) -> None:
    proxy.before(deny("pi:GetResourceMetrics"))
    instances = [make_instance("shop-1"), make_instance("shop-2")]
    reading = InsightsReader(client, PRESETS).read(instances, NOW, NO_DEADLINE)
    assert [(item.permission, item.lost) for item in reading.missing] == [
        (
            "pi:GetResourceMetrics",
            "database load by wait and statement, and the engine's counters (Performance Insights) of 2 instances",
        )
    ]
    assert len(proxy.seen("GetResourceMetrics")) == 1


def test_an_instance_that_refuses_leaves_the_others(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    def refuse(request: AwsRequest) -> Any:
        if request.parameters.get("Identifier") == "db-OLD":
            return encode_error("json", "InvalidArgumentException", "The request has invalid arguments")
        return None

    proxy.before(refuse)
    reader = InsightsReader(client, PRESETS)
    instances = [make_instance("old"), make_instance("shop-1")]
    reading = reader.read(instances, NOW, NO_DEADLINE)
    assert len(reading.errors) == 2
    assert by_event(reading.samples)
    insights.newest_ms = NOW + 10_000_000
    assert reader.read(instances, NOW + 60_000, NO_DEADLINE).errors == []
    assert len(reader.read(instances, NOW + REFUSED_MS + 60_000, NO_DEADLINE).errors) == 2


def test_instances_without_it_are_not_asked(client: AwsClient, proxy: FaultProxy) -> None:
    resources = [
        make_instance(performance_insights="false"),
        make_instance(resource_id=""),
        Resource(kind="ec2", name="i-1", place=AccountRegion(account_id=ACCOUNT, region=REGION)),
    ]
    reader = InsightsReader(client, PRESETS)
    assert reader.read(resources, NOW, NO_DEADLINE).samples == []
    assert reader.loads(resources) == []
    assert proxy.seen() == []


def test_a_budget_slows_it_down(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    insights.newest_ms = NOW + 10_000_000
    reader = InsightsReader(client, PRESETS, factor=lambda preset, _: 5 if preset == "rds_insights" else 0)
    assert [load.preset for load in reader.loads([make_instance()])] == ["rds_insights", "rds_insights_mysql"]
    start = NOW // 300_000 * 300_000 + 20_000
    times: list[int] = []
    for minute in range(11):
        reading = reader.read([make_instance()], start + minute * 60_000, NO_DEADLINE)
        times += [time for time, _ in by_event(reading.samples).get("CPU", [])]
        assert {sample.name for sample in reading.samples} <= {LOAD}
    assert len({request.parameters["EndTime"] for request in proxy.seen("GetResourceMetrics")}) == 3
    # Nothing is lost by asking less often.
    assert times == list(range(start - 20_000 - REREAD_MS + 10_000, start - 20_000 + 600_001, 10_000))


def test_requests_have_at_most_fifteen_queries() -> None:
    for name in load_presets(["rds_insights"]):
        assert len(make_parameters("db-X", read_preset_file(name), Window(0, 60_000, 60_000))["MetricQueries"]) <= 15


def test_what_nobody_asked_for_is_left_out() -> None:
    page = {"MetricList": [{"Key": {"Metric": "os.x"}, "DataPoints": [{"Timestamp": 1, "Value": 1.0}]}, {}]}
    assert list(parse_page(page, read_preset_file("rds_insights").queries, ())) == []
    nothing = {"MetricList": [{"Key": {"Metric": "db.load.avg"}, "DataPoints": [{"Timestamp": 1}]}]}
    assert list(parse_page(nothing, read_preset_file("rds_insights").queries, ())) == []


def test_statements_by_load_without_their_values(client: AwsClient, insights: Insights, proxy: FaultProxy) -> None:
    presets = load_presets(["rds_insights_sql"])
    samples = InsightsReader(client, presets).read([make_instance()], NOW, NO_DEADLINE).samples
    [request] = [one.parameters for one in proxy.requests if one.service == "pi" and "NextToken" not in one.parameters]
    assert request["PeriodInSeconds"] == 60
    assert request["MetricQueries"][0]["GroupBy"]["Limit"] == 10
    newest = max(sample.timestamp_ms or 0 for sample in samples)
    loads = {
        (labels.get("sql_id"), labels.get("statement")): sample.value
        for sample in samples
        if sample.timestamp_ms == newest and (labels := dict(sample.labels))
    }
    assert loads == {
        (None, None): 2.0,
        ("5F1A", "SELECT * FROM `orders` WHERE `id` = ?"): 1.2,
        ("77C0", "ALTER ROLE shop PASSWORD ? VALID UNTIL ?"): 0.4,
    }
    assert {sample.name for sample in samples} == {"aws_rds_insights_sql_load_average"}
    assert "hunter2" not in str(samples)


def test_names_in_double_quotes_stay_where_the_engine_has_them_for_names(client: AwsClient, insights: Insights) -> None:
    insights.statements = {"1": ('select "total" from "orders"', 1.0)}
    presets = load_presets(["rds_insights_sql"])
    for engine, text in (("aurora-postgresql", 'select "total" from "orders"'), ("mysql", "select ? from ?")):
        found = InsightsReader(client, presets).read([make_instance(engine=engine)], NOW, NO_DEADLINE).samples
        assert {dict(sample.labels).get("statement") for sample in found} == {None, text}
