"""What a report shows of a run's log and of its files: patterns that are new or grew, and names. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList, LogTrend
from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.attached import Attached
from loadwatch_backend.report.numbers import format_value
from loadwatch_backend.texts.report import REPORT
from loadwatch_backend.texts.words import Texts

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


def told_log(log: LogPatternList | None, language: Language) -> list[PatternRow]:
    """Patterns that are new or grew, or of which nobody can tell; those that always come are left to the page."""
    t = Texts(REPORT, language)
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


def told_files(files: Sequence[EvidenceFile], attached: Mapping[str, Attached], language: Language) -> list[FileRow]:
    """Names, kinds and sizes of all, and what was chosen to be shown; that comes first."""
    t = Texts(REPORT, language)
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
