"""`loadwatch digest access`: access logs by route."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import click
from loadwatch_formats.access_logs.blocks import BLOCK_BYTES, LineBlocks, Range, samples_of
from loadwatch_formats.access_logs.figures import RouteFigures, instant_of
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns
from loadwatch_formats.access_logs.lines.line import UNITS, AccessLogError, LineOptions, LineReader
from loadwatch_formats.access_logs.lines.ltsv import parse_keys
from loadwatch_formats.access_logs.lines.registry import FORMATS, recognise, recognise_first
from loadwatch_formats.access_logs.routes import MOST_ROUTES, OTHER, RouteNames
from loadwatch_formats.access_logs.run_part import (
    QUANTILES,
    figures_document,
    lines_document,
    quantiles_of,
    route_document,
    window_document,
)
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR
from loadwatch_formats.access_logs.tally import Key, Tally, settle_together
from loadwatch_formats.compression import pieces
from loadwatch_formats.terminal import echo
from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.app.commands.digest.files import STDIN, expand, is_compressed, opened, printable
from loadwatch_backend.app.commands.digest.statements import (
    ROWS,
    Column,
    Number,
    counts,
    differences,
    print_table,
    seconds,
    shares,
    sort_rows,
    table_options,
    texts,
)

_PIECE_BYTES = 1 << 16
"""Bytes read at a time: of a damaged piece, some decompressors return nothing at all."""
PART_BYTES = 32 << 20
_NAMES_OF_A_PART = 4_000
"""Routes kept of a part: which routes are too many is decided when all parts are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    lines: LineOptions
    groups: Sequence[str] = ()
    keep: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Logs that were counted together.

    Attributes:
        tally: their figures.
        remarks: what is to be known of them, in words, each with the name of its file.
        durations: where durations come from, in words, of each kind of log.
    """

    tally: Tally
    remarks: Sequence[str]
    formats: Sequence[str]
    durations: Sequence[str]


def count_files(files: Sequence[str], counting: Counting, names: RouteNames, processes: int | None = None) -> Counted:
    """Count files into one tally, whose routes are not settled yet.

    Raises:
        click.ClickException: a file cannot be read, or is no access log.
    """
    total: Tally | None = None
    remarks: list[str] = []
    formats, durations = dict[str, None](), dict[str, None]()
    for name in files:
        try:
            reader, part = _count_file(name, counting, remarks, processes or _cores())
        except AccessLogError as error:
            raise click.ClickException(f"{name}: {error}") from None
        except OSError as error:
            raise click.ClickException(f"{name}: {error.strerror or error}") from None
        formats[reader.format] = None
        if reader.durations:
            durations[reader.durations] = None
        else:
            remarks.append(f"{name}: no durations: {reader.without}")
        total = total or Tally(reader, names)
        total.join(part)
    assert total is not None
    return Counted(tally=total, remarks=remarks, formats=list(formats), durations=list(durations))


def _count_file(name: str, counting: Counting, remarks: list[str], processes: int) -> tuple[LineReader, dict[str, Any]]:
    path = None if name == STDIN else Path(name)
    if path is not None and path.is_file() and path.stat().st_size > PART_BYTES and not is_compressed(path):
        return _count_large(path, counting, processes)
    problems: list[str] = []
    with opened(name) as stream:
        data = pieces(stream, _PIECE_BYTES, problems)
        begun: list[bytes] = []
        try:
            reader = recognise_first(samples_of(data, begun), counting.lines)[0]
        except AccessLogError:
            if problems and not begun:
                raise AccessLogError(problems[0]) from None
            raise
        tally = _new_tally(reader, counting)
        _feed(tally, chain(begun, data))
    remarks += [f"{name}: {problem}" for problem in problems]
    return reader, tally.part()


def _count_large(path: Path, counting: Counting, processes: int) -> tuple[LineReader, dict[str, Any]]:
    size = path.stat().st_size
    with path.open("rb") as file:
        reader, sample = recognise_first(samples_of(pieces(file, _PIECE_BYTES, []), []), counting.lines)
        bounds = [0]
        while bounds[-1] < size:
            bounds.append(_line_start(file, bounds[-1] + PART_BYTES, size))
    parts = [(path, begin, end, sample, counting) for begin, end in pairwise(bounds)]
    tally = _new_tally(reader, counting)
    if processes > 1:
        with ProcessPoolExecutor(min(processes, len(parts))) as pool:
            for part in pool.map(_count_part, parts):
                tally.join(part)
    else:
        for part in map(_count_part, parts):
            tally.join(part)
    return reader, tally.part()


def _count_part(part: tuple[Path, int, int, str, Counting]) -> dict[str, Any]:
    path, begin, end, sample, counting = part
    tally = _new_tally(recognise(sample, counting.lines, most=len(sample)), counting)
    with path.open("rb") as file:
        file.seek(begin)
        _feed(tally, _until(file, end - begin))
    return tally.part()


def _until(file: BinaryIO, left: int) -> Iterator[bytes]:
    while left > 0 and (data := file.read(min(BLOCK_BYTES, left))):
        left -= len(data)
        yield data


def _line_start(file: BinaryIO, at: int, size: int) -> int:
    """The first beginning of a line from a byte on, or the end of the file."""
    if at >= size:
        return size
    file.seek(at - 1)
    at -= 1
    while data := file.read(BLOCK_BYTES):
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return size


def _new_tally(reader: LineReader, counting: Counting) -> Tally:
    return Tally(reader, RouteNames(MatchingGroups(counting.groups, counting.keep), limit=_NAMES_OF_A_PART))


def _feed(tally: Tally, data: Iterator[bytes]) -> None:
    blocks = LineBlocks()
    for piece in data:
        tally.feed(blocks.feed(piece))
    tally.feed(blocks.rest())
    tally.lines.too_long += blocks.too_long


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A route and method.

    Attributes:
        figures: of this log; empty where the route is gone.
        base: of the log that it is compared with; None without one, empty where the route is new.
        share: of the time of all requests, 0 to 1; None where the log has no durations.
        quantiles: by name, in seconds; None where there are none. `base_quantiles`: those of `base`.
    """

    method: str
    route: str
    figures: RouteFigures
    base: RouteFigures | None
    share: float | None
    quantiles: Mapping[str, float | None]
    base_quantiles: Mapping[str, float | None]

    @property
    def gone(self) -> bool:
        return not self.figures.count

    @property
    def new(self) -> bool:
        return self.base is not None and not self.base.count

    def status_count(self, of: str) -> int:
        """Requests with a status such as `304`, or with one of a class such as `5xx`; `3xx` is without 304."""
        statuses = self.figures.statuses
        if not of.endswith("xx"):
            return statuses[of]
        # 304 says that nothing has changed, and has a column of its own.
        return sum(count for one, count in statuses.items() if len(one) == 3 and one[0] == of[0] and one != "304")


