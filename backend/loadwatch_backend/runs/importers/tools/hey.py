"""hey (https://github.com/rakyll/hey): its CSV of answered requests (`-o csv`) and its printed summary.

The CSV holds no failures at all, not even their number, and no time of day; offsets and durations are seconds with four
decimals. Both keep at most 1,000,000 requests (`requester/report.go`, maxRes).
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from loadwatch_backend.evidence.records.model import Endpoint, Latency
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink, by_header
from loadwatch_backend.runs.importers.outcomes import UNNAMED, figures, outcomes_of_counts, ranked_errors
from loadwatch_backend.runs.importers.reading.documents import (
    STATUS_MOST,
    count,
    integer,
    latency_of,
    nanoseconds,
    number,
    only,
    read_lines,
)
from loadwatch_backend.runs.importers.reading.patterns import Linear

_LONGEST_ROW = 1_000_000
_SHOWN = 20


class _Lines:
    """Decoded lines; tells whether the last one ended with a line break."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.ended = True

    def __iter__(self) -> Iterator[str]:
        while line := self._stream.readline(_LONGEST_ROW):
            self.ended = line.endswith(b"\n")
            yield line.decode(errors="replace").replace("\0", "�")


def check_header(part: Part, row: Sequence[str], wanted: Sequence[str], what: str) -> None:
    """Refuses a file that was called by a format that it has not.

    Raises:
        UnreadableFileError: the first row has other names; the text shows both.
    """
    if list(row[: len(wanted)]) != list(wanted):
        raise UnreadableFileError(
            f"{part.name}: {what} begins with the line {','.join(wanted)!r}, and this file with "
            f"{','.join(row)[:80]!r}. Leave the format out to have it recognised."
        )


@dataclass(eq=False)
class Damages:
    """Reports damaged rows, the first ones with their places, then how many more there were."""

    _sink: Sink
    _what: str
    rows: int = 0

    def add(self, line: int, why: str) -> None:
        """One damaged row at a line number from 1."""
        self.rows += 1
        if self.rows <= _SHOWN:
            self._sink.remark("damaged/line", place=f"line {line}", what=self._what, why=why)

    def close(self) -> None:
        if self.rows > _SHOWN:
            self._sink.remark(
                "damaged/further-lines", place="further lines", figures={"lines": self.rows - _SHOWN}, what=self._what
            )


