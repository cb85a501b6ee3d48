"""`records.parquet`: written in row groups as the requests come, read back by column and by time."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.evidence.records.columns import CodeArray, Columns
from loadwatch_backend.evidence.records.model import IntArray

pa, pq = Deferred("pyarrow"), Deferred("pyarrow.parquet")

GROUP_ROWS = 1 << 18
"""Rows of a row group: small enough that a window of seconds reads little besides."""
MAX_GROUP_ROWS = 1 << 21
MAX_ROWS = 1_000_000_000
_DICTIONARIES = ["endpoint", "error", "status", "outcome", "bytes_in", "bytes_out"]


@functools.cache
def record_schema() -> Any:
    """Columns of `records.parquet`, as pyarrow's schema."""
    return pa.schema(
        [
            pa.field("time_ns", pa.int64(), nullable=False),  # start of the request, nanoseconds since the epoch
            pa.field("latency_ns", pa.int64(), nullable=False),
            pa.field("status", pa.int32(), nullable=False),  # 0: no response, or a tool that does not tell
            pa.field("outcome", pa.uint8(), nullable=False),  # an index into OUTCOMES
            pa.field("endpoint", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("bytes_in", pa.int64(), nullable=False),  # -1: the tool does not tell
            pa.field("bytes_out", pa.int64(), nullable=False),
            pa.field("error", pa.dictionary(pa.int32(), pa.string()), nullable=True),
        ]
    )


class DamagedRecordsError(InvalidError, code="damaged-records", title="Records cannot be read"):
    """The file is no `records.parquet`, or one that would not fit into memory."""


class RecordWriter:
    """Writes requests in the order given."""

    def __init__(self, path: Path) -> None:
        self._writer: Any = pq.ParquetWriter(
            path,
            record_schema(),
            compression="lz4",
            use_dictionary=_DICTIONARIES,
            write_statistics=["time_ns"],
            dictionary_pagesize_limit=16 * 1024 * 1024,
        )
        self._held: list[Columns] = []
        self._rows = 0

    def write(self, columns: Columns, endpoints: Sequence[str], errors: Sequence[str]) -> None:
        """Takes requests; names are all that have been seen so far."""
        self._held.append(columns)
        self._rows += len(columns.time_ns)
        if self._rows >= GROUP_ROWS:
            self._flush(endpoints, errors)

    def close(self, endpoints: Sequence[str] = (), errors: Sequence[str] = ()) -> None:
        """Writes what is held and the footer."""
        if self._held:
            self._flush(endpoints, errors)
        self._writer.close()

    def abandon(self) -> None:
        """Closes without writing what is held."""
        self._held = []
        self._writer.close()

    def _flush(self, endpoints: Sequence[str], errors: Sequence[str]) -> None:
        texts, wrong = pa.array(endpoints, pa.string()), pa.array(errors, pa.string())
        batches = [_batch(columns, texts, wrong) for columns in self._held]
        self._held, self._rows = [], 0
        self._writer.write_table(pa.Table.from_batches(batches, record_schema()), row_group_size=GROUP_ROWS)


def _batch(columns: Columns, endpoints: Any, errors: Any) -> Any:
    rows = len(columns.time_ns)
    unknown = np.full(rows, -1, dtype=np.int64) if columns.bytes_in is None or columns.bytes_out is None else None
    if columns.error is None:
        error = pa.DictionaryArray.from_arrays(pa.nulls(rows, pa.int32()), errors)
    else:
        error = pa.DictionaryArray.from_arrays(pa.array(columns.error, mask=columns.error < 0), errors)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(columns.time_ns),
            pa.array(columns.latency_ns),
            pa.array(columns.status),
            pa.array(columns.outcome),
            pa.DictionaryArray.from_arrays(pa.array(columns.endpoint), endpoints),
            pa.array(unknown if columns.bytes_in is None else columns.bytes_in),
            pa.array(unknown if columns.bytes_out is None else columns.bytes_out),
            error,
        ],
        schema=record_schema(),
    )


@dataclass(frozen=True, slots=True)
class Group:
    """A row group: its rows and the first and last start in it."""

    index: int
    rows: int
    first_ns: int
    last_ns: int


