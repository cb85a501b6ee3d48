"""Reads MySQL and MariaDB servers, their own variables and status."""
