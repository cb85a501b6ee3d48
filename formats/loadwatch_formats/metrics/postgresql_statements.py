"""What the collector `postgresql_statements` sends; names are postgres_exporter's, which has the text apart.

Source of the names: postgres_exporter, collector/pg_stat_statements.go.
"""

from collections.abc import Mapping

from loadwatch_formats.metrics.model import describe

PREFIX = "pg_stat_statements"
CALLS = f"{PREFIX}_calls_total"
FIELDS: Mapping[str, str] = {
    "calls": CALLS,
    "seconds": f"{PREFIX}_seconds_total",
    "rows_sent": f"{PREFIX}_rows_total",
}
"""What is counted of a statement, and the metric's name."""
LABELS = ("datname", "queryid", "query")
EXECUTED = "pg_statements_transactions_total"
EXPLAINED = "pg_statements_calls_total"
COVERAGE = "pg_statements_coverage_ratio"

METRICS = (
    *describe(
        pg_stat_statements_calls_total="Executions of a statement that ended.",
        pg_stat_statements_seconds_total="Time of a statement's executions.",
        pg_stat_statements_rows_total="Rows that a statement returned or changed.",
        pg_statements_transactions_total="Transactions that the server ended by its own count (pg_stat_database).",
        pg_statements_calls_total="Executions that pg_stat_statements counted, all statements together.",
        pg_statements_coverage_ratio="At most this share of the last minute's statements was counted: a transaction "
        "has one or more.",
        pg_statements_resets_total="Times that the server's counts began again (pg_stat_statements_reset, a crash).",
        pg_statements_evicted_total="Times that the server forgot its rarest statements to have room for others.",
        pg_statements_reading_seconds="Time that the last reading took.",
        pg_statement_plan_info="How the server runs a statement (plan: steps as JSON, without values), or why that "
        "is not known (reason).",
    ),
)
