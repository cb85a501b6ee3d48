"""Counts statements of MySQL and MariaDB by their text, and says how many of all it could tell apart."""
