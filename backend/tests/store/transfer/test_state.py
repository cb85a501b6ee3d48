"""The file that says how far a transfer is: whole or as before, and an error that says what to do."""

from dataclasses import replace
from pathlib import Path

import pytest
from loadwatch_backend.series.store.transfer import (
    StateFile,
    TransferError,
    TransferState,
    progress_line,
)

STATE = TransferState(target="http://engine/api/v1/write", rows=12, hour_ms=3_600_000, part=2, sent=9)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    assert file.read() is None
    file.write(STATE)
    assert file.read() == STATE
    assert file.path.stat().st_mode & 0o077 == 0


def test_parts_that_an_earlier_version_counted_are_asked_for_again(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(STATE)
    file.path.write_bytes(file.path.read_bytes().replace(b'"format":2', b'"format":1'))
    assert file.read() == replace(STATE, part=0, ask=True)


def test_a_full_disk_leaves_what_was_there_and_is_said(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(STATE)
    file.path.with_suffix(".new").symlink_to("/dev/full")
    with pytest.raises(TransferError, match="No space left on device"):
        file.write(TransferState(target="other", rows=1))
    assert file.read() == STATE


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": 2}', b'{"format": 1, "size": 3}', b"\xff"])
def test_a_file_that_is_none_is_said(tmp_path: Path, content: bytes) -> None:
    file = StateFile(tmp_path)
    file.path.write_bytes(content)
    with pytest.raises(TransferError, match="--restart"):
        file.read()


def test_progress_has_rate_and_time_left() -> None:
    line = progress_line(hour_ms=0, done=600, total=1_000, seconds=2, begun_with=200)
    assert line == "1970-01-01 00:00 UTC: 600 of 1,000 samples (60.0 %), 200 a second, about 2 s left"
    assert "time left unknown" in progress_line(hour_ms=0, done=0, total=5, seconds=0, begun_with=0)
