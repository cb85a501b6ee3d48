"""kill -9 while samples are sealed, converted and moved: see sealing_kills.py. FAULT_CYCLES sets how many rounds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.timeout(1800)
def test_nothing_is_lost_wherever_it_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "backend.tests.store.sealing_kills", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["statements"] > 50
    assert result["kills"] >= result["rounds"]
