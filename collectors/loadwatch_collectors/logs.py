"""Structured logs of the agent: JSON lines for machines, aligned text for a terminal."""

import logging
import sys
from typing import Any

import structlog


def configure_logs(log_format: str, *, level: int = logging.INFO) -> None:
    """Log to standard error as `json`, `console`, or `auto`: console on a terminal, otherwise JSON.

    What is less than `level` (of `logging`) is left out.
    """
    console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    renderer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if console
        else structlog.processors.JSONRenderer()
    )
    processors: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([] if console else [structlog.processors.format_exc_info]),
        renderer,
    ]
    structlog.configure(
        processors=processors,
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )


# The agent's parts log; on a terminal that shows another program's output, that would only disturb.


def silence_logs() -> None:
    """Suppress log records below `critical`: these commands report to the user themselves."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
