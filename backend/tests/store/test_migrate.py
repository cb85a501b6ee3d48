"""What brings tables up to date: what was left half-way, other servers at the same moment, newer and foreign tables."""

import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import loadwatch_backend.app.application
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from loadwatch_backend.core.database import migrate as migrating
from loadwatch_backend.core.database import revision as present
from loadwatch_backend.core.database.migrate import COPY_SUFFIX, upgrade
from loadwatch_backend.core.database.migrations.restartable import Restartable
from loadwatch_backend.core.database.relational import SCHEMA_HISTORY, Base, RelationalError, migrate, open_relational
from loadwatch_backend.core.database.revision import MigrationError
from sqlalchemy import event

from backend.tests.databases import DATABASES, make_database
from backend.tests.store.migration_kills import READS, STAMP, contents, prepare


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@contextmanager
def connected(url: str) -> Generator[sa.Connection]:
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        yield connection


def run(url: str, *statements: str) -> None:
    with connected(url) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.fixture
def with_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pretend that Loadwatch has one more migration, with this body of `upgrade`."""

    def add(body: str) -> None:
        last = migrating.revisions()[-1]
        copy = tmp_path / "migrations"
        shutil.copytree(present.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "versions" / "later.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\n"
            f"revision = 'later'\ndown_revision = {last!r}\ndef upgrade():\n    {body}\n"
        )
        monkeypatch.setattr(present, "MIGRATIONS", copy)

    return add


def test_migrations_make_the_tables_that_the_code_expects(kind: str, tmp_path: Path):
    assert loadwatch_backend.app.application, "all tables are known"
    relational = open_relational(make_database(kind, tmp_path))
    with relational.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    relational.close()


def test_a_new_sqlite_file_has_what_the_revisions_make(tmp_path: Path):
    made, upgraded = (make_database("sqlite", tmp_path) for _ in range(2))
    open_relational(made).close()
    upgrade(sa.make_url(upgraded), SCHEMA_HISTORY)
    assert contents(made) == contents(upgraded)
    written = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    with connected(made) as one, connected(upgraded) as other:
        assert one.exec_driver_sql(written).all() == other.exec_driver_sql(written).all()


# What an older version left -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "revision", "left"),
    [
        ("sqlite", "0001", ("DELETE FROM alembic_version", "DROP TABLE annotation_tags")),
        ("sqlite", "0002", ("UPDATE alembic_version SET version_num = '0001'", "DROP TABLE run_meetings")),
        ("mariadb", "0001", ("DELETE FROM alembic_version", "DROP INDEX ix_annotation_tags_tag ON annotation_tags")),
        ("mariadb", "0004", ("UPDATE alembic_version SET version_num = '0003'", "DROP TABLE notify_integrations")),
    ],
)
def test_what_an_older_version_left_half_way_is_brought_to_its_end(
    kind: str, revision: str, left: tuple[str, ...], tmp_path: Path
):
    url, whole = make_database(kind, tmp_path), make_database(kind, tmp_path)
    migrate(sa.create_engine(url, poolclass=sa.NullPool), revision)
    run(url, *left)
    for one in (url, whole):
        open_relational(one).close()
    assert contents(url) == contents(whole)


def test_a_table_of_somebody_else_is_left_alone(kind: str, tmp_path: Path):
    url = make_database(kind, tmp_path)
    run(url, "CREATE TABLE users (id INTEGER, nickname VARCHAR(10))")
    with pytest.raises(RelationalError, match=r"a table 'users' that is not Loadwatch's: its columns are id, nickname"):
        open_relational(url)


# Newer tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finished", [True, False])
def test_newer_tables_are_refused_in_words(
    kind: str, finished: bool, tmp_path: Path, with_later: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
):
    url = make_database(kind, tmp_path)
    open_relational(url).close()
    with monkeypatch.context() as newer:
        newer.setattr(migrating, "VERSION", "7.1.0")
        with_later("op.create_table('later', sa.Column('id', sa.Integer()))")
        open_relational(url).close()
        if not finished:  # killed in the middle, on a database that commits with each change
            run(url, f"UPDATE alembic_version SET version_num = '{migrating.revisions()[-2]}'")
    monkeypatch.undo()
    with pytest.raises(
        RelationalError, match=r"revision later, made by Loadwatch 7\.1\.0 on 20.*Start the version that made them"
    ) as raised:
        open_relational(url)
    assert "pass@" not in str(raised.value)


def test_newer_tables_that_name_no_version(kind: str, tmp_path: Path):
    url = make_database(kind, tmp_path)
    open_relational(url).close()
    run(url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(RelationalError, match=r"revision 9999, made by a newer version of Loadwatch"):
        open_relational(url)


# Several servers ------------------------------------------------------------------------------------------------------


def test_of_two_at_once_one_waits(kind: str, tmp_path: Path):
    url = make_database(kind, tmp_path)
    errors: list[BaseException] = []
    barrier = threading.Barrier(2)

    def start() -> None:
        barrier.wait(60)
        try:
            open_relational(url).close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_waiting_has_an_end(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    url = make_database(kind, tmp_path)
    prepare(url, "0001")
    inside, done = threading.Event(), threading.Event()
    real = migrating.command.upgrade

    def linger(*arguments: Any) -> None:
        inside.set()
        assert done.wait(60)
        real(*arguments)

    monkeypatch.setattr(migrating.command, "upgrade", linger)
    slow = threading.Thread(target=lambda: open_relational(url).close())
    slow.start()
    try:
        assert inside.wait(60)
        with pytest.raises(MigrationError, match="another server has been bringing its tables up to date"):
            upgrade(sa.make_url(url), SCHEMA_HISTORY, wait_seconds=0.1)
    finally:
        done.set()
        slow.join()
    open_relational(url).close()


# A copy of SQLite -----------------------------------------------------------------------------------------------------


def test_sqlite_is_copied_before_an_upgrade(tmp_path: Path, with_later: Callable[[str], None]):
    path = tmp_path / "loadwatch.sqlite"
    copy = path.with_name(path.name + COPY_SUFFIX)
    prepare(f"sqlite:///{path}", "0001")
    assert not copy.exists()
    before = contents(f"sqlite:///{path}")
    open_relational(f"sqlite:///{path}").close()
    assert contents(f"sqlite:///{copy}") == before
    assert copy.stat().st_mode & 0o777 == 0o600
    # The next one takes its place; half a copy is no copy.
    copy.with_name(copy.name + ".partial").write_bytes(b"half")
    with_later("op.create_table('later', sa.Column('id', sa.Integer()))")
    open_relational(f"sqlite:///{path}").close()
    assert "schema_history" in contents(f"sqlite:///{copy}")
    assert {file.name for file in tmp_path.glob("*.sqlite*")} == {path.name, copy.name}


def test_rows_survive_a_table_that_is_made_anew(tmp_path: Path, with_later: Callable[[str], None]):
    url = f"sqlite:///{tmp_path / 'loadwatch.sqlite'}"
    prepare(url, migrating.revisions()[-1])
    before = contents(url)
    with_later(
        "with op.batch_alter_table('runs', recreate='always') as batch: batch.alter_column('name', nullable=True)"
    )
    open_relational(url).close()
    after = contents(url)
    assert after["runs"] != before["runs"]
    assert after["run_tags"] == before["run_tags"]


# The operations -------------------------------------------------------------------------------------------------------


def test_each_operation_may_run_again(tmp_path: Path):
    """On MariaDB, where it is needed: each one twice, and the second time nothing is changed."""
    url = make_database("mariadb", tmp_path)
    with connected(url) as connection:
        context = MigrationContext.configure(connection)
        assert isinstance(context.impl, Restartable)
        op = Operations(context)

        def create() -> None:
            op.create_table("a", sa.Column("id", sa.Integer(), primary_key=True), sa.Column("x", sa.Integer()))
            table = op.create_table(
                "b",
                sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
                sa.Column("a_id", sa.Integer(), index=True),
            )
            op.bulk_insert(table, [{"id": 1, "a_id": None}, {"id": 2, "a_id": None}])

        steps: list[Callable[[], object]] = [
            create,
            lambda: op.drop_index("ix_b_a_id", "b"),
            create,
            lambda: op.create_index("ix_a_x", "a", ["x"]),
            lambda: op.add_column("a", sa.Column("y", sa.String(9), server_default="", nullable=False)),
            lambda: op.create_unique_constraint("uq_a_y", "a", ["y"]),
            lambda: op.create_foreign_key("fk_b_a_id", "b", "a", ["a_id"], ["id"]),
            lambda: op.create_check_constraint("ck_a_x", "a", "x > 0"),
            lambda: op.alter_column("a", "x", new_column_name="z", existing_type=sa.Integer()),
            lambda: op.alter_column("a", "y", type_=sa.String(20), existing_nullable=False),
            lambda: op.drop_constraint("fk_b_a_id", "b", type_="foreignkey"),
            lambda: op.drop_constraint("uq_a_y", "a", type_="unique"),
            lambda: op.drop_column("a", "y"),
            lambda: op.drop_constraint("pk_b", "b", type_="primary"),
            lambda: op.create_primary_key("pk_b", "b", ["id"]),
            lambda: op.rename_table("a", "c"),
            lambda: op.drop_table("b"),
        ]
        states: list[object] = []
        for number, step in enumerate(steps):
            step()
            once = contents(url)
            assert once not in states[-1:], f"step {number} changes nothing"
            step()
            assert contents(url) == once, f"step {number}"
            states.append(once)


def test_changes_of_data_come_after_those_of_tables(tmp_path: Path):
    """Then they are one transaction with the revision's number, also where each change of a table commits."""
    url = make_database("mariadb", tmp_path)
    made: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        made.append(statement.strip())

    event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        open_relational(url).close()
    finally:
        event.remove(sa.Engine, "before_cursor_execute", note)
    found: list[str] = []
    data: str | None = None
    for statement in made:
        if STAMP.search(statement):
            found.append(statement)
            data = None
        elif statement.upper().startswith(("INSERT", "UPDATE", "DELETE", "REPLACE")):
            data = statement
        elif not statement.upper().startswith(READS):
            assert data is None, f"{statement} comes after {data}: put it before, or into a migration of its own"
    assert len(found) == len(migrating.revisions())
