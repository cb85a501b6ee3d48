"""Two servers on one database: started at once on an empty one, and one killed while it brings the tables up to date.

`LOADWATCH_ROUNDS` sets how often the first is tried.
"""

import os
from pathlib import Path

import pytest
import sqlalchemy as sa
from loadwatch_backend.core.database.migrate import revisions
from loadwatch_backend.core.database.relational import open_relational

from backend.tests.databases import make_database
from backend.tests.store.migration_kills import contents, prepare
from tests.alerting import wait_for
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


BLOCKED = {
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'",
    "postgresql": "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'",
}
"""Whether a change of a table waits for somebody who reads it."""


OWN = ("leaderships", "alert_evaluations", "notify_gate")
"""What servers write as long as they run."""


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_one_is_killed_in_the_middle_of_a_migration_and_the_other_brings_it_to_its_end(
    kind: str, tmp_path: Path
) -> None:
    url, whole = make_database(kind, tmp_path), make_database(kind, tmp_path)
    for one in (url, whole):
        prepare(one, revisions()[0])
    open_relational(whole).close()
    first, second = (
        RealServer(directory=tmp_path / name, environment={"LOADWATCH_DATABASE_URL": url}) for name in "ab"
    )
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    try:
        with engine.connect() as reader, engine.connect() as watch:
            # A later revision changes this table, so the migration stops there until the reader has ended.
            reader.execute(sa.text("SELECT * FROM annotations")).all()
            first.directory.mkdir()
            first.launch()
            wait_for("the migration waits", lambda: is_blocked(watch, kind))
            second.directory.mkdir()
            log = second.launch()
            wait_for("the other one waits", lambda: "brings the database up to date" in log.read_text())
            first.kill()
        assert second.process is not None
        wait_until_answers(f"{second.url}/-/ready", second.process)
        # And the first goes on, as a follower.
        first.start()
        assert first.stop() == 0
        assert second.stop() == 0
    finally:
        for server in (first, second):
            if server.process is not None:
                server.kill()
    found, wanted = contents(url), contents(whole)
    for name, (*made, rows) in wanted.items():
        *made_here, rows_here = found[name]
        assert made_here == made, name
        assert rows_here == rows or name in OWN, name


def is_blocked(connection: sa.Connection, kind: str) -> bool:
    with connection.begin():
        return bool(connection.scalar(sa.text(BLOCKED[kind])))
