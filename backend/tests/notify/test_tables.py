from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from loadwatch_backend.notify.groups_tables import AlertRow, GateRow, GroupRow, MemberRow, ToldRow
from loadwatch_backend.notify.outbox_tables import DeliveryRow
from loadwatch_backend.notify.silences_tables import SilenceRow
from loadwatch_backend.store.relational import MIGRATIONS, Base, Relational, default_url, migrate, open_relational
from sqlalchemy import inspect

TABLES = (AlertRow, DeliveryRow, GateRow, GroupRow, MemberRow, SilenceRow, ToldRow)


@pytest.fixture(params=["sqlite", "mariadb"])
def relational(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Relational]:
    is_sqlite = request.param == "sqlite"
    url: str = default_url(tmp_path) if is_sqlite else request.getfixturevalue("mariadb_url")
    relational = open_relational(url)
    yield relational
    relational.close()


def test_migrations_make_the_tables_that_the_code_expects(relational: Relational) -> None:
    names = {table.__tablename__ for table in TABLES}
    with relational.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = [str(one) for one in compare_metadata(context, Base.metadata)]
    assert [one for one in differences if any(name in one for name in names)] == []
    assert names <= set(inspect(relational.engine).get_table_names())


def test_the_tables_go_as_they_came(tmp_path: Path) -> None:
    relational = open_relational(default_url(tmp_path))
    before = set(inspect(relational.engine).get_table_names())
    with relational.engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")
    assert {table.__tablename__ for table in TABLES}.isdisjoint(inspect(relational.engine).get_table_names())
    migrate(relational.engine)
    assert set(inspect(relational.engine).get_table_names()) == before
    relational.close()
