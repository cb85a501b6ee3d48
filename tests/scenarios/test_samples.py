# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types.
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from loadwatch_backend.runs.archive.format import read_samples, sample_schema
from loadwatch_backend.series.store.port import STALE_NAN_BITS

from scenarios.samples import move_samples

STALE = np.array([STALE_NAN_BITS], dtype=np.uint64).view(np.float64)[0]
NAMES = ("process_start_time_seconds", "b", "a")
VALUES = {"a": 1.5, "b": 1.7e9, "process_start_time_seconds": 1.7e9}


def samples() -> bytes:
    """Each series in two row groups, the later one first, each with a stale marker."""
    output = io.BytesIO()
    with pq.ParquetWriter(output, sample_schema(), write_statistics=False) as writer:
        for name in NAMES:
            for first in (1_000_100, 1_000_000):
                labels = pa.array([f'{{"__name__":"{name}"}}'])
                columns = [
                    pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), labels),
                    pa.array([first, first + 1], pa.int64()),
                    pa.array([VALUES[name], STALE], pa.float64(), from_pandas=False),
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=sample_schema()))
    return output.getvalue()


def test_all_samples_stay_in_order_and_values_that_are_times_move_too(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    path.write_bytes(move_samples(samples(), 60_000))
    (batch,) = read_samples(path)
    rows = [
        (batch.labels[series]["__name__"], int(time), int(bits))
        for series, time, bits in zip(batch.series, batch.times, batch.values.view(np.uint64), strict=True)
    ]
    expected = {**VALUES, "process_start_time_seconds": 1.7e9 + 60}
    assert rows == [
        (name, 60_000 + first + late, STALE_NAN_BITS if late else int(np.array([expected[name]]).view(np.uint64)[0]))
        for name in sorted(NAMES)
        for first in (1_000_000, 1_000_100)
        for late in (0, 1)
    ]
