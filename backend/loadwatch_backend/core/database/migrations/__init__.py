"""Versions of the tables, and what makes a migration that was cut off go on where it stopped."""
