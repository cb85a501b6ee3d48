from pathlib import Path

from alembic import command
from alembic.config import Config
from loadwatch_backend.alerting.notify.groups.tables import (
    AlertRow,
    GateRow,
    GroupRow,
    MemberRow,
    NotifiedRow,
    SilenceRow,
)
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.core.database.relational import default_url, migrate, open_relational
from loadwatch_backend.core.database.revision import MIGRATIONS
from sqlalchemy import inspect

TABLES = (AlertRow, DeliveryRow, GateRow, GroupRow, MemberRow, SilenceRow, NotifiedRow)


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
