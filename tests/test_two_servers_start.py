"""Two servers started at once on an empty database: both come up. `LOADWATCH_ROUNDS` sets how often each is tried."""

import os
from pathlib import Path

import pytest

from backend.tests.databases import make_database
from tests.serving import RealServer, wait_until_answers

ROUNDS = int(os.environ.get("LOADWATCH_ROUNDS", "1"))


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_both_come_up(kind: str, tmp_path: Path) -> None:
    for number in range(ROUNDS):
        url = make_database(kind, tmp_path)
        pair = [
            RealServer(directory=tmp_path / f"{number}-{name}", environment={"LOADWATCH_DATABASE_URL": url})
            for name in "ab"
        ]
        try:
            for server in pair:
                server.directory.mkdir()
                server.launch()
            for server in pair:
                assert server.process is not None
                wait_until_answers(f"{server.url}/-/ready", server.process)
        finally:
            for server in pair:
                if server.process is not None:
                    server.stop()