def rows_of(tally: Tally, base: Tally | None) -> list[Row]:
    """All routes of both, in no order; both tallies are settled."""
    keys: dict[Key, None] = dict.fromkeys((*tally.figures, *(base.figures if base else ())))
    total = sum(figures.durations.sum for figures in tally.figures.values())
    measured = any(figures.durations.count for figures in tally.figures.values())
    rows: list[Row] = []
    for method, route in keys:
        figures = tally.figures.get((method, route)) or RouteFigures()
        beside = None if base is None else base.figures.get((method, route)) or RouteFigures()
        share = (figures.durations.sum / total if total else 0.0) if measured else None
        rows.append(
            Row(
                method=method,
                route=route,
                figures=figures,
                base=beside,
                share=share,
                quantiles=quantiles_of(figures),
                base_quantiles={} if beside is None else quantiles_of(beside),
            )
        )
    return rows


def document_of(rows: Sequence[Row]) -> dict[str, Any]:
    compared = any(row.base is not None for row in rows)
    gone = [route_document((row.method, row.route), row.base) for row in rows if row.gone and row.base is not None]
    return {"routes": [_route(row) for row in rows if not row.gone], **({"gone": gone} if compared else {})}


def _route(row: Row) -> dict[str, Any]:
    told = route_document((row.method, row.route), row.figures) | {"share": row.share}
    if row.base is not None:
        told["base"] = None if row.new else figures_document(row.base)
    return told


def _quantile(name: str) -> Column[Row]:
    return seconds(name.upper(), lambda row: row.quantiles[name])


def _status(of: str) -> Column[Row]:
    return counts(of.upper(), lambda row: row.status_count(of))


def _sum(row: Row) -> tuple[Number, Number]:
    """Sums of now and base, 0 where the route is missing there; None without a base or durations."""
    base = row.base
    if base is None or not (row.figures.durations.count or base.durations.count):
        return None, None
    return row.figures.durations.sum, base.durations.sum


