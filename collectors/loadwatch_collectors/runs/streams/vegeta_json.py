"""vegeta's JSON lines (`vegeta encode -to json`)."""

import json
import re
from collections.abc import Sequence
from typing import Any

from loadwatch_formats.times import parse_rfc3339

from loadwatch_collectors.runs.streams.gatling_binary import RequestEvent, StreamError
from loadwatch_collectors.runs.streams.gatling_text import LineBuffer
from loadwatch_collectors.runs.streams.vegeta_gob import vegeta_outcome

HEAD = re.compile(rb'\{"attack":')


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
                        parse_rfc3339(result["timestamp"]) // 1_000_000,
                        result["latency"] / 1e9,
                        vegeta_outcome(code, result.get("error", "")),
                        result.get("bytes_in", 0),
                        result.get("bytes_out", 0),
                    )
                )
            except (ValueError, KeyError, TypeError) as error:
                raise StreamError(f"line {self._number} is not one of vegeta's JSON: {error}") from error
        return events
