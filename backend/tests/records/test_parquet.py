# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types.
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from loadwatch_backend.evidence.records import parquet
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.parquet import DamagedRecordsError, RecordReader, check_records, record_schema

from backend.tests.records.making import make_records, make_result


def table(rows: int) -> Any:
    arrays: list[Any] = []
    for field in record_schema():
        if pa.types.is_dictionary(field.type):
            indices = pa.array(np.zeros(rows, dtype=np.int32))
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array(["x"])))
        else:
            arrays.append(pa.array(np.zeros(rows, dtype=np.int64)).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=record_schema())


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    records = make_records(requests=300_000, endpoints=["a", "b", "c"])
    make_result(tmp_path, records, endpoints=["a", "b", "c"])
    assert check_records(RunFiles(tmp_path).records) == 300_000
    with RecordReader(RunFiles(tmp_path).records) as reader:
        assert len(reader.groups) == 2
        times = np.concatenate([chunk["time_ns"] for chunk in reader.chunks(["time_ns"])])
        assert (times == records.time_ns).all()
        found = [names[code] for codes, names in reader.texts("endpoint") for code in codes[:3].tolist()]
    assert found[:3] == ["a", "b", "c"]


def test_cut_off_file(tmp_path: Path) -> None:
    make_result(tmp_path)
    path = RunFiles(tmp_path).records
    whole = path.read_bytes()
    for length in (0, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedRecordsError):
            check_records(path)


def test_damaged_page(tmp_path: Path) -> None:
    make_result(tmp_path, make_records(requests=50_000))
    path = RunFiles(tmp_path).records
    data = bytearray(path.read_bytes())
    data[100:2_000] = bytes(1_900)
    path.write_bytes(data)
    with pytest.raises(DamagedRecordsError):
        check_records(path)


def test_times_of_another_type_than_the_schema_says(tmp_path: Path) -> None:
    """Found by fuzz: pyarrow ends the process when it is asked for their statistics."""
    make_result(tmp_path)
    path = RunFiles(tmp_path).records
    data = path.read_bytes()
    # Thrift: the type of the first column's chunk is INT64 (2), and becomes INT96 (3).
    place = data.index(b"\x15\x04\x19%", len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    path.write_bytes(data[: place + 1] + b"\x06" + data[place + 2 :])
    with pytest.raises(DamagedRecordsError, match="times of INT96"):
        check_records(path)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    make_result(tmp_path)
    path = RunFiles(tmp_path).records
    path.write_bytes(path.read_bytes().replace(b"latency_ns", b"latency_\xff\xff"))
    with pytest.raises(DamagedRecordsError):
        check_records(path)


def test_other_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "records.parquet")
    with pytest.raises(DamagedRecordsError, match="other columns"):
        check_records(tmp_path / "records.parquet")


def test_bomb_of_rows(tmp_path: Path) -> None:
    """Millions of equal rows are a few kilobytes on disk and hundreds of megabytes in memory."""
    path = tmp_path / "records.parquet"
    rows = parquet.MAX_GROUP_ROWS + 1
    pq.write_table(table(rows), path, row_group_size=rows, compression="zstd")
    assert path.stat().st_size < 200_000
    with pytest.raises(DamagedRecordsError, match="claims"):
        check_records(path)
