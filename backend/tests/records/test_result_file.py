import json
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.evidence.records import result_file
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import Remark, RemarkKind
from loadwatch_formats.outcomes import Outcome

from backend.tests.records.making import make_records, make_result


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    make_result(tmp_path, make_records(failures=[(Outcome.DNS, 0.1)]), target_users=5.0)
    return RunFiles(tmp_path)


def test_round_trip(files: RunFiles) -> None:
    one = result_file.load(files)
    assert one.seconds is not None
    remark = Remark(kind=RemarkKind.DAMAGE, code="x", text="日本", place="line 3", figures={"a": 1.5})
    changed = replace(one, remarks=(remark,))
    result_file.save(changed, files)
    two = result_file.load(files)
    assert two.seconds is not None
    for name in ("figures", "endpoints", "errors", "facts", "start_ms", "end_ms", "format", "has_records"):
        assert getattr(two, name) == getattr(one, name), name
    assert two.remarks == (remark,)
    for name in ("outcomes", "latency", "bytes_in", "bytes_out", "users"):
        np.testing.assert_array_equal(getattr(two.seconds, name), getattr(one.seconds, name))


def test_no_seconds(files: RunFiles) -> None:
    one = result_file.load(files)
    bare = replace(one, seconds=None)
    result_file.save(bare, files)
    assert not files.seconds.exists()
    assert result_file.load(files).seconds is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 1}', "null"])
def test_damaged_document(files: RunFiles, text: str) -> None:
    files.result.write_text(text)
    with pytest.raises(result_file.DamagedResultError):
        result_file.load(files)


def test_newer_version(files: RunFiles) -> None:
    document = json.loads(files.result.read_text())
    files.result.write_text(json.dumps(document | {"version": 99}))
    with pytest.raises(result_file.DamagedResultError, match="newer"):
        result_file.load(files)


def test_hostile_arrays(files: RunFiles) -> None:
    for outcomes in (np.zeros((5, 3), dtype=np.int64), np.zeros((5, 9))):
        np.savez(files.seconds, outcomes=outcomes)
        with pytest.raises(result_file.DamagedResultError):
            result_file.load(files)
    np.savez(files.seconds)
    with pytest.raises(result_file.DamagedResultError):
        result_file.load(files)
    files.seconds.write_bytes(pickle.dumps({"outcomes": 1}))
    with pytest.raises(result_file.DamagedResultError):
        result_file.load(files)
    np.savez(files.seconds, outcomes=np.array([{"a": 1}], dtype=object))
    with pytest.raises(result_file.DamagedResultError):
        result_file.load(files)


def test_array_bomb(files: RunFiles) -> None:
    with zipfile.ZipFile(files.seconds, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("outcomes.npy", "w") as out:
        for _ in range(600):
            out.write(bytes(1 << 20))
    with pytest.raises(result_file.DamagedResultError, match="unpack"):
        result_file.load(files)
