"""Alertmanager's HTTP API, version 2, for amtool, Grafana and other clients of it."""
