"""From a file to a `LoadResult`, in this process. `reader` runs it in one of its own."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.evidence.records.accumulator import (
    ENDPOINTS_KEPT,
    ENDPOINTS_SHOWN,
    LARGEST_BYTES,
    Accumulator,
    Summary,
)
from loadwatch_backend.evidence.records.columns import Columns
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import Figures, Latency, LoadResult, RemarkKind
from loadwatch_backend.runs.importers.errors import UnknownFormatError, UnknownImporterError, UnreadableFileError
from loadwatch_backend.runs.importers.importer import Aggregate, Importer, Part, Sink
from loadwatch_backend.runs.importers.reading.source import Source
from loadwatch_backend.runs.importers.reading.unpacked import MAX_BYTES, Unpacked
from loadwatch_backend.runs.importers.registry import IMPORTERS

_SHOWN = 60


def importer_named(importers: Sequence[Importer], name: str) -> Importer:
    """By its stable name.

    Raises:
        UnknownImporterError: naming all there are.
    """
    for importer in importers:
        if importer.name == name:
            return importer
    raise UnknownImporterError(f"There is no format {name!r}. Formats: {', '.join(i.name for i in importers)}.")


def recognise_part(importers: Sequence[Importer], part: Part) -> Importer | None:
    """The most confident importer, the first of equals; None when nobody knows the content."""
    best = max(importers, key=lambda importer: importer.recognise(part.head))
    return best if best.recognise(part.head) else None


def recognise_parts(importers: Sequence[Importer], parts: Sequence[Part]) -> tuple[Importer, list[Part], list[str]]:
    """One importer for all parts of an upload, the parts it reads, and the names of those left out.

    Of several formats in one archive that wins which most parts have, then the one registered first.

    Raises:
        UnknownFormatError: when no part is known; it tells what was found instead and what can be read.
    """
    found = [(part, recognise_part(importers, part)) for part in parts]
    counts = {importer.name: sum(1 for _, i in found if i is importer) for importer in importers}
    best = max(importers, key=lambda importer: counts[importer.name])
    if not counts[best.name]:
        raise unknown(importers, parts)
    chosen = [part for part, importer in found if importer is best]
    return best, chosen, [part.name for part, importer in found if importer is not best]


def unknown(importers: Sequence[Importer], parts: Sequence[Part]) -> UnknownFormatError:
    known = "; ".join(importer.title for importer in importers)
    if len(parts) == 1:
        what = f"{parts[0].name or 'The file'} {describe(parts[0].head)}"
    else:
        what = f"None of the {len(parts)} files in the archive"
        what += " is" if parts else ": it has no files. It is not"
    return UnknownFormatError(f"{what}, and no result that Loadwatch can read. Formats: {known}.")


def describe(head: bytes) -> str:
    if not head:
        return "is empty"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return f"is {what}"
    if b"Success rate:\t" in head and b"Requests/sec:\t" in head:
        return "is oha's printed summary, whose JSON is read: use `oha --output-format json`"
    if b"\0" in head[:4096]:
        return f"is binary, beginning with {head[:16].hex(' ')}"
    line = head.partition(b"\n")[0].rstrip(b"\r")[:_SHOWN].decode("utf-8", "replace")
    if head.lstrip()[:1] in (b"{", b"["):
        return f"is JSON beginning with {line!r}"
    if head.lstrip()[:1] == b"<":
        return f"is XML or HTML beginning with {line!r}"
    return f"is text beginning with {line!r}"


_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\xfd7zXZ", "an xz archive; gzip and zstd can be read"),
    (b"\xff\xfe", "text in UTF-16, as PowerShell's > writes it; write it in UTF-8"),
    (b"BZh", "a bzip2 archive; gzip and zstd can be read"),
)


_MS = 1_000_000
RECORD_BYTES = 64
"""Of a request on disk, at most as a rule: names and errors are written once."""


def read_result(
    source: Path,
    directory: Path,
    options: ImportOptions,
    progress: Callable[[Progress], None],
    *,
    importers: Sequence[Importer] = IMPORTERS,
    watch: Callable[[Callable[[], Progress]], None] | None = None,
    most_unpacked: int = MAX_BYTES,
) -> LoadResult:
    """Reads `source` into `directory`; see `records.contract.ResultReader`.

    Args:
        source: the file as it was sent.
        directory: exists and is empty; gets `records.parquet` when there are single requests.
        options: what the sender said beside it.
        progress: called at the beginning and the end, and whenever requests were taken.
        importers: all formats, by default.
        most_unpacked: most bytes of all that the file unpacks to.
        watch: gets a function that tells the progress at any time, also from another thread.

    Raises:
        ProblemError: of `importers.errors`. The directory is then empty again.
    """
    scratch = Path(tempfile.mkdtemp(prefix=".import-", dir=directory))
    records = RunFiles(directory).records
    accumulator = _Reporting(records)
    try:
        account = Unpacked(source.stat().st_size, most_unpacked)
        file = Source(source, options.filename or source.name, scratch, account)

        def now() -> Progress:
            return Progress(bytes_read=file.bytes_read, bytes_total=file.bytes_total, records=accumulator.records)

        def report(records: int) -> None:
            account.check_room(directory, records * RECORD_BYTES)
            progress(now())

        accumulator.report = report
        if watch is not None:
            watch(now)
        progress(now())
        sink = Sink(accumulator, options.started_ms)
        importer = _read(file, sink, options, importers)
        result = _finish(importer, sink, accumulator, file, options)
        progress(Progress(bytes_read=file.bytes_total, bytes_total=file.bytes_total, records=accumulator.records))
        return result
    except BaseException:
        accumulator.close()
        records.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _Reporting(Accumulator):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.report: Callable[[int], None] | None = None

    def add(self, columns: Columns) -> None:
        before = self.records
        super().add(columns)
        if self.report is not None:
            self.report(self.records - before)


def _read(file: Source, sink: Sink, options: ImportOptions, importers: Sequence[Importer]) -> Importer:
    parts = file.parts()
    if options.format is not None:
        importer = importer_named(importers, options.format)
        chosen, others = parts, list[str]()
    else:
        if len(parts) == 1 and not parts[0].head:
            raise UnknownFormatError("The file is empty. Was the load test stopped before it wrote anything?")
        importer, chosen, others = recognise_parts(importers, parts)
    if others:
        sink.remark("other-files", count=len(others), title=importer.title, names=", ".join(others[:10]))
    _take_in(importer, chosen, sink, file)
    sink.close_damage()
    damaged = any(remark.kind is RemarkKind.DAMAGE for remark in sink.remarks)
    # A file of zero requests is a result; one in which everything is damaged is not.
    if sink.records == 0 and sink.aggregated is None and (damaged or not chosen):
        first = next((remark for remark in sink.remarks if remark.kind is RemarkKind.DAMAGE), None)
        found = f" {first.place}: {first.text}" if first else ""
        raise UnreadableFileError(
            f"{importer.title}: nothing in the file could be read; it {describe(chosen[0].head)}.{found}"
        )
    requests = sink.received if sink.aggregated is None else sink.aggregated.figures.requests
    if not requests and _has_content(sink, chosen):
        raise UnreadableFileError(
            f"{importer.title}: there is no HTTP request in the file, which {describe(chosen[0].head)}."
        )
    return importer


_MOST_HEAD_LINES = 4
_BROKEN = (ArithmeticError, LookupError, ValueError, TypeError)
"""What a parser trips over in bytes that nobody foresaw; errors with words of their own are no such."""


def _take_in(importer: Importer, parts: Sequence[Part], sink: Sink, file: Source) -> None:
    """Reads all of it; where the reading breaks off, what was read before stays and the place is said."""
    try:
        importer.read(parts, sink)
        sink.flush()
    except _BROKEN as error:
        sink.remark(
            "broken-off",
            place=f"about byte {file.bytes_read} of {file.bytes_total}",
            figures={"read_bytes": file.bytes_read, "bytes": file.bytes_total},
            title=importer.title,
            kind=type(error).__name__,
            error=error,
        )
        with suppress(*_BROKEN):
            sink.flush()


def _has_content(sink: Sink, parts: Sequence[Part]) -> bool:
    """Whether there is more than the head of a table; a run may have sent nothing."""
    if sink.aggregated is not None and parts[0].head.lstrip()[:1] == b"{":
        return True
    return any(sum(map(bool, map(bytes.strip, part.head.split(b"\n")))) > _MOST_HEAD_LINES for part in parts)


def _finish(
    importer: Importer, sink: Sink, accumulator: Accumulator, file: Source, options: ImportOptions
) -> LoadResult:
    for problem in file.damage:
        sink.remark("compression", place=f"byte {file.bytes_read}", problem=problem)
    if sink.aggregated is not None and accumulator.records == 0:
        return _aggregated(importer, sink, sink.aggregated)
    if accumulator.received and not accumulator.records:
        raise UnreadableFileError(
            f"{importer.title}: none of its {accumulator.received} requests can be true:"
            f" {accumulator.bad_times.count} have a date that no run can have,"
            f" {accumulator.bad_latencies.count} a latency that is negative or over a day."
            " Is the generator's clock right?"
        )
    summary = accumulator.finish()
    bad = (("time", accumulator.bad_times), ("latency", accumulator.bad_latencies), ("bytes", accumulator.bad_sizes))
    for what, rejected in bad:
        if rejected.count:
            sink.remark(
                f"absurd-{what}",
                place=f"record {rejected.first}",
                figures={"requests": rejected.count},
                days=LONGEST_RUN_DAYS,
                most=LARGEST_BYTES // 2**40,
            )
    if summary.endpoints_overflowed:
        sink.remark("endpoints", most=ENDPOINTS_KEPT)
    elif summary.endpoints_distinct > ENDPOINTS_SHOWN:
        sink.remark("endpoints-shown", shown=ENDPOINTS_SHOWN - 1, count=summary.endpoints_distinct)
    return _recorded(importer, sink, summary, options)


def _recorded(importer: Importer, sink: Sink, summary: Summary, options: ImportOptions) -> LoadResult:
    start = None if summary.first_ns is None else summary.first_ns // _MS
    end = None if summary.end_ns is None else -(-summary.end_ns // _MS)
    if not sink.has_wall_clock:
        told = options.started_ms is not None
        sink.remark("no-wall-clock/told" if told else "no-wall-clock/untold", tool=importer.tool)
        start, end = (start, end) if told else (None, None)
    return LoadResult(
        **_known(importer, sink),
        start_ms=start,
        end_ms=end,
        figures=summary.figures,
        endpoints=tuple(summary.endpoints),
        errors=tuple(summary.errors),
        seconds=summary.seconds,
        has_records=summary.figures.requests > 0,
    )


def _known(importer: Importer, sink: Sink) -> dict[str, Any]:
    return {
        "format": importer.name,
        "tool": importer.tool,
        "tool_version": sink.tool_version,
        "name": sink.name,
        "remarks": tuple(sink.remarks),
        "facts": sink.facts,
    }


def _aggregated(importer: Importer, sink: Sink, found: Aggregate) -> LoadResult:
    figures = _possible(found.figures)
    backwards = found.start_ms is not None and found.end_ms is not None and found.end_ms < found.start_ms
    if figures != found.figures or backwards:
        sink.remark("impossible-totals", place="totals", title=importer.title, days=LONGEST_RUN_DAYS)
    return LoadResult(
        **_known(importer, sink),
        start_ms=found.start_ms,
        end_ms=None if figures != found.figures or backwards else found.end_ms,
        figures=figures,
        endpoints=tuple(
            replace(endpoint, figures=_possible(endpoint.figures)) for endpoint in found.endpoints[:ENDPOINTS_SHOWN]
        ),
        errors=tuple((text, count) for text, count in found.errors[:50]),
        seconds=found.seconds,
        has_records=False,
    )


def _possible(figures: Figures) -> Figures:
    lasted = 0 <= figures.duration_seconds <= LONGEST_RUN_DAYS * 86_400
    rates = (figures.rate, figures.throughput)
    if not lasted or any(rate is not None and rate < 0 for rate in rates):
        figures = replace(figures, duration_seconds=0.0, rate=None, throughput=None)
    if any(value is not None and value < 0 for value in astuple(figures.latency)):
        figures = replace(figures, latency=Latency())
    return figures
