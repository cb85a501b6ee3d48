# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types; this file is the typed edge around its CSV and JSON readers.
"""Chunks of CSV and JSON lines to columns, by pyarrow; it lets go of the interpreter's lock: chunks go in parallel."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from loadwatch_backend.evidence.records.columns import CodeArray
from loadwatch_backend.evidence.records.model import IntArray
from loadwatch_backend.runs.importers.importer import Labels

A = TypeVar("A")
B = TypeVar("B")
Table = Any
"""A `pyarrow.Table`."""
TEXT: Any = pa.string()
LABEL: Any = pa.dictionary(pa.int32(), pa.string())
INT: Any = pa.int64()
FLOAT: Any = pa.float64()
_compute: Any = pc
WORKERS = 2
"""Threads that parse; more do not pay on two cores, and each holds a chunk."""


class NotATableError(ValueError):
    """The chunk holds a record that does not fit; read it record by record."""


def parse_csv(
    data: bytes, columns: Sequence[str], types: "dict[str, Any]", *, delimiter: str = ",", skip: int = 0
) -> Table:
    """Columns of `types` out of records with the fields `columns`; an empty number or any misfit raises.

    Args:
        data: whole records; fields may hold quoted newlines.
        columns: names of all fields, in the order of the file.
        types: `TEXT`, `LABEL`, `INT` or `FLOAT` of each wanted column.
        delimiter: between fields.
        skip: lines before the first record.

    Raises:
        NotATableError: if any record does not fit.
    """
    if not data:
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    try:
        return pa_csv.read_csv(
            pa.BufferReader(data),
            pa_csv.ReadOptions(
                use_threads=False, column_names=list(columns), block_size=len(data) + 1024, skip_rows=skip
            ),
            pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in data),
            pa_csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise NotATableError(str(error)) from error


def parse_json_lines(data: bytes, types: "dict[str, Any]") -> Table:
    """Columns of `types` out of JSON lines; other members are ignored, missing ones are null.

    Raises:
        NotATableError: if any line does not fit.
    """
    if not data.strip():
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    try:
        return pa_json.read_json(
            pa.BufferReader(data),
            pa_json.ReadOptions(use_threads=False, block_size=len(data) + 1024),
            pa_json.ParseOptions(
                explicit_schema=pa.schema(list(types.items())),
                newlines_in_values=False,
                unexpected_field_behavior="ignore",
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise NotATableError(str(error)) from error


def ints(table: Table, column: str, missing: int = 0) -> IntArray:
    """A column of integers; nulls become `missing`."""
    return _plain(table.column(column).fill_null(missing)).astype(np.int64, copy=False)


def floats(table: Table, column: str) -> "np.typing.NDArray[np.float64]":
    """A column of numbers; nulls become NaN."""
    return _plain(table.column(column).fill_null(float("nan"))).astype(np.float64, copy=False)


def times_ns(table: Table, column: str) -> IntArray:
    """A text column of RFC 3339 times with an offset, as nanoseconds since the epoch.

    Raises:
        NotATableError: if one is not such a time.
    """
    try:
        return _plain(table.column(column).cast(pa.timestamp("ns", tz="UTC")).cast(pa.int64())).astype(np.int64)
    except pa.ArrowException as error:
        raise NotATableError(str(error)) from error


def labels(column: Any, *, empty_is_none: bool = False, cut: str | None = None) -> Labels:
    """A text column as codes and names.

    Args:
        column: an array of text or of labels.
        empty_is_none: whether an empty text is the code -1, too; a null always is.
        cut: a regular expression that is removed from each name, such as that of a query string.
    """
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    names = encoded.dictionary
    if cut is not None and len(names):
        shorter = _compute.replace_substring_regex(names, cut, "").dictionary_encode()
        codes = np.append(shorter.indices.to_numpy().astype(np.int32), np.int32(-1))[codes]
        names = shorter.dictionary
    found: list[str] = names.to_pylist()
    if empty_is_none and "" in found:
        codes = np.where(codes == found.index(""), np.int32(-1), codes)
    return Labels(codes, found)


def joined(first: Labels, second: Labels, separator: str = " ") -> Labels:
    """Two columns as one, such as method and URL; only pairs that occur become names."""
    if len(first.names) == 1 and len(second.names) == 1:
        pairs, codes = np.zeros(min(1, len(first.codes)), dtype=np.int64), np.zeros(len(first.codes), dtype=np.int32)
    else:
        keys = first.codes.astype(np.int64) * len(second.names) + second.codes
        pairs, inverse = np.unique(keys, return_inverse=True)
        codes: CodeArray = inverse.astype(np.int32)
    width = max(1, len(second.names))
    names = [f"{first.names[a]}{separator}{second.names[b]}" for a, b in (divmod(p, width) for p in pairs.tolist())]
    return Labels(codes, names)


def in_order(items: Iterable[A], work: Callable[[A], B]) -> Iterator[B]:
    """`work` of each item on a few threads; results in the order of the items, only a few items held at once."""
    waiting: deque[Future[B]] = deque()
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="import") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > WORKERS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _plain(column: Any) -> Any:
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
