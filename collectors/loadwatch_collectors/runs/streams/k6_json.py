"""k6's JSON lines (`--out json=FILE`, internal/output/json): one point `http_req_duration` for each request.

The value is in milliseconds and the point's time is the end of the request.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from loadwatch_formats.times import parse_rfc3339

from loadwatch_collectors.runs.streams.gatling_binary import SORTER, RequestEvent, StreamError, UsersEvent
from loadwatch_collectors.runs.streams.gatling_text import LineBuffer

HEAD = re.compile(rb'\{(?=[^\n]{0,200}"metric":)(?=[^\n]{0,200}"type":"(?:Metric|Point)")')
_WANTED = re.compile(r'"metric":"(?:http_req_duration|vus)"')


class K6JsonReader:
    """Requests and users from growing JSON lines."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._number = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        events: list[RequestEvent | UsersEvent] = []
        for line in self._lines.cut(data).split("\n"):
            self._number += 1
            if not _WANTED.search(line):
                continue
            try:
                point: dict[str, Any] = json.loads(line)
                if point["type"] == "Point":
                    events.append(_parse(point["metric"], point["data"]))
            except (ValueError, KeyError, TypeError) as error:
                raise StreamError(f"line {self._number} is not one of k6's JSON output: {error}") from error
        return events


def _parse(metric: str, data: dict[str, Any]) -> RequestEvent | UsersEvent:
    end = parse_rfc3339(data["time"]) // 1_000_000
    if metric == "vus":
        return UsersEvent(end, int(data["value"]))
    tags: dict[str, str] = data.get("tags") or {}
    status = int(tags.get("status") or 0)
    words = (tags.get(name, "") for name in ("error_code", "error", "expected_response"))
    outcome = SORTER.of_k6(status, *words)
    return RequestEvent(end - round(data["value"]), data["value"] / 1000, outcome)
