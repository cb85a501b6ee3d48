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

Labels are a dictionary column of JSON, so each row group says every series once. Values are stored plain: Parquet's
dictionary of doubles takes all NaN to be one, and a stale marker is a NaN of its own.
"""

import functools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
import orjson
from loadwatch_formats.own_figures import MOST
from pydantic import Field, TypeAdapter, ValidationError

from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.evidence.records.files import RECORDS, RESULT, SECONDS
from loadwatch_backend.runs.analysis.schemas import RemarkOut, ReportedFigure
from loadwatch_backend.runs.errors import ArchiveError
from loadwatch_backend.runs.fields import ExitCode, Line, RunId, RunState, Window
from loadwatch_backend.runs.schemas import CheckedFields, Generator, ImportOut, RunProgress
from loadwatch_backend.series.store.errors import QueryLimitError
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader, Selection

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
    return _EVIDENCE_MEMBER.fullmatch(name) is not None


def evidence_member(file_id: str) -> str:
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


T = TypeVar("T")


def read_document(directory: Path, name: str, kind: type[T]) -> T:
    """A member as its document; one that is a list and is not there is empty.

    Raises:
        ArchiveError: it names the member and the field.
    """
    path = directory / name
    text = path.read_bytes() if path.exists() else b"[]"
    try:
        return TypeAdapter(kind).validate_python(
            json.loads(text, parse_constant=_refuse, parse_float=_finite), strict=False
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ArchiveError(f"{name}: {place or 'the document'}: {first['msg']}.") from error
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{name} is not JSON: {str(error)[:200]}.") from error


def dump_list(documents: Sequence[Schema]) -> bytes:
    return b"[" + b",".join(one.model_dump_json().encode() for one in documents) + b"]"


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number that JSON knows")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is too large for a number")
    return number


pa, pq = Deferred("pyarrow"), Deferred("pyarrow.parquet")

GROUP_ROWS = 1 << 18
MOST_GROUP_ROWS = 1 << 20
MOST_GROUP_BYTES = 256 << 20
MOST_SERIES = 500_000
SLICE_MS = 5 * 60_000
MOST_SLICES = 200
"""Of one metric; the store bounds what a slice of a long run brings."""
FREE_ROWS = 1_000_000
ROWS_PER_BYTE = 64
"""No honest file has more rows for each byte beyond `FREE_ROWS`: a regular sample takes 0.2 bytes."""
MOST_TEXT_BYTES = 64 << 20
"""Labels of all series of one row group, as text."""
MOST_LABELS = 64
MOST_LABEL_BYTES = 4_096


@functools.cache
def sample_schema() -> Any:
    """Columns of `samples.parquet`, as pyarrow's schema."""
    return pa.schema(
        [
            pa.field("series", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("time_ms", pa.int64(), nullable=False),
            pa.field("value", pa.float64(), nullable=False),
        ]
    )


class SampleBatch(NamedTuple):
    """Rows of a row group: `labels[series[i]]` has the value `values[i]` at `times[i]`."""

    labels: list[Labels]
    series: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]


def write_samples(store: Reader, window: tuple[int, int], target: IO[bytes]) -> int:
    """All samples of a window into a Parquet file; returns how many."""
    rows = 0
    dictionaries: Any = ["series"]  # the stubs know only yes and no
    writer: Any = pq.ParquetWriter(
        target, sample_schema(), compression="zstd", use_dictionary=dictionaries, write_statistics=False
    )
    with writer:
        for selection in _selections(store, *window):
            series = np.repeat(np.arange(len(selection.labels), dtype=np.int32), np.diff(selection.offsets))
            texts = pa.array([_text(labels) for labels in selection.labels], pa.string())
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(series, pa.int32()), texts),
                pa.array(selection.timestamps, pa.int64()),
                pa.array(selection.values, pa.float64(), from_pandas=False),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=sample_schema()), row_group_size=GROUP_ROWS)
            rows += len(series)
    return rows


def read_samples(path: Path) -> Iterator[SampleBatch]:
    """The samples of a file, checked as they come.

    Raises:
        ArchiveError: the file is damaged, claims more than it may, or holds labels that are none.
    """
    try:
        file: Any = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
        with file:
            _check_footer(file, path)
            for index in range(file.num_row_groups):
                table = file.read_row_group(index, use_threads=False)
                for batch in table.to_batches():
                    yield _sample_batch(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path.name} is damaged: {str(error)[:200]}.") from error


