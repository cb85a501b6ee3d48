"""Data, spools, archives and configuration files that an earlier commit wrote are read as that commit read them.

`tests/data/before/README.md` says what there is and how it was made.
"""

import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from loadwatch_backend.core.database.migrate import revisions
from loadwatch_backend.core.database.relational import default_url, migrate, open_relational
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS

from backend.tests.databases import DATABASES, make_database
from backend.tests.store.test_rollups import read_minutes
from backend.tests.store.test_sealed import START_MS, everything, opened
from collectors.tests.receiver import Receiver, running
from tests.alerting import Pager, make_watch, wait_for
from tests.data.before.make import (
    CONFIGURATION,
    HERE,
    Client,
    agent_configuration,
    configuration_answers,
    now_ms,
    routing_answers,
)
from tests.ports import free_port
from tests.run_cli import Cli
from tests.serving import LOADWATCH, RealServer

COMMITS = sorted(path.name.removesuffix(".tar.xz") for path in HERE.glob("*.tar.xz"))
CHANGING = frozenset(
    {
        # By the clock, which goes on.
        "evaluated_ms",
        "last_used_ms",
        "last_seen_ms",
        "loaded_ms",
        "muted_now",
        "active_now",
        "to_ms",
        "to_seconds",
        "evaluation_seconds",
        # Of this machine.
        "created_ms",
        "updated_ms",
        "path",
        "file",
        # The paths of receivers' addresses are secrets since, and no longer shown.
        "target",
    }
)

ANALYSED_AGAIN = {
    # By this machine's clock, which is compared with the server's at the delivery.
    "started_at",
    "ended_at",
    "started_ms",
    "ended_ms",
    "steady_window",
    "clock",
    "source",
    # What is thought of the generator's host; that it was busy by others than the generator is known since.
    "generator",
    "verdict_reasons",
}
"""Fields of a run that a server hears of only now, which are not in what was kept."""


