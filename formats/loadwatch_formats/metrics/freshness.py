"""What the collector `freshness` sends."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    table_rows="Rows of a table.", table_newest_row_age_seconds="Age of a table's newest row by the database's clock."
)
