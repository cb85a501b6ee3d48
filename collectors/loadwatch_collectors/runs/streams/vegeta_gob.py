"""Follows vegeta's own stream (`vegeta attack`).

1 start in unix ns, 2 code, 3 latency in ns, 4 bytes out, 5 bytes in, 6 error, 7 body, 8 attack, 9 seq, 10 method,
11 url, 12 headers.
"""

import re
from collections.abc import Sequence
from typing import NoReturn

from loadwatch_formats.gob import GobError
from loadwatch_formats.outcomes import Outcome, outcome_of_status
from loadwatch_formats.vegeta import VegetaStream

from loadwatch_collectors.runs.streams.gatling_binary import SORTER, RequestEvent, StreamError
from loadwatch_collectors.runs.streams.gatling_text import RowBuffer

HEAD = re.compile(rb"\d{16,20},\d{1,3},\d+,\d+,\d+,")
_COLUMNS = 12


def vegeta_outcome(code: int, error: str) -> Outcome:
    """By the answer's status; by the error where there was none (code 0)."""
    return outcome_of_status(code) if code else SORTER.of_error(error)


class VegetaCsvReader:
    """Requests from a growing CSV."""

    def __init__(self) -> None:
        self._rows = RowBuffer()
        self._number = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        """See StreamReader."""
        events: list[RequestEvent] = []
        for row in self._rows.rows(data):
            self._number += 1
            try:
                code = int(row[1])
                events.append(
                    RequestEvent(
                        int(row[0]) // 1_000_000,
                        int(row[2]) / 1e9,
                        vegeta_outcome(code, row[5]),
                        int(row[4]),
                        int(row[3]),
                    )
                )
            except (ValueError, IndexError) as error:
                raise StreamError(
                    f"row {self._number} is not one of vegeta's CSV ({_COLUMNS} columns that begin with a time)"
                ) from error
        return events


class VegetaGobReader:
    """Requests from a growing stream."""

    def __init__(self) -> None:
        self._results = VegetaStream(_refuse)

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        """See StreamReader."""
        try:
            return [
                RequestEvent(
                    hit.time_ns // 1_000_000,
                    hit.latency_ns / 1e9,
                    vegeta_outcome(hit.code, hit.error),
                    hit.bytes_in,
                    hit.bytes_out,
                )
                for hit in self._results.feed(data)
            ]
        except GobError as error:
            _refuse(self._results.messages.offset, str(error))


def _refuse(offset: int, text: str) -> NoReturn:
    raise StreamError(f"byte {offset}: {text}; this is not vegeta's stream")
