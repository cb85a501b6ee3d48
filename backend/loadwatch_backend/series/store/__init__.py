"""Samples (embedded engine) and relational data: the only package that imports DuckDB."""
