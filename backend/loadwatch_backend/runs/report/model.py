"""A report as data: what HTML, Markdown and JSON all show."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from loadwatch_formats.numbers import format_change, format_value
from pydantic import Field

from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.cost.documents import CostFunction, CostOut, CostRoute, CostShare, CpuRoute
from loadwatch_backend.evidence.cost.model import Reason
from loadwatch_backend.evidence.files.media import IMAGES, TEXT
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.evidence.log_patterns import LogPatternList, LogPatternOut, LogTrend
from loadwatch_backend.evidence.routes import RouteRank, RunRoute, RunRoutes
from loadwatch_backend.evidence.runs import RequestsBy
from loadwatch_backend.evidence.statements import StatementOut, StatementsOut
from loadwatch_backend.runs.analysis.schemas import FiguresOut
from loadwatch_backend.runs.annotations.schemas import AnnotationOut
from loadwatch_backend.runs.compare.metrics import whole_figures, window_figures
from loadwatch_backend.runs.compare.schemas import FigureRepeats
from loadwatch_backend.runs.report.svg import Chart
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.snapshots import ConfigurationDifference

MOST_BYTES = 8 << 20
"""Most bytes of pictures within one report."""
MOST_TEXT_BYTES = 128 << 10
"""Most bytes shown of a text, from its beginning; the report says where it was cut."""


class ReportFilesError(InvalidError, code="report-files"):
    """The chosen files have no room in a report."""


class Attached(NamedTuple):
    """What a report shows of a file's content.

    Attributes:
        picture: address of the picture (`data:`); empty where it is none.
        text: its beginning; None where it is no text. cut: whether there is more.
        href: where the whole file is; empty where the report stands alone.
    """

    picture: str = ""
    text: str | None = None
    cut: bool = False
    href: str = ""


def attach(chosen: Sequence[StoredEvidence], href: Callable[[str], str] | None) -> Mapping[str, Attached]:
    """What is shown of each, by its id.

    Args:
        chosen: files that somebody chose.
        href: address of a file by its id; pictures for which there is no room are shown there.

    Raises:
        ReportFilesError: pictures have no room, and there is no such address.
        OSError: a file cannot be read.
    """
    pictures = [one for one in chosen if one.file.media_type in IMAGES]
    size = sum(one.file.bytes for one in pictures)
    if href is None and size > MOST_BYTES:
        raise ReportFilesError(
            f"The chosen pictures have {size >> 20} MiB together, and a report holds {MOST_BYTES >> 20}. Choose fewer, "
            "or share a link, which leads to them."
        )
    room, shown = MOST_BYTES, dict[str, Attached]()
    for one in chosen:
        address = "" if href is None else href(one.file.id)
        fits = one.file.bytes <= room
        if one.file.media_type in IMAGES and fits:
            room -= one.file.bytes
            encoded = base64.b64encode(one.path.read_bytes()).decode()
            shown[one.file.id] = Attached(picture=f"data:{one.file.media_type};base64,{encoded}", href=address)
        elif one.file.media_type == TEXT:
            shown[one.file.id] = _text(one, address)
        else:
            shown[one.file.id] = Attached(href=address)
    return shown


def _text(one: StoredEvidence, href: str) -> Attached:
    with one.path.open("rb") as content:
        head = content.read(MOST_TEXT_BYTES + 1)
    text = head[:MOST_TEXT_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
    # A terminal's colours and worse stay out; so does what turns a text around.
    clean = "".join(one if one in "\n\t" or one.isprintable() else " " for one in text)
    return Attached(text=clean, cut=len(head) > MOST_TEXT_BYTES, href=href)


PATTERNS_SHOWN = 12
FILES_SHOWN = 50
_NEWS = (LogTrend.NEW, LogTrend.GREW, LogTrend.UNKNOWN)


def shown_patterns(log: LogPatternList | None) -> Sequence[LogPatternOut]:
    """Patterns that are new or grew, or of which nobody can tell; those that always come are left to the page."""
    found = [] if log is None else [one for one in log.patterns if one.trend in _NEWS and one.pattern]
    return found[:PATTERNS_SHOWN]


def shown_files(files: Sequence[EvidenceFile], attached: Mapping[str, Attached]) -> Sequence[EvidenceFile]:
    """Those whose content was chosen to be shown come first."""
    ordered = sorted(files, key=lambda one: one.id not in attached)
    return ordered[: max(FILES_SHOWN, len(attached))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run with all that its report shows.

    Attributes:
        baseline: figures of the scenario's baseline; None when there is none, or it is this run.
        difference: configuration against the baseline; None likewise.
        opening: the chart of what ran out first, or requests and response times where nothing did.
        charts: all others.
        cost: what requests cost; None where that cannot be read. routes: requests by route; likewise.
        statements: what the databases were asked; likewise.
        log: log lines by pattern; None likewise.
        repeats: how well figures repeat between equal runs of its scenario.
        failed: parts that could not be read, by the keys of their headings; the rest is shown.
        files: what is kept with the run. attached: what of them is shown, by id.
    """

    run: RunOut
    baseline: RunOut | None
    difference: ConfigurationDifference | None
    review: ReviewOut
    notes: Sequence[AnnotationOut]
    opening: Sequence[Chart]
    charts: Sequence[Chart]
    made_ms: int
    cost: CostOut | None = None
    routes: RunRoutes | None = None
    statements: StatementsOut | None = None
    log: LogPatternList | None = None
    repeats: Sequence[FigureRepeats] = ()
    failed: Sequence[str] = ()
    files: Sequence[EvidenceFile] = ()
    attached: Mapping[str, Attached] = field(default_factory=dict[str, Attached])


