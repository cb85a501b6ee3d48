"""A run's report in its forms."""

from typing import Any


class ReportService:
    """Safe to use from any thread."""

    render: Any
    render_shared: Any
