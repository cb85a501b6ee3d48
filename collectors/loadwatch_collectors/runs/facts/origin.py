"""Where a run comes from: commit, branch and state of the working directory, author, host."""

import getpass
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_GIT_SECONDS = 10.0
_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH", "BRANCH_NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Empty texts and None where nothing tells."""

    commit: str = ""
    branch: str = ""
    dirty: bool | None = None
    author: str = ""
    host: str = ""


def find_origin(directory: Path, environment: Mapping[str, str]) -> Origin:
    """What git and the system say; without git, or outside of a repository, their part stays empty.

    On a detached head, as in continuous integration, the branch is that of the usual variables. Files that git does
    not track are no change.
    """
    commit = _git(directory, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    branch = _git(directory, "symbolic-ref", "--short", "--quiet", "HEAD") or ""
    changes = _git(directory, "status", "--porcelain", "--untracked-files=no") if commit else None
    if commit and not branch:
        branch = next((environment[name] for name in _BRANCH_VARIABLES if environment.get(name)), "")
    return Origin(
        commit=commit,
        branch=branch if commit else "",
        dirty=None if changes is None else bool(changes),
        author=_git(directory, "config", "user.name") or _login(),
        host=socket.gethostname(),
    )


def _git(directory: Path, *arguments: str) -> str | None:
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
