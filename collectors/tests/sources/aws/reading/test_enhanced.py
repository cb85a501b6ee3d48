import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.client.client import Account, AwsClient, ConnectOptions, connect
from loadwatch_collectors.sources.aws.model import AccountRegion, Resource
from loadwatch_collectors.sources.aws.presets import load_presets, read_preset_file
from loadwatch_collectors.sources.aws.reading.enhanced import (
    ABSENT_MS,
    MAX_PAGES,
    PAUSE_MS,
    REREAD_MS,
    EnhancedReader,
    find_numbers,
    parse_event,
)

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import deny, of, throttle
from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_document, encode_error
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION, MotoServer

FIXTURE = Path(__file__).parents[3] / "fixtures" / "aws" / "enhanced_monitoring.json"
DOCUMENT: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
PRESET = read_preset_file("rds_enhanced")
PRESETS = load_presets(["rds_enhanced"])
GROUP = "RDSOSMetrics"
LOAD = "aws_rds_os_load1"
NO_DEADLINE = float("inf")


def make_instance(identifier: str = "shop-1", resource_id: str = "db-SHOP1") -> Resource:
    return Resource(
        kind="rds",
        name=f"arn:aws:rds:{REGION}:{ACCOUNT}:db:{identifier}",
        place=AccountRegion(account_id=ACCOUNT, region=REGION),
        dimensions=(("DBInstanceIdentifier", identifier),),
        attributes=(("enhanced_monitoring", "true"), ("resource_id", resource_id)),
    )


def now_ms() -> int:
    return int(time.time() * 1000)


class Log:
    """The log group in moto, as RDS writes it."""

    def __init__(self, moto: MotoServer) -> None:
        self.client: Any = moto.client("logs")
        self.client.create_log_group(logGroupName=GROUP)

    def add_stream(self, stream: str) -> None:
        self.client.create_log_stream(logGroupName=GROUP, logStreamName=stream)

    def write(self, stream: str, *times_ms: int) -> None:
        events = [
            {"timestamp": time_ms, "message": json.dumps({**DOCUMENT, "loadAverageMinute": {"one": time_ms}})}
            for time_ms in sorted(times_ms)
        ]
        self.client.put_log_events(logGroupName=GROUP, logStreamName=stream, logEvents=events)


@pytest.fixture
def log(moto: MotoServer) -> Log:
    made = Log(moto)
    made.add_stream("db-SHOP1")
    return made


@pytest.fixture
def client(aws_environment: None, proxy: FaultProxy, moto: MotoServer) -> Iterator[AwsClient]:
    made = connect(Account(), REGION, ConnectOptions(endpoint_url=proxy.url), lambda _call, _seconds: None)
    yield made
    made.close()


def times_of(reader: EnhancedReader, now: int, *resources: Resource) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    reading = reader.read(resources or [make_instance()], now, NO_DEADLINE)
    assert not reading.errors
    for sample in reading.samples:
        if sample.name == LOAD:
            assert sample.value == sample.timestamp_ms
            found.setdefault(dict(sample.labels)["dimension_DBInstanceIdentifier"], []).append(int(sample.value))
    return {name: sorted(times) for name, times in found.items()}


def test_a_document_becomes_samples() -> None:
    samples = list(parse_event(json.dumps(DOCUMENT), PRESET, (("region", "r"),), 1000))
    values = {
        (item.name, next((value for name, value in item.labels if name != "region"), "")): item.value
        for item in samples
    }
    assert values["aws_rds_os_vcpus", ""] == 2
    assert values["aws_rds_os_cpu_utilization_percent", "total"] == 40.0
    assert values["aws_rds_os_cpu_utilization_percent", "steal"] == 0.5
    assert values["aws_rds_os_memory_total_bytes", ""] == 2_000_000 * 1024
    assert values["aws_rds_os_tasks", "blocked"] == 0
    assert values["aws_rds_os_network_transmit_bytes_per_second", "eth0"] == 11300.25
    assert values["aws_rds_os_disk_wait_seconds", "filesystem"] == pytest.approx(0.0015)
    assert values["aws_rds_os_disk_queue_length", "filesystem"] == 3.5
    assert values["aws_rds_os_filesystem_used_bytes", "/rdsdbdata"] == 1000 * 1024
    # A device that tells less than the others has no series for what it does not tell.
    assert ("aws_rds_os_disk_queue_length", "rdsdev") not in values
    assert {item.name for item in samples} == {value.series for value in PRESET.values}
    assert {item.timestamp_ms for item in samples} == {1000}
    assert all(item.labels == tuple(sorted(item.labels)) for item in samples)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*DOCUMENT, "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_no_document_breaks_it(document: Any) -> None:
    assert all(sample.value == sample.value for sample in parse_event(json.dumps(document), PRESET, (), 0))
    for value in PRESET.values:
        list(find_numbers({"network": document, "memory": document, "tasks": document}, value))


