"""Comparison, sweep and trend over the registry of runs."""

from typing import Any


class CompareService:
    """Safe to use from any thread."""

    metrics: Any
    compare: Any
    sweep: Any
    trend: Any