class RunReport(RunOut):
    """A report as JSON: whoever scripts against the run's document can read this."""

    cost: CostOut | None
    routes: RunRoutes | None
    statements: StatementsOut | None
    repeats: list[FigureRepeats]
    failed: list[str] = Field(description="Parts that could not be read: `why`, `routes`, `statements`.")
    files: list[EvidenceFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    key: str
    unit: str
    steady: float | None
    whole: float | None
    baseline: float | None

    @property
    def change(self) -> float | None:
        """Against the baseline, over the steady windows."""
        value = self.steady if self.steady is not None else self.whole
        if value is None or not self.baseline:
            return None
        return value / self.baseline - 1


def shares_of_endpoints(run: RunOut | None) -> Mapping[str, float]:
    """How its requests were spread over endpoints; nothing without a run."""
    if run is None:
        return {}
    total = sum(one.requests for one in run.endpoints)
    return {one.name: one.requests / total for one in run.endpoints} if total else {}


def mixed_key(names: Sequence[str]) -> str:
    """The text's key that says which runs' counts may be mixed with these (`mixed_with`); empty where none."""
    return "" if not names else "mixed_both" if len(names) > 1 else f"mixed_{names[0]}"


def summary_rows(run: RunOut, baseline: RunOut | None) -> list[SummaryRow]:
    steady, whole = _figures(run.steady), _figures(whole_figures(run))
    base = {} if baseline is None else _figures(window_figures(baseline))
    return [
        SummaryRow(key=key, unit=unit, steady=steady.get(key), whole=whole.get(key), baseline=base.get(key))
        for key, unit in _SUMMARY
        if any(figures.get(key) is not None for figures in (steady, whole))
    ]


FIRST = ("requests", "rate", "success", "min", "p50", "p95", "p99", "max")
_SUMMARY: Sequence[tuple[str, str]] = (
    ("requests", "count"),
    ("rate", "per_second"),
    ("success", "ratio"),
    ("min", "seconds"),
    ("p50", "seconds"),
    ("p95", "seconds"),
    ("p99", "seconds"),
    ("max", "seconds"),
    ("ok_rate", "per_second"),
    ("throughput", "per_second"),
    ("wait", "seconds"),
    ("mean", "seconds"),
    ("p90", "seconds"),
)


def _figures(figures: FiguresOut | None) -> dict[str, float | None]:
    if figures is None:
        return {}
    return {
        "requests": float(figures.requests),
        "rate": figures.rate,
        "ok_rate": figures.ok_rate,
        "throughput": figures.throughput,
        "wait": figures.wait_seconds,
        "success": figures.success_ratio,
        **figures.latency_seconds.model_dump(),
    }


ROUTES_SHOWN, STATEMENTS_SHOWN, STATEMENTS_LISTED, FUNCTIONS_SHOWN = 10, 3, 10, 8
LEAST_COVERAGE = 0.95
LEADS = 0.2
MOST_TEXT = 160
COUNTED = ("requests", "answers", "p50", "p99", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """A line of the table: of a statement where `asked`, else of a route; `repeated` where it is N+1.

    `counted` are the cells of `COUNTED`.
    """

    name: str
    share: str
    calls: str
    database: str
    change: str = ""
    counted: Sequence[str] = ("",) * 5
    asked: bool = False
    repeated: bool = False


class StatementRow(NamedTuple):
    """A statement; `cells` are those of `ReportedCost.statement_heads`."""

    name: str
    cells: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCost:
    """The section: what leads it, its tables (of routes, statements, functions), what stands below.

    `statement_heads` are the keys of the columns that somebody counted; `unit` is that of the functions' times.
    """

    window: str
    lead: str
    rows: Sequence[CostRow]
    statement_heads: Sequence[str]
    statements: Sequence[StatementRow]
    functions: Sequence[CostFunction]
    unit: str
    each: str
    notes: Sequence[str]


def report_cost(
    cost: CostOut | None, routes: RunRoutes | None, statements: StatementsOut | None, language: Language
) -> ReportedCost | None:
    """What a report says of routes, statements and functions; None where nobody counted any."""
    figures = {} if routes is None else {one.name: one for one in routes.routes}
    asked = [] if statements is None else statements.statements[:STATEMENTS_LISTED]
    if cost is None or not (cost.routes or cost.functions or figures or asked):
        return None
    t = Texts("report", language)
    texts = {one.id: one.text for one in cost.statements}
    rows: list[CostRow] = []
    costs = {one.name: one for one in cost.routes}
    told = any(one.calls is not None for one in cost.routes)
    names = dict.fromkeys([*costs, *figures] if told else [*figures, *costs])
    for name in [*names][:ROUTES_SHOWN]:
        route = costs.get(name)
        rows.append(_route(name, route, figures.get(name), t))
        rows.extend(_asked(one, texts) for one in (route.statements if route else [])[:STATEMENTS_SHOWN])
    return ReportedCost(
        window=t(cost.window.value),
        lead=_lead(cost, t),
        rows=rows,
        statement_heads=[key for key, tell in _COLUMNS.items() if any(tell(one) for one in asked)],
        statements=[_statement(one, asked) for one in asked],
        functions=[] if cost.functions is None else cost.functions.functions[:FUNCTIONS_SHOWN],
        unit="" if cost.functions is None else cost.functions.unit,
        each="" if cost.functions is None else t(f"why_per_{cost.functions.per.value}"),
        notes=[
            *_notes(cost, bool(figures), statements if asked else None, t),
            *(_counting(routes, t) if routes is not None and figures else ()),
        ],
    )


def _share_of_calls(one: StatementOut) -> str:
    if one.no_index_used is None or one.calls <= 0:
        return ""
    return format_value(min(one.no_index_used / one.calls, 1.0), "ratio")


def _each(total: float | None, calls: float, unit: str) -> str:
    return "" if total is None or calls <= 0 else format_value(total / calls, unit)


_COLUMNS: Mapping[str, Callable[[StatementOut], str]] = {
    "share": lambda one: format_value(one.share, "ratio"),
    "all_calls": lambda one: format_value(one.calls, "count"),
    "calls": lambda one: "" if one.calls_per_request is None else _calls(one.calls_per_request),
    "call_time": lambda one: format_value(one.mean_seconds, "seconds"),
    "lock": lambda one: _each(one.lock_seconds, one.calls, "seconds"),
    "examined": lambda one: (
        "" if one.rows_examined_per_row_sent is None else format_value(one.rows_examined_per_row_sent, "count")
    ),
    "disk": lambda one: "" if one.tmp_disk_tables is None else format_value(one.tmp_disk_tables, "count"),
    "no_index": _share_of_calls,
    "change": lambda one: _change(one.mean_seconds, None if one.base is None else one.base.mean_seconds),
}


def _statement(one: StatementOut, of: Sequence[StatementOut]) -> StatementRow:
    cells = [tell(one) for tell in _COLUMNS.values() if any(tell(other) for other in of)]
    return StatementRow(name=_clipped(one.fingerprint), cells=cells)


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def _route(name: str, route: CostRoute | None, figures: RunRoute | None, t: Texts) -> CostRow:
    spent = None if route is None else route.database_seconds
    return CostRow(
        name=name,
        share=format_value(route.share, "ratio") if route is not None and spent is not None else "",
        calls="" if route is None or route.calls is None else _calls(route.calls.value),
        database="" if spent is None else format_value(spent.value, "seconds"),
        change=_change(None if spent is None else spent.value, None if route is None else route.base_database_seconds),
        counted=_counted(route, figures, t),
    )


def _counted(route: CostRoute | None, figures: RunRoute | None, t: Texts) -> Sequence[str]:
    if figures is None:
        return ("" if route is None else format_value(route.rate, "per_second"), "", "", "", "")
    total = sum(figures.statuses.values())
    answers = sorted(figures.statuses.items(), key=lambda item: -item[1])
    ranks = figures.ranks
    return (
        format_value(figures.rate, "per_second"),
        ", ".join(
            f"{t('why_no_answer') if name == 'none' else name} {format_value(count / total, 'ratio')}"
            for name, count in answers
        ),
        *(_rank(one) for one in ((ranks.p50, ranks.p99, ranks.max) if ranks else (None,) * 3)),
    )


def _rank(rank: RouteRank | None) -> str:
    if rank is None:
        return ""
    if rank.value is not None:
        return format_value(rank.value, "seconds")
    return f"> {format_value(rank.low, 'seconds')}" if rank.high is None else f"≤ {format_value(rank.high, 'seconds')}"


def _counting(routes: RunRoutes, t: Texts) -> list[str]:
    error = routes.rank_error
    within = [] if error is None else [t("why_within", error=format_value(error, "ratio"))]
    return [*routes.remarks, *within]


def _asked(one: CostShare, texts: dict[str, str]) -> CostRow:
    return CostRow(
        name=_clipped(texts.get(one.statement) or one.statement),
        share=format_value(one.share, "ratio"),
        calls=f"{_calls(one.calls.value)} ({_calls(one.calls.low)}–{_calls(one.calls.high)})",
        database=format_value(one.seconds.value, "seconds"),
        change=_change(one.seconds.value, one.base_seconds),
        asked=True,
        repeated=one.repeated,
    )


def _lead(cost: CostOut, t: Texts) -> str:
    first = next(iter(cost.routes), None)
    if first is None or first.calls is None or first.database_seconds is None or first.share < LEADS:
        return ""
    return t(
        "why_lead",
        route=first.name,
        calls=_calls(first.calls.value),
        time=format_value(first.database_seconds.value, "seconds"),
        share=format_value(first.share, "ratio"),
    )


def _notes(cost: CostOut, counted: bool, statements: StatementsOut | None, t: Texts) -> list[str]:
    notes: list[str] = []
    if cost.reason is Reason.NO_ROUTES and counted:
        notes.append(t("why_imported" if cost.statements else "why_no-statements"))
    elif cost.reason is not None:
        notes.append(t(f"why_{cost.reason.value}"))
    else:
        notes.append(t("why_explained", share=format_value(cost.explained_share, "ratio")))
    if cost.functions is not None and cost.functions.by_route:
        routes = ", ".join(f"{one.name} {_moved(one)}" for one in cost.functions.by_route)
        notes.append(t("why_cpu_by_route", routes=routes))
    for job in cost.cpu:
        if job.routes:
            routes = "; ".join(
                f"{' + '.join(one.routes)} {format_value(one.each.value, 'seconds')}"
                f" ({format_value(one.each.low, 'seconds')}–{format_value(one.each.high, 'seconds')})"
                for one in job.routes[:ROUTES_SHOWN]
            )
            notes.append(t("why_cpu_each", job=job.job, routes=routes))
        if job.untold:
            notes.append(t("why_cpu_untold", job=job.job, routes=", ".join(job.untold[:ROUTES_SHOWN])))
    if statements is not None:
        notes += _asking(statements, t)
    elif cost.coverage is not None and cost.coverage < LEAST_COVERAGE:
        notes.append(t("why_coverage", share=format_value(cost.coverage, "ratio")))
    by = {
        None if cost.functions is None else cost.functions.requests_by,
        None
        if statements is None or all(one.calls_per_request is None for one in statements.statements)
        else (statements.requests_by),
    }
    notes += [t(f"why_requests_{one.value}") for one in RequestsBy if one in by]
    if cost.base is not None:
        notes.append(t("why_against", run=cost.base.name))
    return notes


def _asking(statements: StatementsOut, t: Texts) -> Sequence[str]:
    if statements.coverage is None or statements.coverage < LEAST_COVERAGE:
        return statements.remarks
    return [t("why_covered", share=format_value(statements.coverage, "ratio")), *statements.remarks]


def _moved(one: CpuRoute) -> str:
    now = format_value(one.share, "ratio")
    if one.base_share is None:
        return now
    return f"{format_value(one.base_share, 'ratio')} → {now}"


def _calls(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _change(value: float | None, base: float | None) -> str:
    return format_change(value / base - 1) if value is not None and base else ""
