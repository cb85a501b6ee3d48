"""The measuring server's own tests (Go, with a real MariaDB), each as a case of this suite."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "measuring-server"
NAMES = sorted(
    name
    for path in FOLDER.rglob("*_test.go")
    for name in re.findall(r"^func (Test\w+)\(t \*testing\.T\)", path.read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[str, str]]:
    """How each Go test ended, and what it wrote; the name "" stands for the run as a whole."""
    go = shutil.which("go")
    assert go, "go is missing: the measuring server's tests need Go 1.24 or newer"
    done = subprocess.run(
        [go, "test", "-trimpath", "-count=1", "-json", "./..."],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    output: dict[str, list[str]] = {"": [done.stderr]}
    ends: dict[str, str] = {"": "pass" if done.returncode == 0 else "fail"}
    for line in done.stdout.splitlines():
        event = json.loads(line)
        name = event.get("Test", "").split("/")[0]
        if event["Action"] in ("output", "build-output"):
            output.setdefault(name, []).append(event["Output"])
        elif event["Action"] in ("pass", "fail", "skip") and event.get("Test") == name != "":
            ends[name] = event["Action"]
    return {name: (end, "".join(output.get(name, []))) for name, end in ends.items()}


@pytest.mark.parametrize("name", NAMES)
def test_go(name: str, results: dict[str, tuple[str, str]]) -> None:
    end, output = results.get(name, ("did not run", results[""][1]))
    assert end == "pass", output


def test_the_run_as_a_whole_ended_well(results: dict[str, tuple[str, str]]) -> None:
    end, output = results[""]
    assert end == "pass", output
    assert set(NAMES) == set(results) - {""}
