"""Counts statements of PostgreSQL by their text, and says what may be missing."""
