"""A short run of all targets: nothing ends, stalls or fills the process. FUZZ_SECONDS makes it longer."""

import os
import subprocess
import sys
from pathlib import Path

SECONDS = os.environ.get("FUZZ_SECONDS", "10")
ROOT = Path(__file__).parents[1]


def test_bytes_by_chance_do_no_harm() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--seconds", SECONDS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1_200 + 2 * float(SECONDS),
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-20_000:]
    assert " 0 faults" in done.stdout
