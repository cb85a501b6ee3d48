"""The base install is the lean agent: it works without the server's libraries, and does not bring them."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest

from collectors.tests.stand_in import server_stand_in

ROOT = Path(__file__).parents[1]
HEAVY = {
    "boto3",
    "botocore",
    "fastapi",
    "starlette",
    "uvicorn",
    "duckdb",
    "jmespath",
    "numpy",
    "pydantic",
    "sqlalchemy",
    "alembic",
    "protobuf",
}


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def closure(names: set[str]) -> set[str]:
    """The packages and all that they need without extras, by the metadata of what is installed here."""
    found: set[str] = set()
    while names - found:
        name = min(names - found)
        found.add(name)
        names = names | {name_of(need) for need in requires(name) or () if "extra ==" not in need and "; " not in need}
    return found


def test_declared_dependencies_bring_nothing_heavy() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = {name_of(requirement) for requirement in project["dependencies"]}
    assert "click" in base
    assert not closure(base) & HEAVY
    locked = {name_of(line) for line in (ROOT / "requirements" / "agent.txt").read_text().splitlines() if "==" in line}
    assert base <= locked
    assert not locked & HEAVY


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of a new environment with the base install only."""
    folder = tmp_path_factory.mktemp("clean") / "env"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "agent.txt")], check=True)
    subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    return folder / "bin"


def run(program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    # Without the paths of the environment that runs the tests, which could lend its packages.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, env=environment, check=False)


def test_the_base_install_is_lean_and_works(clean: Path, tmp_path: Path) -> None:
    listed = run(clean / "pip", "list", "--format=freeze", "--disable-pip-version-check")
    names = {name_of(line) for line in listed.stdout.splitlines()}
    assert "loadwatch" in names
    assert not names & HEAVY

    shown = run(clean / "loadwatch", "--help")
    assert shown.returncode == 0, shown.stderr
    assert "\n  agent " in shown.stdout
    assert "\n  check " in shown.stdout

    with server_stand_in(tmp_path):
        checked = run(clean / "loadwatch", "check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "sockets: ok" in checked.stdout

    config = tmp_path / "loadwatch.yml"
    config.write_text("targets:\n  - job: shop\n    host: {}\n    cloudwatch: {regions: [ap-northeast-1]}\n")
    refused = run(clean / "loadwatch", "check", "--config", str(config))
    assert refused.returncode == 2
    assert 'pip install "loadwatch[aws]"' in refused.stderr

    log = tmp_path / "access.log"
    log.write_text("method:GET\turi:/users/1\tstatus:200\treqtime:0.1\n" * 3)
    table = run(clean / "loadwatch", "digest", "access", str(log))
    assert table.returncode == 0, table.stderr
    assert "/users/:id" in table.stdout
    slow = tmp_path / "slow.log"
    heading = "# Time: 2026-11-26T12:00:00.000000Z\n# User@Host: shop[shop] @ localhost []  Id: 8\n"
    times = "# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 9\n"
    slow.write_text(f"{heading}{times}select 1;\n")
    table = run(clean / "loadwatch", "digest", "statements", str(slow))
    assert "select ?" in table.stdout, table.stderr
    matched = run(clean / "loadwatch", "digest", "statements", str(slow), "--match", "select")
    assert 'pip install "loadwatch[server]"' in matched.stderr
    profile = run(clean / "loadwatch", "digest", "profile", str(log))
    assert profile.returncode == 1
    assert 'pip install "loadwatch[server]"' in profile.stderr

    server = run(clean / "loadwatch", "server")
    assert server.returncode == 1
    assert 'pip install "loadwatch[server]"' in server.stderr