def test_what_is_no_document_is_left_out() -> None:
    assert list(parse_event("Enhanced Monitoring stopped", PRESET, (), 0)) == []


def test_entries_come_once_and_at_their_own_time(client: AwsClient, log: Log) -> None:
    now = now_ms()
    reader = EnhancedReader(client, PRESETS)
    log.write("db-SHOP1", now - 90_000, now - 30_000)
    assert times_of(reader, now) == {"shop-1": [now - 90_000, now - 30_000]}
    assert times_of(reader, now + 60_000) == {}
    # One that came late, between two that were there.
    log.write("db-SHOP1", now - 60_000)
    assert times_of(reader, now + 120_000) == {"shop-1": [now - 60_000]}


def test_it_remembers_only_what_it_may_be_given_again(client: AwsClient, log: Log) -> None:
    now = now_ms()
    reader = EnhancedReader(client, PRESETS)
    sent: list[int] = []
    for minute in range(10):
        log.write("db-SHOP1", *(now + minute * 60_000 - second * 1_000 for second in range(60)))
        sent += times_of(reader, now + minute * 60_000)["shop-1"]
    assert len(sent) == len(set(sent)) == 600
    assert reader.remembered <= 181


def test_it_is_not_asked_more_often_than_it_may_be(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    reader = EnhancedReader(client, PRESETS)
    now = now_ms()
    log.write("db-SHOP1", now)
    times_of(reader, now)
    times_of(reader, now + PAUSE_MS - 1)
    assert len(proxy.seen("FilterLogEvents")) == 1


def test_many_instances_are_read_by_one_request(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    now = now_ms()
    for number in range(2, 6):
        log.add_stream(f"db-SHOP{number}")
        log.write(f"db-SHOP{number}", now - number * 1000)
    resources = [make_instance(f"shop-{number}", f"db-SHOP{number}") for number in range(2, 6)]
    found = times_of(EnhancedReader(client, PRESETS), now, *resources)
    assert found == {f"shop-{number}": [now - number * 1000] for number in range(2, 6)}
    assert len({str(request.parameters["logStreamNames"]) for request in proxy.seen("FilterLogEvents")}) == 1


def test_all_pages_are_read(client: AwsClient, proxy: FaultProxy) -> None:
    now = now_ms()

    def page(request: AwsRequest) -> dict[str, Any]:
        number = int(request.parameters.get("nextToken", "0"))
        event = {
            "logStreamName": "db-SHOP1",
            "timestamp": now - 1000 * number,
            "message": json.dumps({**DOCUMENT, "loadAverageMinute": {"one": now - 1000 * number}}),
        }
        # A page may be empty and still not be the last.
        return {"events": [] if number == 1 else [event], **({"nextToken": str(number + 1)} if number < 3 else {})}

    proxy.answers["logs", "FilterLogEvents"] = page
    assert times_of(EnhancedReader(client, PRESETS), now) == {"shop-1": [now - 3000, now - 2000, now]}


def test_a_stream_that_is_not_there_yet_leaves_the_others(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    def refuse(request: Any) -> Any:
        if "db-NEW" in request.parameters.get("logStreamNames", ()):
            return encode_error("json", "ResourceNotFoundException", "The specified log stream does not exist.")
        return None

    proxy.before(refuse)
    now = now_ms()
    log.write("db-SHOP1", now - 10_000)
    reader = EnhancedReader(client, PRESETS)
    both = (make_instance(), make_instance("new", "db-NEW"))
    assert times_of(reader, now, *both) == {"shop-1": [now - 10_000]}
    before = len(proxy.seen())
    times_of(reader, now + 60_000, *both)
    assert len(proxy.seen()) == before + 1
    times_of(reader, now + ABSENT_MS + 60_000, *both)
    assert len(proxy.seen()) == before + 4


def test_what_came_during_an_outage_is_read_after_it(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    now = now_ms()
    reader = EnhancedReader(client, PRESETS)
    log.write("db-SHOP1", now - 1_500_000, now - 1_200_000, now - 600_000)
    assert times_of(reader, now - 1_190_000) == {"shop-1": [now - 1_200_000, now - 600_000]}
    log.write("db-SHOP1", now - 700_000, now - 300_000)
    fault = proxy.before(throttle(of("logs")))
    reading = reader.read([make_instance()], now - 600_000, time.monotonic() + 0.2)
    assert [type(error).__name__ for error in reading.errors] == ["ThrottledError"]
    proxy.remove(fault)
    assert times_of(reader, now) == {"shop-1": [now - 700_000, now - 300_000]}


def test_a_fleet_that_is_too_large_for_a_poll_is_read_in_turn(client: AwsClient, proxy: FaultProxy) -> None:
    now = now_ms()
    reader = EnhancedReader(client, PRESETS)
    fleet = [make_instance(f"shop-{number}", f"db-SHOP{number}") for number in range(250)]

    def entries(request: AwsRequest) -> dict[str, Any]:
        at_ms = request.parameters["startTime"] + REREAD_MS
        message = json.dumps({"loadAverageMinute": {"one": at_ms}})
        streams = request.parameters["logStreamNames"]
        return {"events": [{"logStreamName": name, "timestamp": at_ms, "message": message} for name in streams]}

    proxy.answers["logs", "FilterLogEvents"] = entries
    read = set[str]()
    for poll in range(3):
        before = len(proxy.seen("FilterLogEvents"))

        def enough(_: AwsRequest, before: int = before) -> Answer | None:
            """A poll that ends early, after one request."""
            over = len(proxy.seen("FilterLogEvents")) > before + 1
            return encode_error("json", "AccessDeniedException", "enough") if over else None

        fault = proxy.before(enough)
        read |= set(times_of(reader, now + poll * 60_000, *fleet))
        proxy.remove(fault)
    assert len(read) == 250


def test_a_gap_that_cannot_be_read_within_a_poll_is_left(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    now = now_ms()
    reader = EnhancedReader(client, PRESETS)
    log.write("db-SHOP1", now - 7_200_000)
    times_of(reader, now - 7_200_000)
    log.write("db-SHOP1", now - 60_000)

    def endless(request: AwsRequest) -> Answer | None:
        """Pages without end where hours are asked for, as of a log that is too large."""
        if request.operation != "FilterLogEvents" or now - request.parameters["startTime"] < 3_600_000:
            return None
        token = str(len(proxy.seen("FilterLogEvents")))
        return encode_document("logs", "FilterLogEvents", request.protocol, {"events": [], "nextToken": token})

    proxy.before(endless)
    reading = reader.read([make_instance()], now, NO_DEADLINE)
    assert [str(error).rpartition(": ")[2] for error in reading.errors] == [f"more than {MAX_PAGES} pages"]
    assert times_of(reader, now + 60_000) == {"shop-1": [now - 60_000]}


def test_a_missing_permission_names_itself_and_what_is_lost(client: AwsClient, log: Log, proxy: FaultProxy) -> None:
    proxy.before(deny("logs:FilterLogEvents"))
    reading = EnhancedReader(client, PRESETS).read([make_instance()], now_ms(), NO_DEADLINE)
    assert [(item.permission, item.lost) for item in reading.missing] == [
        ("logs:FilterLogEvents", "the operating system (Enhanced Monitoring) of 1 instance")
    ]


def test_instances_without_it_are_not_asked(client: AwsClient, proxy: FaultProxy) -> None:
    off = Resource(
        kind="rds",
        name="arn",
        place=AccountRegion(account_id=ACCOUNT, region=REGION),
        attributes=(("enhanced_monitoring", "false"), ("resource_id", "db-X")),
    )
    assert EnhancedReader(client, PRESETS).read([off], now_ms(), NO_DEADLINE).samples == []
    assert proxy.seen() == []
