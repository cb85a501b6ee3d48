"""CloudWatch's data as a test wants it: delivered late, revised, held back, in pages, in part, or forbidden.

moto keeps what `put_metric_data` wrote and gives all of it at once; this answers GetMetricData (and ListMetrics) in its
place, with the clock of the test.

    data = CloudWatchData(now=clock)
    data.put(("AWS/RDS", "CPUUtilization", {"DBInstanceIdentifier": "db1"}), "Average", at, 41.5, known_from=at + 180)
    data.attach(proxy)
"""

import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, cast

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, FaultProxy
from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_document, encode_error

MAX_QUERIES = 500
MAX_POINTS = 100_800


class Query(NamedTuple):
    """One query as it came in; dimensions sorted by name."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str
    period: int

    @property
    def metric(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        return self.namespace, self.name, self.dimensions


class _Version(NamedTuple):
    known_from: float
    value: float


Metric = tuple[str, str, Mapping[str, str]]
"""Namespace, name and dimensions."""
Value = Callable[[Query, int], float | None]
"""The value of a query in the period that begins at a time (seconds), or None where there is none."""


@dataclass
class CloudWatchData:
    """What CloudWatch knows, and when it came to know it. Times are seconds since the epoch."""

    now: Callable[[], float] = time.time
    value: Value | None = None
    """Makes values for queries of which nothing was `put`."""
    hold_back: float = 0.0
    """A made value is known so many seconds after the end of its period."""
    page_points: int = 0
    """Points of one page; 0 for all in one. A query that goes on in a later page is PartialData until then."""
    shuffle: bool = True
    status: Callable[[Query], str] = lambda _: "Complete"
    """InternalError and Forbidden give no points, PartialData the older half of them."""
    calls: int = 0
    metrics_requested: int = 0
    """What AWS bills: metrics of a request, up to five statistics of one counted once; pages are not counted again."""
    windows: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """Start, end and number of queries of each first page."""
    _points: dict[tuple[Any, ...], dict[int, list[_Version]]] = field(
        default_factory=dict[tuple[Any, ...], dict[int, list[_Version]]]
    )
    _pages: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    _random: random.Random = field(default_factory=lambda: random.Random(7))

    def put(self, metric: Metric, statistic: str, begin: int, value: float, *, known_from: float = 0.0) -> None:
        """The value of the period that begins at `begin`, known from a time on; a later `put` revises it."""
        namespace, name, dimensions = metric
        key = (namespace, name, tuple(sorted(dimensions.items())), statistic)
        versions = self._points.setdefault(key, {}).setdefault(begin, [])
        versions.append(_Version(known_from, value))
        versions.sort()

    def attach(self, proxy: FaultProxy) -> None:
        """Answer GetMetricData and ListMetrics of this proxy; faults that were added before go first."""
        proxy.before(self.answer)

    def answer(self, request: AwsRequest) -> Answer | None:
        """The answer to a request, or None when it asks for something else."""
        if request.service != "cloudwatch":
            return None
        if request.operation == "ListMetrics":
            return encode_document("cloudwatch", "ListMetrics", request.protocol, {"Metrics": self._list(request)})
        return self._get(request) if request.operation == "GetMetricData" else None

    def _get(self, request: AwsRequest) -> Answer:
        self.calls += 1
        parameters = read_parameters(request)
        token = str(parameters.get("NextToken") or "")
        if token:
            pages = self._pages.pop(token, [])
            if not pages:
                return encode_error(request.protocol, "InvalidNextToken", "The next token is not valid.")
        else:
            queries = [(str(query["Id"]), read_query(query)) for query in parameters["MetricDataQueries"]]
            start, end = _seconds(parameters["StartTime"]), _seconds(parameters["EndTime"])
            if not 0 < len(queries) <= MAX_QUERIES:
                return encode_error(
                    request.protocol, "ValidationError", f"{len(queries)} queries, at most {MAX_QUERIES}"
                )
            points = sum((end - start) // query.period for _, query in queries)
            if start >= end or points > MAX_POINTS:
                return encode_error(request.protocol, "ValidationError", f"{points} points, at most {MAX_POINTS}")
            self.metrics_requested += len({query.metric for _, query in queries})
            self.windows.append((start, end, len(queries)))
            pages = self._make_pages(queries, start, end)
        page: dict[str, Any] = {"MetricDataResults": pages[0]["results"], "Messages": []}
        if len(pages) > 1:
            token = f"page-{self.calls}"
            self._pages[token] = pages[1:]
            page["NextToken"] = token
        if request.protocol == "json":
            # The serializer goes by the service's model, which for 5,000 queries takes longer than the collector does.
            return Answer(headers={"Content-Type": "application/x-amz-json-1.0"}, body=json.dumps(page).encode())
        return encode_document("cloudwatch", "GetMetricData", request.protocol, page)

    def _make_pages(self, queries: Sequence[tuple[str, Query]], start: int, end: int) -> list[dict[str, Any]]:
        now = self.now()
        found: list[tuple[str, Query, str, list[tuple[int, float]]]] = []
        for query_id, query in queries:
            status = self.status(query)
            points = [] if status in ("InternalError", "Forbidden") else self._read(query, start, end, now)
            if status == "PartialData":
                points = points[: len(points) // 2]
            found.append((query_id, query, status, points[::-1]))
        if self.shuffle:
            self._random.shuffle(found)
        pages: list[dict[str, Any]] = [{"results": [], "left": self.page_points or float("inf")}]
        for query_id, query, status, points in found:
            while True:
                if pages[-1]["left"] <= 0:
                    pages.append({"results": [], "left": self.page_points})
                taken = points[: int(min(len(points), pages[-1]["left"]))]
                points = points[len(taken) :]
                pages[-1]["left"] -= max(1, len(taken))
                pages[-1]["results"].append(_result(query_id, query, "PartialData" if points else status, taken))
                if not points:
                    break
        return pages

    def _read(self, query: Query, start: int, end: int, now: float) -> list[tuple[int, float]]:
        # A start within a period is CloudWatch's to round down, as its reference says.
        begins = range(start - start % query.period, end, query.period)
        versions = self._points.get((*query.metric, query.statistic))
        if versions is not None:
            known = (
                (begin, [version.value for version in versions.get(begin, ()) if version.known_from <= now])
                for begin in begins
            )
            return [(begin, values[-1]) for begin, values in known if values]
        if self.value is None:
            return []
        made = ((begin, self.value(query, begin)) for begin in begins if begin + query.period + self.hold_back <= now)
        return [(begin, value) for begin, value in made if value is not None]

    def _list(self, request: AwsRequest) -> list[dict[str, Any]]:
        parameters = read_parameters(request)
        filters = cast("Sequence[Mapping[str, Any]]", parameters.get("Dimensions") or ())
        wanted = {str(item["Name"]): item.get("Value") for item in filters}
        found: dict[tuple[Any, ...], None] = {}
        for namespace, name, dimensions, _ in self._points:
            if parameters.get("Namespace") not in (None, namespace) or parameters.get("MetricName") not in (None, name):
                continue
            have = dict(dimensions)
            if all(key in have and value in (None, have[key]) for key, value in wanted.items()):
                found[namespace, name, dimensions] = None
        return [
            {"Namespace": namespace, "MetricName": name, "Dimensions": [{"Name": k, "Value": v} for k, v in dimensions]}
            for namespace, name, dimensions in found
        ]


def read_parameters(request: AwsRequest) -> Mapping[str, Any]:
    """The parameters as a document; the flat form of the query protocol is unfolded."""
    if request.protocol == "json":
        return request.parameters
    root: dict[str, Any] = {}
    for name, value in request.parameters.items():
        node = root
        *parents, last = [part for part in name.split(".") if part != "member"]
        for part in parents:
            node = node.setdefault(part, {})
        node[last] = value
    return cast("dict[str, Any]", _fold(root))


def _fold(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    found = cast("dict[str, Any]", node)
    if found and all(name.isdigit() for name in found):
        return [_fold(found[name]) for name in sorted(found, key=int)]
    return {name: _fold(value) for name, value in found.items()}


def read_query(query: Mapping[str, Any]) -> Query:
    """A query of a request."""
    stat = query["MetricStat"]
    metric = stat["Metric"]
    given = cast("Sequence[Mapping[str, Any]]", metric.get("Dimensions") or ())
    dimensions = sorted((str(item["Name"]), str(item["Value"])) for item in given)
    return Query(
        str(metric["Namespace"]), str(metric["MetricName"]), tuple(dimensions), str(stat["Stat"]), int(stat["Period"])
    )


def _seconds(value: Any) -> int:
    if isinstance(value, int | float):
        return int(value)
    return int(datetime.fromisoformat(str(value)).timestamp())


def _result(query_id: str, query: Query, status: str, points: Sequence[tuple[int, float]]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "Id": query_id,
        "Label": query.name,
        "Timestamps": [begin for begin, _ in points],
        "Values": [value for _, value in points],
        "StatusCode": status,
    }
    if status == "InternalError":
        result["Messages"] = [{"Code": "InternalError", "Value": "An error occurred."}]
    elif status == "Forbidden":
        result["Messages"] = [{"Code": "Forbidden", "Value": "You do not have permission to view this metric."}]
    return result


def count_by_window(windows: Sequence[tuple[int, int, int]]) -> Mapping[int, int]:
    """Queries for each end of a window."""
    found: dict[int, int] = defaultdict(int)
    for _, end, queries in windows:
        found[end] += queries
    return found
