"""Backups of a server, received and kept."""
