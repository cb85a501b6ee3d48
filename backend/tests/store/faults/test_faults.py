"""kill -9 and a full disk in each place: nothing acknowledged is lost, and every start succeeds.

FAULT_CYCLES sets how many rounds; a release's run has 100, and `python -m bench faults` writes them down. What a failed
round left is in `failed` below the test's directory, or where LOADWATCH_FAULTS_KEEP says.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.tests.store.faults import dying
from backend.tests.store.faults.dying import Death, FaultError, Moment, in_child
from backend.tests.store.faults.places import PLACES

ROOT = Path(__file__).resolve().parents[4]
ROUNDS = int(os.environ.get("FAULT_CYCLES", "3"))


def rounds_of(what: str, name: str, directory: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", f"backend.tests.store.faults.{what}", name, str(directory), str(ROUNDS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr[-3000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, outcome["faults"]) == (0, []), done.stderr[-3000:]
    assert outcome["rounds"] == ROUNDS
    return outcome


@pytest.mark.timeout(300 + 60 * ROUNDS)
@pytest.mark.parametrize("name", PLACES)
def test_nothing_is_lost_wherever_it_is_killed(name: str, tmp_path: Path) -> None:
    outcome = rounds_of("kills", name, tmp_path)
    assert outcome["kills"] >= outcome["rounds"]
    assert outcome["points"] > 30


@pytest.mark.timeout(300 + 60 * ROUNDS)
@pytest.mark.parametrize("name", PLACES)
def test_a_full_disk_is_said_and_all_goes_on_once_there_is_room(name: str, tmp_path: Path) -> None:
    outcome = rounds_of("full_disk", name, tmp_path)
    assert outcome["full"] > 0
    for text in outcome["errors"]:
        assert any(words in text for words in SAID), text


SAID = (
    "the samples could not be written to disk: File too large; make room on the disk",
    "the samples could not be sealed: File too large; make room on the disk",
    "The disk has no room for what the store writes: File too large; make room on the disk",
    "which says how far the migration has come: File too large. Make room",
    "loadwatch.sqlite cannot be copied: ",
    "cannot use the database sqlite",
    # Of upkeep, in the log alone.
    "File too large",
)
"""What people are told; SQLite says no more of it than that, and what makes copies looks for room before."""


def test_a_process_dies_at_its_point_and_tells_what_it_had_acknowledged(tmp_path: Path) -> None:
    def work(acknowledge: dying.Callable[[int], None]) -> None:
        for number in range(5):
            (tmp_path / str(number)).mkdir()
            acknowledge(number)

    def made() -> int:
        found = [path.rmdir() for path in tmp_path.iterdir()]
        return len(found)

    whole = in_child(work, within=(work,), death=None)
    assert (whole.killed, whole.points, list(whole.acknowledged), made()) == (False, 5, [0, 1, 2, 3, 4], 5)
    for moment, left in ((Moment.BEFORE, 2), (Moment.AFTER, 3)):
        ended = in_child(work, within=(work,), death=Death(point=3, moment=moment))
        assert (ended.killed, list(ended.acknowledged), made()) == (True, [0, 1], left)
    with pytest.raises(FaultError, match="exit code 1"):
        in_child(lambda _acknowledge: (tmp_path / "no" / "where").mkdir(), death=None)
