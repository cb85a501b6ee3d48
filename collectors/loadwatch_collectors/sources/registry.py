"""The one ordered list of sources. A new source is one module in `sources/` and one line here."""

from loadwatch_collectors.collector import Source
from loadwatch_collectors.sources.access_log import ACCESS_LOG
from loadwatch_collectors.sources.aws.cloudwatch import CLOUDWATCH
from loadwatch_collectors.sources.dbstats import DBSTATS
from loadwatch_collectors.sources.freshness import FRESHNESS
from loadwatch_collectors.sources.host import HOST
from loadwatch_collectors.sources.limits import LIMITS
from loadwatch_collectors.sources.log_patterns import LOG_PATTERNS
from loadwatch_collectors.sources.mysql.collector import MYSQL
from loadwatch_collectors.sources.mysql_statements.collector import MYSQL_STATEMENTS
from loadwatch_collectors.sources.nginx import NGINX
from loadwatch_collectors.sources.pgbouncer import PGBOUNCER
from loadwatch_collectors.sources.postgresql import POSTGRESQL
from loadwatch_collectors.sources.postgresql_statements import POSTGRESQL_STATEMENTS
from loadwatch_collectors.sources.pprof import PPROF
from loadwatch_collectors.sources.probe import PROBE
from loadwatch_collectors.sources.process.collector import PROCESS
from loadwatch_collectors.sources.prometheus import PROMETHEUS
from loadwatch_collectors.sources.redis import REDIS
from loadwatch_collectors.sources.sockets import SOCKETS
from loadwatch_collectors.sources.timeouts import TIMEOUTS

SOURCES: tuple[Source, ...] = (
    HOST,
    PROCESS,
    SOCKETS,
    DBSTATS,
    MYSQL,
    MYSQL_STATEMENTS,
    POSTGRESQL,
    POSTGRESQL_STATEMENTS,
    PGBOUNCER,
    NGINX,
    REDIS,
    PROBE,
    FRESHNESS,
    PROMETHEUS,
    PPROF,
    LOG_PATTERNS,
    ACCESS_LOG,
    CLOUDWATCH,
    TIMEOUTS,
    LIMITS,
)


def sources_by_name() -> dict[str, Source]:
    """The sources by the name of their block in loadwatch.yml, in the registry's order."""
    return {source.name: source for source in SOURCES}
