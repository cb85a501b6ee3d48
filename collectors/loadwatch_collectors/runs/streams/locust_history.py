"""Locust's `<prefix>_stats_history.csv` (locust/stats.py, StatsCSVFileWriter): one row `Aggregated` each second.

Counts are since the start; percentiles are those of the last 10 s with `--csv-full-history`, in milliseconds.
"""

from collections.abc import Sequence

from loadwatch_collectors.runs.streams.gatling_binary import SecondEvent, StreamError
from loadwatch_collectors.runs.streams.gatling_text import RowBuffer

HEAD = b"Timestamp,User Count,Type,Name,"
_QUANTILES = (("50%", 0.5), ("90%", 0.9), ("95%", 0.95), ("99%", 0.99), ("100%", 1.0))


class LocustHistoryReader:
    """Totals from a growing history file."""

    def __init__(self) -> None:
        self._rows = RowBuffer()
        self._columns: dict[str, int] | None = None
        self._number = 0

    def feed(self, data: bytes) -> Sequence[SecondEvent]:
        """See StreamReader."""
        events: list[SecondEvent] = []
        for row in self._rows.rows(data):
            self._number += 1
            if self._columns is None:
                self._columns = {name: index for index, name in enumerate(row)}
                continue
            try:
                if row[self._columns["Name"]] == "Aggregated":
                    events.append(_parse(row, self._columns))
            except (ValueError, KeyError, IndexError) as error:
                raise StreamError(f"row {self._number} is not one of Locust's history: {error}") from error
        return events


def _parse(row: list[str], columns: dict[str, int]) -> SecondEvent:
    quantiles = tuple(
        (quantile, float(row[columns[name]]) / 1000)
        for name, quantile in _QUANTILES
        if name in columns and row[columns[name]] not in ("N/A", "")
    )
    return SecondEvent(
        int(float(row[columns["Timestamp"]]) * 1000),
        int(row[columns["Total Request Count"]]),
        int(row[columns["Total Failure Count"]]),
        float(row[columns["User Count"]]),
        quantiles,
    )