@pytest.fixture(params=COMMITS)
def before(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with what one commit wrote."""
    folder = tmp_path / "before"
    with tarfile.open(HERE / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


def expected(before: Path) -> dict[str, Any]:
    return json.loads((before / "expected.json").read_text("utf-8"))


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where something that was is no longer, or is something else; fields may have come since."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, now = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        pairs = [(f".{key}", one, now.get(key, "nothing")) for key, one in before.items() if key not in CHANGING]
    elif isinstance(old, list) and isinstance(new, list) and len(cast("list[Any]", old)) == len(cast("list[Any]", new)):
        both = zip(cast("list[Any]", old), cast("list[Any]", new), strict=True)
        pairs = [(f"[{index}]", one, other) for index, (one, other) in enumerate(both)]
    else:
        return [] if old == new else [f"{place}: {old!r} is {new!r}"]
    return [found for step, one, other in pairs for found in differences(one, other, place + step)]


def move_tables(file: Path, url: str) -> None:
    """Put the rows of an SQLite file into another database, into the tables that its version made there."""
    old, new = (sa.create_engine(one, poolclass=sa.NullPool) for one in (f"sqlite:///{file}", url))
    with old.connect() as source, new.begin() as target:
        revision = source.scalar(sa.text("SELECT version_num FROM alembic_version"))
        assert revision != revisions()[-1]
        migrate(new, revision)
        tables, rows = sa.MetaData(), sa.MetaData()
        tables.reflect(new)
        rows.reflect(old)
        for table in tables.sorted_tables:
            found = [dict(row) for row in source.execute(sa.select(rows.tables[table.name])).mappings()]
            target.execute(table.delete())
            if found:
                target.execute(table.insert(), found)
            if new.dialect.name == "postgresql" and "id" in table.c and table.c.id.autoincrement is True:
                next_id = "SELECT setval(pg_get_serial_sequence(:name, 'id'), (SELECT max(id) FROM {}))"
                target.execute(sa.text(next_id.format(table.name)), {"name": table.name})


@pytest.mark.parametrize("kind", DATABASES)
def test_a_data_directory_is_read_as_it_was(kind: str, before: Path, pager: Pager, tmp_path: Path) -> None:
    """Also where its tables are in MariaDB or PostgreSQL, in the revision of that time."""
    was = expected(before)
    offset = tmp_path / "offset"
    environment = {"LOADWATCH_ACCESS": "users", "LOADWATCH_CLOCK_OFFSET_FILE": str(offset)}
    watch = make_watch(tmp_path / "server", pager, environment=environment)
    (before / "data").rename(watch.server.data)
    if kind != "sqlite":
        environment["LOADWATCH_DATABASE_URL"] = make_database(kind, tmp_path)
        move_tables(watch.server.data / "loadwatch.sqlite", environment["LOADWATCH_DATABASE_URL"])
        (watch.server.data / "loadwatch.sqlite").unlink()
        watch.server.environment = {**watch.server.environment, **environment}
        # Brought up to date by a command: the clock below does not wait for a database that is slow.
        command = [LOADWATCH, "user", "list", "--data", watch.server.data]
        url = {"LOADWATCH_DATABASE_URL": environment["LOADWATCH_DATABASE_URL"]}
        subprocess.run(command, env={**os.environ, **url}, check=True, capture_output=True)
    # It goes on where the old one ended, or alerts would have no data, and runs under way would be silent.
    offset.write_text(str(was["at_ms"] - now_ms()))
    watch.server.start()
    try:
        client = Client(watch.server.url, was["token"])
        wait_for("the message that waited", lambda: [one.id for one in pager.heard] == [was["waiting"]])
        wait_for("a note of it", lambda: client.json("GET", "/api/deliveries")["counts"]["waiting"] == 0)
        now = {path: client.json("GET", path) for path in was["answers"]}
        assert client.session()
        cookie = {"cookie": was["session"]}
        signed_in = json.loads(Client(watch.server.url).ask("GET", "/api/session", kind=cookie))
        shared = Client(watch.server.url).ask("GET", was["share"])
    finally:
        watch.server.kill()
    assert signed_in["principal"]["name"] == "ann"
    assert b"boats" in shared
    told = was["answers"]["/api/deliveries"]["deliveries"]
    assert told.pop(0)["id"] == was["waiting"]
    assert now["/api/deliveries"]["deliveries"].pop(0)["state"] == "delivered"
    del was["answers"]["/api/deliveries"]["counts"]
    assert differences(was["answers"], now) == []


def test_a_spool_is_delivered_whole(before: Path, tmp_path: Path) -> None:
    waits = {tuple(one) for one in expected(before)["spool"]}
    receiver = Receiver(port=free_port())
    config = tmp_path / "loadwatch.yml"
    config.write_text(agent_configuration(receiver.url, before / "spool", f"http://127.0.0.1:{free_port()}"))

    def come() -> set[tuple[str, int, int]]:
        return {
            (json.dumps(sample.labels, sort_keys=True), sample.timestamp_ms, sample.bits) for sample in receiver.samples
        }

    with running(receiver):
        process = Cli(server="", directory=tmp_path).start("agent", "--config", str(config))
        receiver.wait_for(lambda: waits <= come())
        process.terminate()
        assert process.wait(60) == 0
    assert sum(name.find('"looks_total"') > 0 for name, _, _ in waits) > 5


def test_archives_runs_on_disk_and_configuration_files_are_taken(before: Path, tmp_path: Path) -> None:
    was = expected(before)
    folder = tmp_path / "files"
    for source in (HERE / "configuration").iterdir():
        folder.mkdir(exist_ok=True)
        (folder / source.name).write_bytes(source.read_bytes())
    cli = Cli(server="", directory=folder, environment=CONFIGURATION)
    # One of the receivers' integrations was apprise's, which is withdrawn (decision 0149).
    answers = json.loads(json.dumps(was["commands"]).replace("5 integrations", "4 integrations"))
    assert configuration_answers(cli) == answers

    (before / "runs").rename(cli.state)
    assert len(cli.waiting) == 1
    for run in cli.waiting:
        was["runs"][run] = {key: value for key, value in was["runs"][run].items() if key not in ANALYSED_AGAIN}
    for journal in cli.state.glob("*/run.json"):
        old = str(Path(json.loads(journal.read_text())["result"]).parent)
        journal.write_text(journal.read_text().replace(old, str(journal.parent)))
    files = {name: str(folder / value) if value.endswith(".yml") else value for name, value in CONFIGURATION.items()}
    server = RealServer(folder, files)
    server.start()
    try:
        client = Client(server.url)
        routing = routing_answers(client)
        cli.server = server.url
        synced = cli("sync")
        assert synced.returncode == 0, synced.stdout
        archive = {"content-type": "application/zip"}
        client.ask("POST", "/api/archives", (before / "archive.zip").read_bytes(), archive)
        runs = {run: client.json("GET", f"/api/runs/{run}") for run in was["runs"]}
    finally:
        server.stop()
    # Rules of the server's own have come since, after those of the file.
    inhibition = routing["/api/routes"]["inhibit_rules"]
    del inhibition[len(was["files"]["/api/routes"]["inhibit_rules"]) :]
    for receiver in was["files"]["/api/receivers"]["receivers"]:
        receiver["integrations"] = [one for one in receiver["integrations"] if one["kind"] != "apprise"]
    assert differences(was["files"], routing) == []
    assert differences(was["runs"], runs) == []
    assert cli.waiting == []


@pytest.mark.parametrize("commit", sorted((HERE / "backups").glob("*.tar.xz")), ids=lambda path: path.name)
def test_a_backup_is_restored_as_it_was(commit: Path, tmp_path: Path) -> None:
    with tarfile.open(commit) as archive:
        archive.extractall(tmp_path, filter="data")
    was = json.loads((tmp_path / "expected.json").read_text())
    data = tmp_path / "data"
    restored = Cli(server="", directory=tmp_path)("restore", str(tmp_path / "backups"), "--data", str(data))
    assert restored.returncode == 0, restored.stdout
    assert (data / "runs/1/result.json").read_text() == '{"requests": 3}\n'
    assert (data / "evidence/1/notes.txt").read_text() == "what was there\n"
    relational = open_relational(default_url(data))
    with relational.engine.connect() as connection:
        assert connection.execute(sa.text("SELECT text FROM annotations")).fetchall() == [("before the change",)]
    relational.close()
    with opened(data, START_MS + 80 * HOUR_MS, retention_ms=DAY_MS) as store:
        assert sorted([*key, bits] for key, bits in everything(store).items()) == sorted(was["samples"])
        assert sorted([*key, *minute] for key, minute in read_minutes(store).items()) == sorted(was["minutes"])
        assert [list(span) for span in store.whole_spans()] == was["spans"]


def test_a_difference_is_found() -> None:
    assert differences({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3, "c": 4}]}) == [".a[1].b: 2 is 3"]
    assert differences({"a": [1]}, {"a": []}) == [".a: [1] is []"]
    assert differences({"a": 1}, {"b": 1}) == [".a: 1 is 'nothing'"]
    assert not differences({"evaluated_ms": 1}, {"evaluated_ms": 2, "new": 3})
