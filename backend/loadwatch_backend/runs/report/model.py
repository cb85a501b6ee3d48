"""A report as data: what HTML, Markdown and JSON all show."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_formats.numbers import format_value
from pydantic import Field

from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.cost.schemas import CostOut
from loadwatch_backend.evidence.files.media import IMAGES, TEXT
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList, LogTrend
from loadwatch_backend.evidence.routes.schemas import RunRoutes
from loadwatch_backend.evidence.statements.schemas import StatementsOut
from loadwatch_backend.runs.analysis.schemas import FiguresOut
from loadwatch_backend.runs.annotations.schemas import AnnotationOut
from loadwatch_backend.runs.compare.schemas import FigureRepeats
from loadwatch_backend.runs.report.svg import Chart
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.snapshots import ConfigurationDifference

MOST_BYTES = 8 << 20
"""Of pictures within one report."""
MOST_TEXT_BYTES = 128 << 10
"""Of the beginning of a text; further ones are left out, and that is said."""


class ReportFilesError(InvalidError, code="report-files"):
    """The chosen files have no room in a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternRow:
    """A pattern of log lines, in words."""

    trend: str
    level: str
    count: str
    before: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file that is kept with the run: its name; note and content where it was chosen."""

    name: str
    kind: str
    size: str
    note: str = ""
    shown: Attached | None = None


def log_rows(log: LogPatternList | None, language: Language) -> list[PatternRow]:
    """Patterns that are new or grew, or of which nobody can tell; those that always come are left to the page."""
    t = Texts("report", language)
    found = [] if log is None else [one for one in log.patterns if one.trend in _NEWS and one.pattern]
    return [
        PatternRow(
            trend=t(f"log_{one.trend.value}"),
            level=one.level,
            count=format_value(one.count, "count"),
            before="–" if one.before is None else format_value(one.before, "count"),
            pattern=one.pattern,
        )
        for one in found[:PATTERNS_SHOWN]
    ]


def file_rows(files: Sequence[EvidenceFile], attached: Mapping[str, Attached], language: Language) -> list[FileRow]:
    """Names, kinds and sizes of all, and what was chosen to be shown; that comes first."""
    t = Texts("report", language)
    ordered = sorted(files, key=lambda one: one.id not in attached)
    return [
        FileRow(
            name=one.name,
            kind=t(f"file_{one.kind.value}"),
            size=format_value(one.bytes, "bytes"),
            note=one.note if one.id in attached else "",
            shown=attached.get(one.id),
        )
        for one in ordered[: max(FILES_SHOWN, len(attached))]
    ]


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
    """A figure of the summary: over the steady window, over the whole run, and in the baseline."""

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


def whole_figures(run: RunOut) -> FiguresOut | None:
    """Figures of the whole run; None before there are any."""
    if run.requests is None:
        return None
    return FiguresOut(
        requests=run.requests,
        duration_seconds=run.requests / run.rate if run.rate else 0.0,
        rate=run.rate,
        success_ratio=run.success_ratio,
        latency_seconds=run.latency_seconds,
        outcomes=run.outcomes,
        status_codes=run.status_codes,
        bytes_in=run.bytes_in,
        bytes_out=run.bytes_out,
        wait_seconds=run.wait_seconds,
        throughput=run.throughput,
    )


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
    """The figures that a reader looks for first."""
    steady, whole = _figures(run.steady), _figures(whole_figures(run))
    base = {} if baseline is None else _figures(baseline.steady or whole_figures(baseline))
    return [
        SummaryRow(key=key, unit=unit, steady=steady.get(key), whole=whole.get(key), baseline=base.get(key))
        for key, unit in _SUMMARY
        if any(figures.get(key) is not None for figures in (steady, whole))
    ]


FIRST = ("requests", "rate", "success", "min", "p50", "p95", "p99", "max")
"""What of the summary is read first; the others stand below."""
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
    latency = figures.latency_seconds
    good = figures.outcomes.get("ok", 0) / figures.duration_seconds if figures.duration_seconds > 0 else None
    return {
        "requests": float(figures.requests),
        "rate": figures.rate,
        "ok_rate": good,
        "throughput": figures.throughput,
        "wait": figures.wait_seconds,
        "success": figures.success_ratio,
        "min": latency.min,
        "mean": latency.mean,
        "p50": latency.p50,
        "p90": latency.p90,
        "p95": latency.p95,
        "p99": latency.p99,
        "max": latency.max,
    }
