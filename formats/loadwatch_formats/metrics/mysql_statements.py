"""Names of what the collector `mysql_statements` sends; names and labels of the statements are mysqld_exporter's.

Source of the names: mysqld_exporter, collector/perf_schema_events_statements.go.
"""

from collections.abc import Mapping

PREFIX = "mysql_perf_schema_events_statements"
CALLS = f"{PREFIX}_total"
SECONDS = f"{PREFIX}_seconds_total"

FIELDS: Mapping[str, str] = {
    "calls": CALLS,
    "seconds": SECONDS,
    "lock_seconds": f"{PREFIX}_lock_time_seconds_total",
    "errors": f"{PREFIX}_errors_total",
    "rows_affected": f"{PREFIX}_rows_affected_total",
    "rows_sent": f"{PREFIX}_rows_sent_total",
    "rows_examined": f"{PREFIX}_rows_examined_total",
    "tmp_tables": f"{PREFIX}_tmp_tables_total",
    "tmp_disk_tables": f"{PREFIX}_tmp_disk_tables_total",
    "no_index_used": f"{PREFIX}_no_index_used_total",
}
"""What is counted of a statement, and the metric's name."""

OTHER = "other"
"""As `digest`: statements beyond the number that is told apart, and those for which the server's table had no room."""
UNSEEN = "prepared"
"""As `digest`: executions of prepared statements whose text was gone before it could be read."""
EXECUTED = "mysql_statements_executed_total"
EXPLAINED = "mysql_statements_explained_total"
COVERAGE = "mysql_statements_coverage_ratio"