def has_samples(path: Path) -> bool:
    with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
        return bool(file.metadata.num_rows)


def check_ratio(path: Path, rows_per_byte: float) -> None:
    """Refuse a Parquet file that claims more rows than an honest one of its size could hold.

    Raises:
        ArchiveError: it says what was claimed.
    """
    try:
        with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
            rows = int(file.metadata.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path.name} is damaged: {str(error)[:200]}.") from error
    size = path.stat().st_size
    if rows > FREE_ROWS + rows_per_byte * size:
        raise ArchiveError(f"{path.name} claims {rows} rows in {size} bytes, which no real file does.")


def _check_footer(file: Any, path: Path) -> None:
    if not file.schema_arrow.equals(sample_schema()):
        raise ArchiveError(f"{path.name} has other columns than the samples of an archive.")
    metadata = file.metadata
    size = path.stat().st_size
    if metadata.num_rows > FREE_ROWS + ROWS_PER_BYTE * size:
        raise ArchiveError(f"{path.name} claims {metadata.num_rows} rows in {size} bytes, which no real file does.")
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        if group.num_rows > MOST_GROUP_ROWS or group.total_byte_size > MOST_GROUP_BYTES:
            raise ArchiveError(
                f"{path.name}: row group {index} claims {group.num_rows} rows in {group.total_byte_size} bytes; at most"
                f" {MOST_GROUP_ROWS} rows are read at a time."
            )


def _sample_batch(batch: Any) -> SampleBatch:
    series = batch.column(0)
    if batch.column(1).null_count or batch.column(2).null_count or series.null_count:
        raise ArchiveError("The samples have holes.")
    texts = series.dictionary
    if texts.nbytes > MOST_TEXT_BYTES:
        raise ArchiveError(f"The labels of a row group have more than {MOST_TEXT_BYTES} bytes.")
    return SampleBatch(
        labels=[_labels(text) for text in texts.to_pylist()],
        series=series.indices.to_numpy(zero_copy_only=False),
        times=batch.column(1).to_numpy(zero_copy_only=False),
        values=batch.column(2).to_numpy(zero_copy_only=False),
    )


def _labels(text: Any) -> Labels:
    try:
        found: Any = orjson.loads(text)
    except (TypeError, orjson.JSONDecodeError) as error:
        raise ArchiveError(f"{str(text)[:100]!r} is no set of labels.") from error
    labels = cast(Mapping[str, Any], found)
    if not isinstance(found, dict) or len(labels) > MOST_LABELS or not labels.get("__name__"):
        raise ArchiveError(f"{str(text)[:100]!r} is no set of labels with a metric's name.")
    for name, value in labels.items():
        if not name or not isinstance(value, str) or not value:
            raise ArchiveError(f"{str(text)[:100]!r} has a label {name[:50]!r} that is none.")
        if len(name) > MOST_LABEL_BYTES or len(value) > MOST_LABEL_BYTES:
            raise ArchiveError(f"A label {name[:50]!r} is longer than {MOST_LABEL_BYTES} characters.")
    return {name: labels[name] for name in sorted(labels)}


def _text(labels: Mapping[str, str]) -> str:
    return orjson.dumps(dict(labels), option=orjson.OPT_SORT_KEYS).decode()


def _selections(store: Reader, start_ms: int, end_ms: int) -> Iterator[Selection]:
    slice_ms = max(SLICE_MS, (end_ms - start_ms) // MOST_SLICES)
    for metric in store.label_values("__name__", [], start_ms, end_ms):
        matcher = Matcher("__name__", MatchOperator.EQUAL, metric)
        for first in range(start_ms, end_ms + 1, slice_ms):
            yield from _slices(store, matcher, first, min(first + slice_ms - 1, end_ms))


def _slices(store: Reader, matcher: Matcher, start_ms: int, end_ms: int) -> Iterator[Selection]:
    try:
        selection = store.select([matcher], start_ms, end_ms)
    except QueryLimitError:
        if end_ms <= start_ms:
            raise
        middle = (start_ms + end_ms) // 2
        yield from _slices(store, matcher, start_ms, middle)
        yield from _slices(store, matcher, middle + 1, end_ms)
        return
    if len(selection.timestamps):
        yield selection
