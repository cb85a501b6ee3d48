"""Columns to DuckDB through Arrow's stream interface.

Registering numpy arrays instead would turn every NaN into NULL, and with it the stale markers; pyarrow would do as
well as nanoarrow and is fifty times as large. See docs/decisions/0010-nanoarrow.md.
"""

import nanoarrow

from loadwatch_backend.store.embedded.block import F64, I64, U32

_COLUMNS = {"series_id": nanoarrow.uint32(), "ts": nanoarrow.int64(), "value": nanoarrow.float64()}
# Made once: from the readable form each of them costs more than the rest of a batch.
_KINDS = [nanoarrow.c_schema(kind) for kind in _COLUMNS.values()]
_SAMPLES = nanoarrow.c_schema(nanoarrow.struct(_COLUMNS))


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