COLUMNS: Mapping[str, Column[Row]] = {
    "count": counts("COUNT", lambda row: row.figures.count),
    "share": shares("SHARE", lambda row: row.share),
    "sum": seconds("SUM", lambda row: row.figures.durations.sum if row.figures.durations.count else None),
    "min": seconds("MIN", lambda row: row.figures.durations.least),
    "mean": seconds("MEAN", lambda row: row.figures.durations.mean),
    **{name: _quantile(name) for name in QUANTILES},
    "max": seconds("MAX", lambda row: row.figures.durations.greatest),
    "stddev": seconds("STDDEV", lambda row: row.figures.durations.deviation),
    **{of: _status(of) for of in ("1xx", "2xx", "3xx", "304", "4xx", "499", "5xx")},
    "bytes": counts("BYTES", lambda row: row.figures.bytes if row.figures.sized else None),
    "mean-bytes": counts(
        "MEAN-BYTES", lambda row: row.figures.bytes / row.figures.sized if row.figures.sized else None
    ),
    "max-bytes": counts("MAX-BYTES", lambda row: row.figures.most_bytes),
    "method": texts("METHOD", lambda row: row.method),
    "route": texts("ROUTE", lambda row: row.route),
    "count-change": differences("+COUNT", lambda row: (row.figures.count, row.base.count if row.base else None)),
    "sum-change": differences("+SUM", _sum, 3),
    "p95-change": differences("+P95", lambda row: (row.quantiles["p95"], row.base_quantiles.get("p95")), 3),
    "since": texts("", lambda row: "gone" if row.gone else "new" if row.new else ""),
}
SYNONYMS: Mapping[str, str] = {"avg": "mean", "uri": "route", "path": "route", "body": "bytes", "sum-body": "bytes"}
"""Names of alp's."""
USUAL = ("count", "share", "sum", "mean", "p50", "p95", "p99", "max", "304", "4xx", "5xx", "bytes", "method", "route")
COMPARED = (
    *("count", "count-change", "share", "sum", "sum-change", "mean", "p95", "p95-change", "max", "304", "5xx"),
    *("since", "method", "route"),
)


_SORT, _OUTPUT = table_options(COLUMNS, SYNONYMS)


