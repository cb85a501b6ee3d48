"""Everything that can run out, with its limit; the headroom strip."""

from collections.abc import Sequence

from loadwatch_backend.signals.model import Resource, Unit, Words

RESOURCES: Sequence[Resource] = (
    Resource(
        id="db_connections",
        title=Words("Database connections", "DB接続数"),
        help=Words(
            "Connections to the database against max_connections, which all its clients share.",
            "DBへの接続数と、全クライアントが共有するmax_connections。",
        ),
        unit=Unit.COUNT,
        used="mysql_global_status_threads_connected",
        limit="mysql_global_variables_max_connections",
        legend="{{instance}}",
        group="database",
    ),
)
