"""The embedded engine: DuckDB on disk, the newest samples also in memory. See docs/architecture/store.md."""
