"""Names of what the collector `postgresql_statements` sends; names are postgres_exporter's, which has the text apart.

Source of the names: postgres_exporter, collector/pg_stat_statements.go.
"""

from collections.abc import Mapping

PREFIX = "pg_stat_statements"
CALLS = f"{PREFIX}_calls_total"
FIELDS: Mapping[str, str] = {"calls": CALLS, "seconds": f"{PREFIX}_seconds_total", "rows_sent": f"{PREFIX}_rows_total"}
"""What is counted of a statement, and the metric's name."""
LABELS = ("datname", "queryid", "query")
EXECUTED = "pg_statements_transactions_total"
EXPLAINED = "pg_statements_calls_total"
COVERAGE = "pg_statements_coverage_ratio"
