"""What the collector `mysql_statements` sends; names and labels of the statements are mysqld_exporter's.

Source of the names: mysqld_exporter, collector/perf_schema_events_statements.go.
"""

from collections.abc import Mapping

from loadwatch_formats.metrics.model import describe

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

METRICS = (
    *describe(
        mysql_perf_schema_events_statements_total="Executions of a statement that ended.",
        mysql_perf_schema_events_statements_seconds_total="Time of a statement's executions.",
        mysql_perf_schema_events_statements_lock_time_seconds_total="Time in which a statement waited for locks of "
        "tables.",
        mysql_perf_schema_events_statements_errors_total="Executions that ended with an error.",
        mysql_perf_schema_events_statements_rows_affected_total="Rows that a statement changed.",
        mysql_perf_schema_events_statements_rows_sent_total="Rows that a statement returned.",
        mysql_perf_schema_events_statements_rows_examined_total="Rows that a statement read.",
        mysql_perf_schema_events_statements_tmp_tables_total="Temporary tables that a statement made.",
        mysql_perf_schema_events_statements_tmp_disk_tables_total="Temporary tables on disk that a statement made.",
        mysql_perf_schema_events_statements_no_index_used_total="Executions that read a table without an index.",
        mysql_statements_executed_total="Statements that the server executed by its own count (Com_select and others).",
        mysql_statements_explained_total="Statements among them that are told apart by their text.",
        mysql_statements_coverage_ratio="Share of the last minute's statements that are told apart by their text.",
        mysql_statements_lost_total="Statements that found no room in the server's table of digests.",
        mysql_statements_resets_total="Times that the server's counts began again: restart, TRUNCATE.",
        mysql_statements_reading_seconds="Time that the last reading took.",
        mysql_slow_log_lines_total="Lines of the slow log, by whether they could be read (result).",
        mysql_slow_log_lost_total="Times that the slow log was turned and the rest of the old one was not found.",
        mysql_slow_log_skipped_bytes_total="Bytes of the slow log that were left out, since it grew faster than it was "
        "read.",
        mysql_slow_log_behind_bytes="Bytes of the slow log that are still to be read.",
        mysql_statement_plan_info="How the server runs a statement (plan: steps as JSON, without values), or why that "
        "is not known (reason).",
    ),
)
