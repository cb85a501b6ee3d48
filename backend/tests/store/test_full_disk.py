"""A disk that takes no more: senders are told, nothing acknowledged is lost, and all goes on once there is room."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("room", [0, 5_000, 60_000, 300_000])
def test_a_full_disk_is_survived(tmp_path: Path, room: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "backend.tests.store.full_disk", str(tmp_path), str(room)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["refused"] > 0
    assert all("could not be written to disk" in error for error in result["errors"])
    stored = set(result["stored"])
    assert len(stored) >= 50
    # What was refused may be there as well (the log was written and the answer was an error), what was promised must.
    assert stored <= set(result["live"])
    assert stored <= set(result["opened_again"])
    assert set(range(50)) <= set(result["while_full"])
    assert len(result["refused_after"]) <= 1
