"""Reads files that somebody else made: bounded pieces, archives, tables, patterns."""
