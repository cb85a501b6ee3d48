"""JMeter's JTL as CSV (CSVSaveService): columns by the header, times in ms, `timeStamp` is the sample's start."""

import re
from collections.abc import Mapping, Sequence

from loadwatch_collectors.runs.streams.gatling_binary import SORTER, UNKNOWN, RequestEvent, StreamError, UsersEvent
from loadwatch_collectors.runs.streams.gatling_text import RowBuffer

HEAD = re.compile(rb"(?:\w+[,;\t|])*timeStamp[,;\t|](?:\w+[,;\t|])*elapsed[,;\t|]")
_DELIMITER = re.compile(rb"\w+([,;\t|])")
_TRANSACTION = "Number of samples in transaction"


class JtlReader:
    """Samples from a growing JTL; rows of Transaction Controllers are left out, their parts are there."""

    def __init__(self) -> None:
        self._rows: RowBuffer | None = None
        self._columns: dict[str, int] | None = None
        self._number = 0
        self._users = -1

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        if self._rows is None:
            found = _DELIMITER.match(data)
            self._rows = RowBuffer(found[1].decode() if found else ",")
        events: list[RequestEvent | UsersEvent] = []
        for row in self._rows.rows(data):
            self._number += 1
            if self._columns is None:
                self._columns = {name: index for index, name in enumerate(row)}
                continue
            try:
                self._read(row, self._columns, events)
            except (ValueError, KeyError, IndexError) as error:
                raise StreamError(f"row {self._number} is not one of JMeter's JTL with times in ms: {error}") from error
        return events

    def _read(self, row: list[str], columns: dict[str, int], events: list[RequestEvent | UsersEvent]) -> None:
        def text(name: str) -> str:
            index = columns.get(name)
            return row[index] if index is not None else ""

        if text("responseMessage").startswith(_TRANSACTION):
            return
        start = int(row[columns["timeStamp"]])
        events.append(
            RequestEvent(
                start,
                int(row[columns["elapsed"]]) / 1000,
                SORTER.of_jmeter(
                    text("responseCode"),
                    text("responseMessage"),
                    text("failureMessage"),
                    success=_success(text("success"), text("responseCode"), columns),
                ),
                int(text("bytes") or UNKNOWN),
                int(text("sentBytes") or UNKNOWN),
            )
        )
        users = text("allThreads")
        if users and int(users) != self._users:
            self._users = int(users)
            events.append(UsersEvent(start, self._users))


def _success(word: str, code: str, columns: Mapping[str, int]) -> bool:
    """JMeter's own word, or the status where the columns are set up without it."""
    if "success" in columns:
        return word.strip().lower() == "true"
    return "responseCode" not in columns or (len(code) == 3 and code.isdecimal() and "100" <= code < "400")
