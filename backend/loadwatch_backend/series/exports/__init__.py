"""Samples out again, as OpenMetrics text."""
