"""How importer tests read files."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import LoadResult, Remark
from loadwatch_backend.evidence.records.parquet import RecordReader
from loadwatch_backend.runs.importers.pipeline import read_result

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True, slots=True)
class Imported:
    """A result, its directory, and its records as arrays."""

    result: LoadResult
    directory: Path
    progress: list[Progress]

    def column(self, name: str) -> npt.NDArray[Any]:
        with RecordReader(RunFiles(self.directory).records) as reader:
            return np.concatenate([chunk[name] for chunk in reader.chunks([name])])

    def texts(self, name: str) -> list[str | None]:
        """`endpoint` or `error` of each record."""
        with RecordReader(RunFiles(self.directory).records) as reader:
            return [None if c < 0 else names[c] for codes, names in reader.texts(name) for c in codes.tolist()]

    def remark(self, code: str) -> Remark:
        return next(remark for remark in self.result.remarks if remark.code == code)


Importing = Callable[..., Imported]


@pytest.fixture
def imported(tmp_path: Path) -> Importing:
    """`imported(path_or_bytes, filename=…, started_ms=…, format=…)` reads a file in this process."""
    count = 0

    def run(source: Path | bytes, **options: Any) -> Imported:
        nonlocal count
        count += 1
        directory = tmp_path / f"run-{count}"
        directory.mkdir()
        if isinstance(source, bytes):
            path = tmp_path / f"source-{count}"
            path.write_bytes(source)
        else:
            path = source
        progress: list[Progress] = []
        result = read_result(path, directory, ImportOptions(**options), progress.append)
        return Imported(result, directory, progress)

    return run


def unpacked(name: str) -> bytes:
    """A fixture's bytes; `.gz` ones unpacked."""
    path = FIXTURES / name
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def assert_same(left: LoadResult, right: LoadResult) -> None:
    """Equal in everything, arrays included."""
    assert replace(left, seconds=None) == replace(right, seconds=None)
    assert (left.seconds is None) == (right.seconds is None)
    if left.seconds is not None and right.seconds is not None:
        for name in ("start_ms", "outcomes", "latency", "bytes_in", "bytes_out", "users", "exact"):
            np.testing.assert_array_equal(getattr(left.seconds, name), getattr(right.seconds, name), err_msg=name)