class RecordReader:
    """Reads columns of a records file, row group by row group.

    Raises:
        DamagedRecordsError: when the file is not one of ours or claims more than fits into memory.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: Any = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DamagedRecordsError(f"{path.name}: {error}. Import the result file again.") from error
        self.groups = self._check(path)
        self.rows = sum(group.rows for group in self.groups)

    def __enter__(self) -> "RecordReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def chunks(
        self, columns: Sequence[str], from_ns: int | None = None, to_ns: int | None = None
    ) -> Iterator[dict[str, IntArray]]:
        """Numeric columns of the row groups that touch [from_ns, to_ns), only rows inside it."""
        for group in self.groups:
            if (to_ns is not None and group.first_ns >= to_ns) or (from_ns is not None and group.last_ns < from_ns):
                continue
            whole = (from_ns is None or group.first_ns >= from_ns) and (to_ns is None or group.last_ns < to_ns)
            wanted = list(columns) if whole or "time_ns" in columns else [*columns, "time_ns"]
            table = self._read(group, wanted)
            found = {name: _numbers(table.column(name)) for name in wanted}
            if not whole:
                times = found["time_ns"]
                keep = np.ones(len(times), dtype=np.bool_)
                if from_ns is not None:
                    keep &= times >= from_ns
                if to_ns is not None:
                    keep &= times < to_ns
                found = {name: found[name][keep] for name in columns}
            yield found

    def texts(self, column: str) -> Iterator[tuple[CodeArray, list[str]]]:
        """Codes (-1 for null) and names of a text column, by row group; names differ between row groups."""
        for group in self.groups:
            found = self._read(group, [column]).column(column).unify_dictionaries().combine_chunks()
            codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
            yield codes, found.dictionary.to_pylist()

    def _read(self, group: Group, columns: list[str]) -> Any:
        try:
            return self._file.read_row_group(group.index, columns=columns, use_threads=len(columns) > 1)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DamagedRecordsError(f"Row group {group.index}: {error}. Import the result file again.") from error

    def _check(self, path: Path) -> list[Group]:
        """Everything a hostile footer could claim is compared with limits before a single page is read."""
        metadata = self._file.metadata
        if not self._file.schema_arrow.equals(record_schema()):
            raise DamagedRecordsError(f"{path.name} has other columns than a run's records.")
        if metadata.num_rows > MAX_ROWS:
            raise DamagedRecordsError(f"{path.name} claims {metadata.num_rows} rows; at most {MAX_ROWS} are read.")
        groups: list[Group] = []
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            if group.num_rows > MAX_GROUP_ROWS or group.total_byte_size > MAX_GROUP_ROWS * 64:
                raise DamagedRecordsError(
                    f"{path.name}: row group {index} claims {group.num_rows} rows in {group.total_byte_size} bytes; "
                    f"at most {MAX_GROUP_ROWS} rows are read at a time."
                )
            times: Any = group.column(0)
            if times.physical_type != "INT64":
                # Of another type than the schema says: to ask for its statistics would end the process.
                raise DamagedRecordsError(f"{path.name}: row group {index} has times of {times.physical_type}.")
            statistics: Any = times.statistics
            first, last = -(2**63), 2**63 - 1
            if statistics is not None and statistics.has_min_max:
                first, last = statistics.min, statistics.max
            groups.append(Group(index, group.num_rows, int(first), int(last)))
        return groups


def _numbers(column: Any) -> IntArray:
    """Any numeric column as it is stored; a column of names as its codes is `texts`."""
    return (
        column.combine_chunks().to_numpy(zero_copy_only=False) if column.num_chunks != 1 else column.chunk(0).to_numpy()
    )


def check_records(path: Path) -> int:
    """Rows of a records file from elsewhere; reads all of it in bounded memory.

    Raises:
        DamagedRecordsError: if it is damaged, or larger than it may be.
    """
    with RecordReader(path) as reader:
        for chunk in reader.chunks(["time_ns", "latency_ns", "outcome"]):
            if len(chunk["outcome"]) and int(chunk["outcome"].max()) > 8:
                raise DamagedRecordsError(f"{path.name} holds outcomes that do not exist.")
        for codes, names in reader.texts("endpoint"):
            if len(codes) and int(codes.max()) >= len(names):
                raise DamagedRecordsError(f"{path.name} holds endpoints without a name.")
        return reader.rows
