"""Locust's statistics, history and report."""
