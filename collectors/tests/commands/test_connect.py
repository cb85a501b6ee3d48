import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.commands.iam_policy import read_config

from collectors.tests.commands.test_agent import loadwatch
from collectors.tests.connect.alone import application_alone
from collectors.tests.servers import tcp_server


@pytest.fixture
def application() -> Iterator[int]:
    """The port of a program that shows its pool; it is this process."""
    with application_alone() as port:
        yield port


def listener(port: int, *arguments: str) -> dict[str, Any]:
    result = loadwatch("connect", "--json", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return next(one for one in json.loads(result.stdout)["listeners"] if one["port"] == port)


def test_a_program_is_listed_with_the_lines_that_watch_it(application: int) -> None:
    one = listener(application)
    assert one["pids"] == [os.getpid()]
    assert one["seems"] == [{"kind": "dbstats", "told": "answer", "path": "/debug/dbstats"}]
    assert one["watched"] == []
    assert f"  process: {{port: {application}}}\n" in one["lines"]
    shown = loadwatch("connect").stdout
    assert f"\n{application} · " in "\n" + shown
    assert "seems a Go program that shows its connection pool, by its answer to GET /debug/dbstats" in shown


def test_lines_are_checked_then_written_and_then_watched(application: int, tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    config = ("--config", str(path))
    checked = loadwatch("connect", str(application), *config, "--json")
    assert checked.returncode == 0, checked.stdout
    assert [(one["collector"], one["error"]) for one in json.loads(checked.stdout)["collectors"]] == [
        ("process", None),
        ("dbstats", None),
    ]
    assert not path.exists()
    digest = listener(application, *config)["digest"]
    server = ("--server", "http://watch.example:8000")
    written = loadwatch("connect", str(application), *config, "--write", *server, "--digest", digest, "--json")
    assert json.loads(written.stdout)["written"] == {"path": str(path), "backup": None}
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_config(path).server.url.startswith("http://watch.example:8000")
    # What an agent without a file watches is still watched.
    assert [one.source.name for one in read_config(path).collectors][:2] == ["host", "sockets"]
    assert {one["source"] for one in listener(application, *config)["watched"]} == {"process", "dbstats"}
    again = loadwatch("connect", str(application), *config, "--write")
    assert again.returncode == 3
    assert "it is watched already" in again.stderr


def test_lines_that_nobody_has_seen_are_not_written(application: int, tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    arguments = ("connect", str(application), "--config", str(path), "--write")
    other = loadwatch(*arguments, "--digest", "0" * 16)
    assert other.returncode == 3
    assert "has changed since these lines were shown" in other.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = loadwatch("connect", str(free.getsockname()[1]), "--config", str(path), "--write")
    assert nobody.returncode == 3
    assert loadwatch(*arguments[:2], "--write").returncode == 2
    assert not path.exists()


def test_lines_that_do_not_work_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "loadwatch.yml"
    path.write_text("targets:\n  - job: host\n    host: {}\n")
    before = path.read_text()
    with tcp_server(lambda one: one.sendall(b"\x5a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00")) as port:
        arguments = ("connect", str(port), "--config", str(path), "--write", "--json")
        without_password = loadwatch(*arguments)
        assert without_password.returncode != 0
        assert f"mysql-{port}.password" in without_password.stdout
        (tmp_path / f"mysql-{port}.password").write_text("p\n")
        refused = loadwatch(*arguments)
        assert refused.returncode == 1
        assert [one["error"] is None for one in json.loads(refused.stdout)["collectors"]] == [True, False]
    assert path.read_text() == before
    assert not path.with_name("loadwatch.yml.bak").exists()
