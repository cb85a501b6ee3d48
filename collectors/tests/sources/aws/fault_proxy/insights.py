"""Performance Insights, which moto does not have, as the proxy answers for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest

_UTILITY = "ALTER ROLE shop PASSWORD 'hunter2' VALID UNTIL '2027-01-01'"
"""Of what is no query engines make no digest: it comes as it was sent."""


@dataclass
class Insights:
    """GetResourceMetrics as AWS documents it: points by period, one page for each two metrics."""

    newest_ms: int
    loads: dict[str, float] = field(default_factory=lambda: {"CPU": 1.5, "io/table/sql/handler": 0.5})
    statements: dict[str, tuple[str, float]] = field(
        default_factory=lambda: {"5F1A": ("SELECT * FROM `orders` WHERE `id` = ?", 1.2), "77C0": (_UTILITY, 0.4)}
    )
    """Text and load by the statement's id."""
    without_value: frozenset[int] = frozenset()

    def answer(self, request: AwsRequest) -> Mapping[str, Any]:
        asked = request.parameters
        assert asked["PeriodAlignment"] == "START_TIME"
        assert asked["ServiceType"] == "RDS"
        entries: list[dict[str, Any]] = []
        for query in asked["MetricQueries"]:
            if query["Metric"] == "db.load.avg":
                entries.append({"Key": {"Metric": "db.load.avg"}, "DataPoints": self.points(asked, None)})
                for dimensions, value in self.members(query["GroupBy"]):
                    key = {"Metric": "db.load.avg", "Dimensions": dimensions}
                    entries.append({"Key": key, "DataPoints": self.points(asked, value)})
            else:
                entries.append({"Key": {"Metric": query["Metric"]}, "DataPoints": self.points(asked, 7.0)})
        page = int(asked.get("NextToken", "0"))
        more = {"NextToken": str(page + 1)} if 2 * (page + 1) < len(entries) else {}
        return {"Identifier": asked["Identifier"], "MetricList": entries[2 * page : 2 * page + 2], **more}

    def members(self, group: Mapping[str, Any]) -> list[tuple[dict[str, str], float]]:
        """Dimensions and load of what a group has."""
        asked = set(group["Dimensions"])
        if group["Group"] == "db.sql_tokenized":
            assert asked == {"db.sql_tokenized.id", "db.sql_tokenized.statement"}
            return [
                ({"db.sql_tokenized.id": id, "db.sql_tokenized.statement": text[:500]}, value)
                for id, (text, value) in list(self.statements.items())[: group["Limit"]]
            ]
        assert asked == {"db.wait_event.name", "db.wait_event.type"}
        return [
            ({"db.wait_event.name": event, "db.wait_event.type": event.split("/")[0]}, value)
            for event, value in self.loads.items()
        ]

    def points(self, asked: Mapping[str, Any], value: float | None) -> list[dict[str, Any]]:
        period = asked["PeriodInSeconds"]
        assert period in (1, 60, 300, 3600, 86_400), "AWS refuses all others"
        found: list[dict[str, Any]] = []
        for second in range(int(asked["StartTime"]), int(asked["EndTime"]), period):
            if (second + period) * 1000 > self.newest_ms or second * 1000 in self.without_value:
                continue
            number = sum(self.loads.values()) if value is None else value
            found.append({"Timestamp": datetime.fromtimestamp(second, UTC), "Value": number})
        return found
