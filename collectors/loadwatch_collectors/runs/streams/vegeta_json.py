"""vegeta's JSON lines (`vegeta encode -to json`)."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from loadwatch_collectors.runs.streams.event import RequestEvent, StreamError
from loadwatch_collectors.runs.streams.lines import LineBuffer
from loadwatch_collectors.runs.streams.vegeta_csv import vegeta_outcome

HEAD = re.compile(rb'\{"attack":')
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


def parse_go_time(text: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 time with up to nine decimals, as Go writes it."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    zone = "+00:00" if found[3] == "Z" else found[3]
    whole = datetime.fromisoformat(found[1] + zone).astimezone(UTC)
    return int(whole.timestamp()) * 1000 + int(((found[2] or "") + "000")[:3])


class VegetaJsonReader:
    """Requests from growing JSON lines."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._number = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        """See StreamReader."""
        events: list[RequestEvent] = []
        for line in self._lines.cut(data).split("\n"):
            if not line:
                continue
            self._number += 1
            try:
                result: dict[str, Any] = json.loads(line)
                code = int(result["code"])
                events.append(
                    RequestEvent(
                        parse_go_time(result["timestamp"]),
                        result["latency"] / 1e9,
                        vegeta_outcome(code, result.get("error", "")),
                        result.get("bytes_in", 0),
                        result.get("bytes_out", 0),
                    )
                )
            except (ValueError, KeyError, TypeError) as error:
                raise StreamError(f"line {self._number} is not one of vegeta's JSON: {error}") from error
        return events
