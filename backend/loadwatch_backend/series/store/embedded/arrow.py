"""Columns to DuckDB through Arrow's stream interface, and from it.

Registering numpy arrays instead would turn every NaN into NULL, and with it the stale markers; pyarrow would do as
well as nanoarrow and is fifty times as large. See docs/decisions/0131-sealed-hours-in-segments.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import duckdb
import nanoarrow
import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.embedded.block import F64, I64, U32

_COLUMNS = {"series_id": nanoarrow.uint32(), "ts": nanoarrow.int64(), "value": nanoarrow.float64()}
# Made once: from the readable form each of them costs more than the rest of a batch.
_KINDS = [nanoarrow.c_schema(kind) for kind in _COLUMNS.values()]
_SAMPLES = nanoarrow.c_schema(nanoarrow.struct(_COLUMNS))
_ARRAYS = {
    np.dtype(np.uint32): nanoarrow.c_schema(nanoarrow.uint32()),
    np.dtype(np.int32): nanoarrow.c_schema(nanoarrow.int32()),
    np.dtype(np.int64): nanoarrow.c_schema(nanoarrow.int64()),
}
_BINARY = nanoarrow.c_schema(nanoarrow.binary())


@dataclass(frozen=True, slots=True)
class Columns:
    series: U32
    timestamps: I64
    values: F64
    ordered: bool = False
    """Sorted by series and time without repeats; may include samples outside of the requested span."""

    def pick(self, rows: I64 | npt.NDArray[np.bool_]) -> "Columns":
        return Columns(self.series[rows], self.timestamps[rows], self.values[rows])


def sample_stream(series: U32, timestamps: I64, values: F64) -> nanoarrow.ArrayStream:
    """The three columns as one record batch; the arrays must be contiguous and outlive the stream."""
    count = len(series)
    children = [
        nanoarrow.c_array_from_buffers(kind, count, [None, column], null_count=0)
        for kind, column in zip(_KINDS, (series, timestamps, values), strict=True)
    ]
    return nanoarrow.ArrayStream(
        nanoarrow.c_array_from_buffers(_SAMPLES, count, [None], null_count=0, children=children)
    )


def table_stream(columns: Mapping[str, U32 | I64 | npt.NDArray[np.int32] | Sequence[bytes]]) -> nanoarrow.ArrayStream:
    """Columns of any table by their names, all of one length, as one record batch; arrays must outlive the stream."""
    count = len(next(iter(columns.values())))
    kinds: dict[str, Any] = {}
    children: list[Any] = []
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            kinds[name], buffers = _ARRAYS[column.dtype], [None, np.ascontiguousarray(column)]
        else:
            offsets = np.zeros(count + 1, np.int32)
            np.cumsum([len(one) for one in column], out=offsets[1:])
            kinds[name], buffers = _BINARY, [None, offsets, b"".join(column)]
        children.append(nanoarrow.c_array_from_buffers(kinds[name], count, buffers, null_count=0))
    schema = nanoarrow.c_schema(nanoarrow.struct(kinds))
    return nanoarrow.ArrayStream(nanoarrow.c_array_from_buffers(schema, count, [None], null_count=0, children=children))


def fetch_columns(result: duckdb.DuckDBPyConnection) -> Columns:
    # DuckDB's stubs leave the arrays' types open; the statements fix them.
    columns = cast("dict[str, npt.NDArray[Any]]", result.fetchnumpy())  # pyright: ignore[reportUnknownMemberType] - untyped
    return Columns(columns["series_id"], columns["ts"], columns["value"])


def joined(parts: Sequence[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return Columns(
        np.concatenate([np.empty(0, np.uint32), *(part.series for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.timestamps for part in parts)]),
        np.concatenate([np.empty(0, np.float64), *(part.values for part in parts)]),
    )
