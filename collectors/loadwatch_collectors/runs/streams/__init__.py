"""Incremental readers of results that are still being written."""
