"""Targets in the shape of Prometheus' HTTP API."""