def rows_of(part: Part, damages: Damages, *, quoted: bool = True) -> Iterator[tuple[int, Sequence[str]]]:
    """Line number and fields of every whole row after the header; the header comes first as line 1.

    Without `quoted` a quote is a character as any other, so that a stray one costs its own line only.

    A row of another length than the header is damaged, and so is a last row without its line break whose length is
    right: its last figure may have lost digits. The damages are closed at the end.
    """
    with part.open() as stream:
        lines = _Lines(stream)
        reader = csv.reader(lines, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
        width = 0
        held: tuple[int, Sequence[str]] | None = None
        while True:
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                damages.add(reader.line_num, str(error))
                continue
            if held is not None:
                yield held
                held = None
            if not row:
                continue
            if width == 0:
                width = len(row)
                held = (1, row)
                continue
            if len(row) != width:
                why = "the file ends within it" if not lines.ended else f"{len(row)} fields instead of {width}"
                damages.add(reader.line_num, why)
                continue
            held = (reader.line_num, row)
        if held is not None:
            if lines.ended or held[0] == 1:
                yield held
            else:
                damages.add(held[0], "the file ends within it")
    damages.close()


CSV_HEADER = b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
_COLUMNS = ("offset", "response-time", "status-code")
KEPT = 1_000_000
_LATENCIES = ("Fastest", "Average", 50, 90, 95, 99, "Slowest")
_VALUE = Linear(r"(?m)^ +([A-Za-z/][A-Za-z/ ]*):\t *(\S+)")
_PERCENTILE = Linear(r"(?m)^ +(\d+)%+ in ([\d.]+) secs")
_TOTAL = re.compile(rb"(?m)^  Total:\t[-0-9.]+ secs\r?$")
_STATUS = Linear(r"(?m)^ +\[(\d+)\]\t(\d+) responses")
_ERROR = Linear(r"(?m)^ +\[(\d+)\]\t(.+)$")


def read_answers(part: Part, sink: Sink, what: str, header: bytes, columns: Sequence[str]) -> int:
    """Answered requests of a CSV whose times are seconds from the start of the test; how many there are.

    `columns` are those of start, duration and status, and of bytes where it tells them.
    """
    sink.no_wall_clock()
    damages, rows, read = Damages(sink, what), sink.rows(), 0
    names = header.decode().split(",")
    places = [names.index(column) for column in columns]
    for line, row in rows_of(part, damages, quoted=False):
        if line == 1:
            check_header(part, row, names, what)
            continue
        begun, took, status, *size = (row[place] for place in places)
        try:
            sizes = [integer(one) for one in size] or [-1]
            rows.append(nanoseconds(begun), nanoseconds(took), integer(status, STATUS_MOST), UNNAMED, bytes_in=sizes[0])
        except ValueError:
            damages.add(line, "a field is no number")
            continue
        read += 1
    return read


def read_hey_csv(parts: Sequence[Part], sink: Sink) -> None:
    """Answered requests; times are from the start of the test."""
    read = read_answers(only(parts, sink), sink, "hey's CSV", CSV_HEADER, _COLUMNS)
    sink.remark("hey-no-failures")
    sink.remark("hey-four-decimals")
    if read >= KEPT:
        sink.remark("hey-row-limit", figures={"rows": read}, kept=KEPT)


def read_hey_text(parts: Sequence[Part], sink: Sink) -> None:
    """The printed summary: totals by status and by error, percentiles of answered requests."""
    part = only(parts, sink)
    text = read_lines(part, "the summary of hey")
    values = {name: number(value) for name, value in _VALUE.findall(text)}
    total, rate = values.get("Total"), values.get("Requests/sec")
    answers, _, failures = text.partition("\nError distribution:")
    before, found, answers = answers.partition("\nStatus code distribution:")
    if not found or total is None:
        raise UnreadableFileError(
            f"{part.name}: hey's summary is cut off after {len(text.splitlines())} lines, before its status codes. "
            "Nothing of it was imported; let hey run to its end."
        )
    statuses = {code: count(n) for code, n in _STATUS.findall(answers)}
    errors = [(message, count(n)) for n, message in _ERROR.findall(failures)]
    outcomes, answered = outcomes_of_counts(statuses, errors), sum(statuses.values())
    percentiles = {number(share): number(value) for share, value in _PERCENTILE.findall(before)}
    size = values.get("Total data", values.get("data"))
    total_figures = figures(
        outcomes=outcomes,
        duration_seconds=total,
        rate=rate,
        latency=latency_of({**values, **percentiles}, _LATENCIES) if answered else Latency(),
        status_codes=statuses,
        bytes_in=None if size is None else count(size),
    )
    sink.aggregate(total_figures, (Endpoint(name=UNNAMED, figures=total_figures),), ranked_errors(errors))
    sink.remark("hey-no-series")
    if errors:
        sink.remark("hey-latency-of-answers", figures={"failed": sum(n for _, n in errors), "answered": answered})
    sent = round(rate * total) if rate else 0
    if answered >= KEPT and sent > total_figures.requests:
        sink.remark("hey-row-limit/summary", figures={"tool_requests": sent, "ours_requests": total_figures.requests})


def _recognise_text(head: bytes) -> int:
    words = (b"Summary:\n", b"  Slowest:\t", b"  Requests/sec:\t")
    # oha and ghz print nearly the same, in units of their own.
    if b"Success rate:" in head or not _TOTAL.search(head):
        return 0
    return 90 if all(word in head.replace(b"\r\n", b"\n") for word in words) else 0


HEY_CSV = Importer("hey-csv", "hey CSV (`hey -o csv`)", by_header(CSV_HEADER), read_hey_csv)
HEY_TEXT = Importer("hey-text", "hey's printed summary", _recognise_text, read_hey_text)
