"""The proxy's faults as botocore sees them: the codes that the real services are known to answer with."""

import http.client
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, HTTPClientError

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy
from collectors.tests.sources.aws.fault_proxy.faults import (
    close,
    deny,
    expire,
    fail,
    of,
    refuse_signature,
    throttle,
    times,
)
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query
from collectors.tests.sources.aws.moto_server import ACCESS_KEY, ACCOUNT, make_client

CPU = ("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "db1"})
CALLS = (
    ("rds", "describe_db_instances"),
    ("ec2", "describe_instances"),
    ("cloudwatch", "list_metrics"),
    ("lambda", "list_functions"),
)


def call(proxy: FaultProxy, service: str, operation: str, **parameters: Any) -> Any:
    return getattr(make_client(service, proxy.url), operation)(**parameters)


def code_of(proxy: FaultProxy, service: str, operation: str) -> str:
    with pytest.raises(ClientError) as caught:
        call(proxy, service, operation)
    error: Any = caught.value
    return str(error.response["Error"]["Code"])


def query(name: str = "CPUUtilization", statistic: str = "Average", id: str = "a") -> dict[str, Any]:
    metric = {
        "Namespace": CPU[0],
        "MetricName": name,
        "Dimensions": [{"Name": k, "Value": v} for k, v in CPU[2].items()],
    }
    return {"Id": id, "MetricStat": {"Metric": metric, "Period": 60, "Stat": statistic}}


def ask(proxy: FaultProxy, queries: list[dict[str, Any]], start: int, end: int, token: str = "") -> Any:
    more = {"NextToken": token} if token else {}
    return make_client("cloudwatch", proxy.url).get_metric_data(
        MetricDataQueries=queries,
        StartTime=datetime.fromtimestamp(start, UTC),
        EndTime=datetime.fromtimestamp(end, UTC),
        **more,
    )


def test_requests_are_understood_and_go_to_moto(proxy: FaultProxy) -> None:
    assert call(proxy, "sts", "get_caller_identity")["Account"] == ACCOUNT
    for service, operation in CALLS:
        call(proxy, service, operation)
    seen = [(request.service, request.operation, request.region, request.access_key) for request in proxy.requests[1:]]
    assert seen == [
        ("rds", "DescribeDBInstances", "ap-northeast-1", ACCESS_KEY),
        ("ec2", "DescribeInstances", "ap-northeast-1", ACCESS_KEY),
        ("cloudwatch", "ListMetrics", "ap-northeast-1", ACCESS_KEY),
        ("lambda", "ListFunctions", "ap-northeast-1", ACCESS_KEY),
    ]


def test_every_fault_has_the_code_of_its_service(proxy: FaultProxy) -> None:
    expected = {
        throttle(of()): ["Throttling", "RequestLimitExceeded", "ThrottlingException", "ThrottlingException"],
        fail(of(), 503): ["ServiceUnavailable"] * 4,
        expire([ACCESS_KEY]): ["ExpiredToken", "RequestExpired", "ExpiredTokenException", "ExpiredTokenException"],
        refuse_signature(330): [
            *("SignatureDoesNotMatch", "RequestExpired", "InvalidSignatureException", "InvalidSignatureException")
        ],
        deny("rds:DescribeDBInstances", "ec2:DescribeInstances", "cloudwatch:ListMetrics", "lambda:ListFunctions"): [
            *("AccessDenied", "UnauthorizedOperation", "AccessDeniedException", "AccessDeniedException")
        ],
    }
    for fault, codes in expected.items():
        proxy.before(fault)
        assert [code_of(proxy, *one) for one in CALLS] == codes
        proxy.remove(fault)
    call(proxy, "rds", "describe_db_instances")


def test_closed_connections_and_a_date_that_is_off(proxy: FaultProxy) -> None:
    proxy.before(close(times(1, of("rds"))))
    with pytest.raises((HTTPClientError, http.client.HTTPException)):
        call(proxy, "rds", "describe_db_instances")
    proxy.date_offset_seconds = -330
    answer = call(proxy, "rds", "describe_db_instances")
    date = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    assert 300 < (datetime.now(UTC) - date).total_seconds() < 400


def test_what_moto_lacks_is_answered_as_documented(proxy: FaultProxy) -> None:
    proxy.answers["rds", "DescribeDBInstances"] = lambda _: {"DBInstances": [{"DBInstanceIdentifier": "db1"}]}
    proxy.answers["cloudwatch", "ListMetrics"] = lambda _: {"Metrics": [{"Namespace": "AWS/RDS"}]}
    assert call(proxy, "rds", "describe_db_instances")["DBInstances"] == [{"DBInstanceIdentifier": "db1"}]
    assert call(proxy, "cloudwatch", "list_metrics")["Metrics"] == [{"Namespace": "AWS/RDS"}]


def test_points_come_late_and_are_revised(proxy: FaultProxy) -> None:
    now = [1_800_000_300.0]
    data = CloudWatchData(now=lambda: now[0])
    data.put(CPU, "Average", 1_800_000_000, 10.0)
    data.put(CPU, "Average", 1_800_000_000, 12.0, known_from=1_800_000_400)
    data.put(CPU, "Average", 1_800_000_060, 20.0, known_from=1_800_000_500)
    data.attach(proxy)

    def values() -> list[float]:
        return ask(proxy, [query()], 1_800_000_000, 1_800_000_120)["MetricDataResults"][0]["Values"]

    assert values() == [10.0]
    now[0] += 100
    assert values() == [12.0]
    now[0] += 100
    assert values() == [20.0, 12.0]
    assert data.metrics_requested == 3


def test_pages_have_each_point_once_in_no_fixed_order(proxy: FaultProxy) -> None:
    data = CloudWatchData(now=lambda: 1_800_001_000.0, value=lambda _, begin: float(begin % 1000), page_points=7)
    data.attach(proxy)
    queries = [query(f"Metric{number}", id=f"m{number}") for number in range(5)]
    found: list[tuple[str, datetime]] = []
    statuses: dict[str, str] = {}
    order: list[str] = []
    token = ""
    while True:
        page = ask(proxy, queries, 1_800_000_000, 1_800_000_600, token)
        for result in page["MetricDataResults"]:
            order.append(result["Id"])
            statuses[result["Id"]] = result["StatusCode"]
            found += [(result["Id"], at) for at in result["Timestamps"]]
        token = page.get("NextToken", "")
        if not token:
            break
    assert len(found) == len(set(found)) == 50
    assert data.calls == 8
    assert set(statuses.values()) == {"Complete"}
    assert list(dict.fromkeys(order)) != [f"m{number}" for number in range(5)]
    assert data.metrics_requested == 5


def test_queries_fail_one_by_one(proxy: FaultProxy) -> None:
    def status(asked: Query) -> str:
        return {"a": "InternalError", "b": "Forbidden", "c": "PartialData"}.get(asked.name, "Complete")

    data = CloudWatchData(now=lambda: 1_800_001_000.0, value=lambda _query, _begin: 1.0, status=status)
    data.attach(proxy)
    page = ask(proxy, [query(name, id=name) for name in "abcd"], 1_800_000_000, 1_800_000_600)
    results = {result["Id"]: (result["StatusCode"], len(result["Values"])) for result in page["MetricDataResults"]}
    assert results == {"a": ("InternalError", 0), "b": ("Forbidden", 0), "c": ("PartialData", 5), "d": ("Complete", 10)}


def test_too_many_queries_are_refused(proxy: FaultProxy) -> None:
    CloudWatchData().attach(proxy)
    with pytest.raises(ClientError, match="501 queries"):
        ask(proxy, [query(id=f"m{number}") for number in range(501)], 1_800_000_000, 1_800_000_060)
