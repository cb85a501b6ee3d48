"""What is in the archive of a run: a zip file with these members and no others.

| member | what |
| --- | --- |
| manifest.json | `Manifest`; comes first |
| run.json | `ArchivedRun` |
| analysis.json | `runs.analysis.schemas.Analysis`, where there is one |
| snapshots.json, reviews.json | lists of `SnapshotOut` and `ReviewVersion` |
| scores.json | list of `ArchivedScore`: what the run says of actions of runs before it, where it says anything |
| result.json, seconds.npz, records.parquet | the run's files, where there are any |
| annotations.json | list of `ArchivedNote`: restarts, deploys and what people wrote, where the window has any |
| evidence.json | list of `EvidenceFile`, where the run has files |
| evidence/ID | the content of each of them |
| samples.parquet | all samples of the window: `series` (labels as JSON), `time_ms`, `value` |
"""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from loadwatch_formats.own_figures import MOST
from pydantic import Field, TypeAdapter, ValidationError

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.evidence.files.schemas import EvidenceFile
from loadwatch_backend.evidence.records.files import RECORDS, RESULT, SECONDS
from loadwatch_backend.runs.analysis.schemas import Analysis, RemarkOut, ReportedFigure
from loadwatch_backend.runs.errors import ArchiveError
from loadwatch_backend.runs.fields import ExitCode, Line, RunId, RunState, Window
from loadwatch_backend.runs.imports.schemas import ImportOut
from loadwatch_backend.runs.reviews.actions.schemas import ArchivedScore
from loadwatch_backend.runs.reviews.schemas import ReviewVersion
from loadwatch_backend.runs.schemas import CheckedFields, Generator, RunProgress
from loadwatch_backend.runs.snapshots import SnapshotOut

FORMAT = "loadwatch-run"
VERSION = 1
MEBIBYTE = 1 << 20

MANIFEST = "manifest.json"
RUN = "run.json"
ANALYSIS = "analysis.json"
SNAPSHOTS = "snapshots.json"
REVIEWS = "reviews.json"
SCORES = "scores.json"
ANNOTATIONS = "annotations.json"
EVIDENCE = "evidence.json"
EVIDENCE_FOLDER = "evidence"
SAMPLES = "samples.parquet"

REQUIRED = (MANIFEST, RUN, SAMPLES)
RESULT_FILES = (RESULT, SECONDS, RECORDS)
STORED = frozenset((RECORDS, SAMPLES))
"""Compressed inside; compressing them again would only hide a bomb."""
MOST_BYTES: Mapping[str, int | None] = {
    MANIFEST: MEBIBYTE,
    RUN: 16 * MEBIBYTE,
    ANALYSIS: 64 * MEBIBYTE,
    SNAPSHOTS: 64 * MEBIBYTE,
    REVIEWS: 256 * MEBIBYTE,
    SCORES: 64 * MEBIBYTE,
    ANNOTATIONS: 64 * MEBIBYTE,
    EVIDENCE: 64 * MEBIBYTE,
    RESULT: 64 * MEBIBYTE,
    SECONDS: 256 * MEBIBYTE,
    RECORDS: None,
    SAMPLES: None,
}
"""Of each member when unpacked; None where the archive's own size is the bound."""
_EVIDENCE_MEMBER = re.compile(rf"{EVIDENCE_FOLDER}/[0-9a-f]{{32}}")


def is_evidence(name: str) -> bool:
    """Whether a member is the content of a file of the run."""
    return _EVIDENCE_MEMBER.fullmatch(name) is not None


def evidence_member(file_id: str) -> str:
    """The member that holds the content of a file."""
    return f"{EVIDENCE_FOLDER}/{file_id}"


class Manifest(Schema):
    """What the archive is."""

    format: Literal["loadwatch-run"]
    version: int
    made_by: Line
    run: RunId


class ArchivedRun(CheckedFields):
    """A run's row; see `runs.screen.tables.RunRow`."""

    id: RunId
    state: Literal[RunState.FINISHED, RunState.ABORTED, RunState.IMPORTED]
    started_ms: Milliseconds
    ended_ms: Milliseconds
    sender_started_ms: Milliseconds
    sender_ended_ms: Milliseconds | None
    skew_ms: int | None = Field(ge=-(2**53), le=2**53)
    skew_end_ms: int | None = Field(ge=-(2**53), le=2**53)
    created_ms: Milliseconds
    updated_ms: Milliseconds
    exit_code: ExitCode | None
    abort_reason: Line
    steady: Window | None
    progress: RunProgress | None
    generator: Generator | None
    source: ImportOut | None
    remarks: list[RemarkOut] = Field(max_length=10_000)
    reported: list[ReportedFigure] = Field(default=[], max_length=MOST)


class ArchivedNote(Schema):
    """An annotation of the run's window; what its texts may hold is checked by whoever keeps annotations."""

    author: str = Field(max_length=1_000)
    text: str = Field(max_length=40_000)
    start_ms: Milliseconds
    end_ms: Milliseconds | None
    tags: list[str] = Field(max_length=100)
    commit: str = Field(default="", max_length=1_000)
    issue: str = Field(default="", max_length=1_000)


SNAPSHOT_LIST: TypeAdapter[list[SnapshotOut]] = TypeAdapter(list[SnapshotOut])
REVIEW_LIST: TypeAdapter[list[ReviewVersion]] = TypeAdapter(list[ReviewVersion])
SCORE_LIST: TypeAdapter[list[ArchivedScore]] = TypeAdapter(list[ArchivedScore])
NOTE_LIST: TypeAdapter[list[ArchivedNote]] = TypeAdapter(list[ArchivedNote])
EVIDENCE_LIST: TypeAdapter[list[EvidenceFile]] = TypeAdapter(list[EvidenceFile])
MANIFEST_DOCUMENT: TypeAdapter[Manifest] = TypeAdapter(Manifest)
RUN_DOCUMENT: TypeAdapter[ArchivedRun] = TypeAdapter(ArchivedRun)
ANALYSIS_DOCUMENT: TypeAdapter[Analysis] = TypeAdapter(Analysis)

T = TypeVar("T")


def parse_document(name: str, text: bytes, kind: TypeAdapter[T]) -> T:
    """A member as its document.

    Raises:
        ArchiveError: it names the member and the field.
    """
    try:
        return kind.validate_python(json.loads(text, parse_constant=_refuse, parse_float=_finite), strict=False)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ArchiveError(f"{name}: {place or 'the document'}: {first['msg']}.") from error
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{name} is not JSON: {str(error)[:200]}.") from error


def list_bytes(path: Path) -> bytes:
    """A member that is a list; an archive that has none holds an empty one."""
    return path.read_bytes() if path.exists() else b"[]"


def parse_manifest(text: bytes) -> Manifest:
    """The manifest of an archive that this version reads.

    Raises:
        ArchiveError: it is another's, or of a newer version.
    """
    manifest = parse_document(MANIFEST, text, MANIFEST_DOCUMENT)
    if manifest.version != VERSION:
        raise ArchiveError(
            f"The archive has version {manifest.version} (made by {manifest.made_by[:50]}), and this server reads"
            f" version {VERSION}: bring the older of both servers up to date."
        )
    return manifest


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number that JSON knows")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is too large for a number")
    return number
