"""Files of a run that a report shows because somebody chose them: pictures and texts within it, others by a link."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_formats.numbers import format_value

from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.files.media import IMAGES, TEXT
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.files.service import StoredEvidence
from loadwatch_backend.evidence.log_patterns.schemas import LogPatternList, LogTrend

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
