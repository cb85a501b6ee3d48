# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types; this file is the typed edge around it.
"""The samples of an archive: moved in time, and packed well."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from loadwatch_backend.runs.archive.format import sample_schema

TIME_NAMES = ("_time_seconds", "_timestamp_seconds", "ALERTS_FOR_STATE")
"""Ends of names of metrics whose values are times, in seconds since the epoch."""
LEAST_TIME = 1e9
_LEVEL = 19


def move_samples(content: bytes, by_ms: int) -> bytes:
    """The same samples, `by_ms` later, sorted by series and time in one row group.

    An archive has a row group for each metric, each with a dictionary of its own; like this it is a tenth as large.
    """
    table = pq.read_table(io.BytesIO(content))
    texts = table.column("series").cast(pa.string()).combine_chunks()
    table = table.set_column(0, "series", texts).sort_by([("series", "ascending"), ("time_ms", "ascending")])
    series = table.column("series").combine_chunks().dictionary_encode()
    values = np.array(table.column("value").combine_chunks().to_numpy(zero_copy_only=False))
    times = [json.loads(text)["__name__"].endswith(TIME_NAMES) for text in series.dictionary.to_pylist()]
    moved = np.array(times, dtype=np.bool_)[series.indices.to_numpy()] & (values > LEAST_TIME)
    # Only those: a sum with any other value could make another NaN of a stale marker.
    values[moved] += by_ms / 1e3
    columns = [
        series,
        pa.array(table.column("time_ms").combine_chunks().to_numpy() + by_ms, pa.int64()),
        pa.array(values, pa.float64(), from_pandas=False),
    ]
    output = io.BytesIO()
    dictionaries: Any = ["series"]  # the stubs know only yes and no
    pq.write_table(
        pa.Table.from_arrays(columns, schema=sample_schema()),
        output,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=dictionaries,  # A stale marker is a NaN of its own, which a dictionary of doubles would lose.
        write_statistics=False,
        row_group_size=table.num_rows or 1,
    )
    return output.getvalue()
