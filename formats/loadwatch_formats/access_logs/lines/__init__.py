"""Readers of lines, one for each kind of access log."""