def _keys(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> dict[str, str]:
    try:
        return parse_keys(value)
    except AccessLogError as error:
        raise click.BadParameter(str(error)) from None


def _time(_context: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    at_ms = None if value is None else instant_of(value)
    if value is not None and at_ms is None:
        raise click.BadParameter(f"{value!r} is no time with its zone, such as 2026-11-24T10:00:00Z")
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1_000, UTC)


def _groups(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> list[str]:
    patterns = [pattern for text in value for pattern in split_patterns(text)]
    return list(_checked(MatchingGroups, patterns).patterns)


def _kept(_context: click.Context, _option: click.Parameter, value: Sequence[str]) -> list[str]:
    names = [name.strip() for text in value for name in text.split(",") if name.strip()]
    return list(_checked(lambda keep: MatchingGroups((), keep), names).kept.names)


def _checked(make: Callable[[list[str]], MatchingGroups], texts: list[str]) -> MatchingGroups:
    try:
        return make(texts)
    except GroupError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--base", metavar="FILE", multiple=True, help="A log to compare with; again for several.")
@click.option(
    *("-m", "--match", "groups"),
    metavar="PATTERNS",
    multiple=True,
    callback=_groups,
    help="Regular expressions, commas between; the first that is found in a path names its route.",
)
@click.option(
    "--keep",
    metavar="NAMES",
    multiple=True,
    callback=_kept,
    help="Parameters of queries that become part of the route, such as action; commas between.",
)
@_SORT
@click.option("-r", "--reverse", is_flag=True, help="The largest first, as always: for those who are used to alp.")
@click.option("--ascending", is_flag=True, help="The smallest first.")
@_OUTPUT
@click.option("--limit", type=click.IntRange(min=0), help=f"Routes; 0 for all. {ROWS} in a table, all in JSON.")
@click.option(
    *("--format", "format_name"),
    type=click.Choice(["auto", *(one.name for one in FORMATS)]),
    default="auto",
    show_default=True,
    help="Of the lines; told by the first ones.",
)
@click.option(
    *("--key", "keys"),
    metavar="WHAT=KEY",
    multiple=True,
    callback=_keys,
    help="The key of time, method, path, request, status, bytes or seconds in LTSV and JSON; commas between several.",
)
@click.option("--from", "start", metavar="TIME", callback=_time, help="Of s3:// only: RFC 3339, or Unix seconds.")
@click.option("--to", "end", metavar="TIME", callback=_time, help="As --from; files of five minutes count whole.")
@click.option("--unit", type=click.Choice(list(UNITS)), help="Of durations, where the log does not say it.")
@click.option("--json", "as_json", is_flag=True, help="JSON in place of the table.")
def access(
    files: Sequence[str],
    base: Sequence[str],
    groups: list[str],
    keep: list[str],
    sort: str,
    reverse: bool,
    ascending: bool,
    columns: Sequence[str] | None,
    limit: int | None,
    format_name: str,
    keys: dict[str, str],
    start: datetime | None,
    end: datetime | None,
    unit: str | None,
    as_json: bool,
) -> None:
    """Access logs by route: requests, time, percentiles, statuses, bytes.

    FILE is a log of nginx, Apache, Envoy, Caddy or an ALB, LTSV or JSON lines, also compressed; - is standard input.
    Numbers, UUIDs, hashes and slugs in paths become placeholders; queries are left out, but for --keep.
    s3://BUCKET/PREFIX is all files below it; of a load balancer's those of the time.
    """
    del reverse
    wanted = Range(start=start, end=end)
    files, base = expand(files, wanted), expand(base, wanted)
    lines = LineOptions(format=format_name, keys=keys, unit=unit, queries=bool(keep))
    counting = Counting(lines=lines, groups=groups, keep=keep)
    names = RouteNames(MatchingGroups(groups, keep), limit=MOST_ROUTES)
    counted = count_files(files, counting, names)
    before = count_files(base, counting, names) if base else None
    settle_together([one.tally for one in (counted, before) if one])
    rows = rows_of(counted.tally, before.tally if before else None)
    measured = bool(counted.durations)
    by = sort if measured or sort not in ("sum", "share") else "count"
    rows = sort_rows(rows, COLUMNS[by], ascending, lambda row: (row.route, row.method))
    if as_json:
        echo(json.dumps(_document(rows[: limit or None], counted, before), indent=2))
        return
    chosen = [COLUMNS[name] for name in columns or (COMPARED if before else USUAL)]
    print_table(rows, chosen, limit, [one for one in (counted, before) if one], _headline, _remarks)


def _document(rows: Sequence[Row], counted: Counted, before: Counted | None) -> dict[str, Any]:
    document = document_of(rows) | {"lines": _lines(counted), "window": window_document(counted.tally)}
    if before is not None:
        document |= {"base": {"lines": _lines(before), "window": window_document(before.tally)}}
    return document


def _lines(counted: Counted) -> dict[str, Any]:
    return lines_document(counted.tally) | {
        "formats": counted.formats,
        "durations": counted.durations,
        "remarks": counted.remarks,
    }


def _headline(counted: Counted) -> str:
    lines = counted.tally.lines
    routes = len({route for _, route in counted.tally.figures})
    said = [f"{lines.read:,} requests, {routes:,} routes"]
    if lines.first_ms is not None and lines.last_ms is not None:
        took = (lines.last_ms - lines.first_ms) / 1000
        rate = f", {lines.read / took:,.0f} a second" if took >= 1 else ""
        said.append(f"{format_rfc3339(lines.first_ms)[:19]}Z to {format_rfc3339(lines.last_ms)[11:19]}Z{rate}")
    if counted.durations:
        said.append(f"durations: {' and '.join(counted.durations)}; percentiles within {RELATIVE_ERROR * 100:g} %")
    return "; ".join(said)


def _remarks(counted: Counted) -> list[str]:
    lines, tally = counted.tally.lines, counted.tally
    remarks = [printable(remark, 1_000) for remark in counted.remarks]
    if lines.unreadable:
        example = f", such as: {printable(lines.example, 120)}" if lines.example else ""
        verb = "line is no request" if lines.unreadable == 1 else "lines are no requests"
        remarks.append(f"{lines.unreadable:,} {verb}{example}")
    if lines.too_long:
        verb = "line of more than a megabyte was" if lines.too_long == 1 else "lines of more than a megabyte were"
        remarks.append(f"{lines.too_long:,} {verb} left out")
    if counted.durations and (without := tally.without_duration):
        verb = "request has" if without == 1 else "requests have"
        remarks.append(f"{without:,} {verb} no duration: in counts and bytes, but not in times")
    others = _lines(counted)["other_routes"]
    if others:
        remarks.append(f"{others:,} requests are of further routes, together as {OTHER!r}; --match names what matters")
    return remarks
