import subprocess
from pathlib import Path

import pytest
from loadwatch_collectors.runs.facts.request import find_origin


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_outside_of_a_repository_nothing_is_known(outside: Path) -> None:
    origin = find_origin(outside, {"GITHUB_REF_NAME": "main"})
    assert (origin.commit, origin.branch, origin.dirty) == ("", "", None)
    assert origin.host
    assert origin.author


def test_commit_branch_and_changes(outside: Path) -> None:
    git(outside, "init", "-q", "-b", "topic")
    assert find_origin(outside, {}).commit == ""
    (outside / "a").write_text("1")
    git(outside, "add", "a")
    git(outside, "commit", "-q", "-m", "one")
    (outside / "untracked").write_text("1")
    clean = find_origin(outside, {})
    assert (clean.commit, clean.branch, clean.dirty) == (git(outside, "rev-parse", "HEAD"), "topic", False)
    (outside / "a").write_text("2")
    assert find_origin(outside, {}).dirty is True
    git(outside, "checkout", "-q", "--detach")
    assert find_origin(outside, {}).branch == ""
    assert find_origin(outside, {"GITHUB_REF_NAME": "main"}).branch == "main"
