"""Columns to DuckDB through Arrow's stream interface.

Registering numpy arrays instead would turn every NaN into NULL, and with it the stale markers; pyarrow would do as
well as nanoarrow and is fifty times as large. See docs/decisions/0010-nanoarrow.md.
"""

import nanoarrow

from loadwatch_backend.store.embedded.block import F64, I64, U32

_SAMPLES = nanoarrow.struct({"series_id": nanoarrow.uint32(), "ts": nanoarrow.int64(), "value": nanoarrow.float64()})


def sample_stream(series: U32, timestamps: I64, values: F64) -> nanoarrow.ArrayStream:
    """The three columns as one record batch; the arrays must be contiguous and outlive the stream."""
    count = len(series)
    columns = (
        (nanoarrow.uint32(), series),
        (nanoarrow.int64(), timestamps),
        (nanoarrow.float64(), values),
    )
    children = [nanoarrow.c_array_from_buffers(kind, count, [None, column], null_count=0) for kind, column in columns]
    return nanoarrow.ArrayStream(
        nanoarrow.c_array_from_buffers(_SAMPLES, count, [None], null_count=0, children=children)
    )
