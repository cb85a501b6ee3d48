"""All recordings into a real server: findings are as right as they are said to be, neither worse nor better."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from examples.rig.loadwatch import running_server
from scenarios.cases import CASES
from scenarios.known_wrong import KNOWN_WRONG
from scenarios.record import FOLDER
from tests.ports import free_port
from tests.run_cli import Cli

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def loadwatch(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cli]:
    """The command line, with a server of its own."""
    folder = tmp_path_factory.mktemp("scenarios")
    with running_server(folder, listen=f"127.0.0.1:{free_port()}") as server:
        yield Cli(server=server.url, directory=folder)


def replay(loadwatch: Cli, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = loadwatch("replay", *arguments, "--json", seconds=2_400)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_findings_of_all_recordings_are_as_right_as_is_known(loadwatch: Cli) -> None:
    status, document = replay(loadwatch, str(FOLDER))
    assert status == 0
    recordings = {one["case"]: one for one in document["recordings"]}
    wrong = {name: (one["expected"], one["said"]) for name, one in recordings.items() if not one["right"]}
    # What is wrong and not known got worse; what is known and not wrong got better: say so in scenarios/known_wrong.py.
    assert {name: said for name, said in wrong.items() if name not in KNOWN_WRONG} == {}
    assert set(KNOWN_WRONG) - set(wrong) == set()
    assert document["totals"]["with_limits"] == sum(bool(case.expected) for case in CASES)
    # Again, with the runs there already, and only some of them.
    status, judged = replay(loadwatch, str(FOLDER), "--purpose", "judge", "--at-least", "0")
    assert status == 0
    assert {one["purpose"] for one in judged["recordings"]} == {"judge"}
    assert all(one["said"] == recordings[one["case"]]["said"] for one in judged["recordings"])


def test_a_share_that_is_not_reached_is_the_exit_status(loadwatch: Cli, tmp_path: Path) -> None:
    archive = FOLDER / "healthy-light.zip"
    label = json.loads(archive.with_suffix(".json").read_text())
    (tmp_path / "mine.zip").write_bytes(archive.read_bytes())
    (tmp_path / "mine.json").write_text(json.dumps({**label, "kind": "single", "expected": ["pool-exhausted"]}))
    done = loadwatch("replay", str(tmp_path), "--at-least", "0.5")
    assert done.returncode == 1
    assert "WRONG" in done.stdout
    assert "first finding right in 0 of 1" in done.stdout


def test_what_is_no_recording_is_told_in_one_line(loadwatch: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.zip").write_bytes(b"PK")
    done = loadwatch("replay", str(tmp_path / "mine.zip"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("loadwatch replay: ")
    assert "has no label mine.json beside it" in done.stderr


def test_a_recording_is_there_of_every_case_and_says_what_the_case_says() -> None:
    missing = [case.name for case in CASES if not (FOLDER / f"{case.name}.zip").exists()]
    assert missing == []
    names = {case.name for case in CASES}
    assert {path.stem for path in FOLDER.iterdir()} == names
    for case in CASES:
        label = json.loads((FOLDER / f"{case.name}.json").read_text(encoding="utf-8"))
        assert (label["expected"], label["purpose"]) == (list(case.expected), case.purpose), case.name
        assert (FOLDER / f"{case.name}.zip").stat().st_size < 250_000, case.name
    assert set(KNOWN_WRONG) <= names


def test_a_case_is_played_for_real_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "scenarios", "healthy-five-seconds", "--no-record", "--logs", str(tmp_path / "logs")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "healthy-five-seconds: expected nothing" in done.stdout
    kept = tmp_path / "logs" / "healthy-five-seconds"
    run = json.loads((kept / "run.json").read_text())
    assert run["state"] == "finished"
    assert run["requests"] > 0
    assert (kept / "archive.zip").stat().st_size > 0
    assert list((tmp_path / "tmp").iterdir()) == []
