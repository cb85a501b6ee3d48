"""The agent's parts log; on a terminal that shows another program's output, that would only disturb."""

import logging

import structlog


def silence_logs() -> None:
    """Let nothing through below `critical`: these commands say themselves what the user must know."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
