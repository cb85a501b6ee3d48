"""What the list of runs shows and filters by beside a run: limits, the course of p95, parameters as numbers.

Revision: 0014
"""

import zlib
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op
from loadwatch_backend.core.text import parse_number
from sqlalchemy.dialects.mysql import LONGTEXT

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
PARAMETERS = sa.table("run_parameters", *map(sa.column, ("run_id", "name", "value", "number")))
RUNS = sa.table("runs", *map(sa.column, ("id", "limits")))
ANALYSES = sa.table("run_analyses", *map(sa.column, ("run_id", "document")))


def upgrade() -> None:
    op.add_column("runs", sa.Column("p95_sparkline", LONG_TEXT, nullable=True))
    op.add_column("runs", sa.Column("limits", LONG_TEXT, nullable=True))
    op.add_column("run_parameters", sa.Column("number", sa.Double(), nullable=True))
    op.create_index("ix_run_parameters_name_number", "run_parameters", ["name", "number"])
    _fill_numbers(op.get_bind())
    _fill_limits(op.get_bind())


def downgrade() -> None:
    op.drop_index("ix_run_parameters_name_number", "run_parameters")
    op.drop_column("run_parameters", "number")
    op.drop_column("runs", "limits")
    op.drop_column("runs", "p95_sparkline")


def _fill_numbers(connection: sa.Connection) -> None:
    for (text,) in connection.execute(sa.select(PARAMETERS.c.value).distinct()).all():
        number = parse_number(text)
        if number is not None:
            connection.execute(sa.update(PARAMETERS).where(PARAMETERS.c.value == text).values(number=number))


def _fill_limits(connection: sa.Connection) -> None:
    """One by one: the analyses of many runs together may be more than there is memory for."""
    for (run_id,) in connection.execute(sa.select(ANALYSES.c.run_id)).all():
        packed = connection.execute(sa.select(ANALYSES.c.document).where(ANALYSES.c.run_id == run_id)).scalar_one()
        try:
            limits = _limits(orjson.loads(zlib.decompress(packed)).get("findings"))
        except (zlib.error, ValueError):
            # One that is damaged is analysed anew by the next reader, and stops no upgrade.
            continue
        written = orjson.dumps(limits).decode()
        connection.execute(sa.update(RUNS).where(RUNS.c.id == run_id).values(limits=written))


def _limits(said: "dict[str, Any] | None") -> "dict[str, Any]":
    """As `runs.registry.limits` wrote it when this migration was made."""
    if said is None:
        return {"state": "unknown", "found": []}
    fields = ("id", "title", "certainty", "labels", "from_ms")
    found = [{name: one[name] for name in fields} for one in said["findings"] if one["severity"] != "info"]
    state = "found" if found else "cannot-tell" if said["state"] == "cannot-tell" else "none"
    return {"state": state, "found": found[:20]}
