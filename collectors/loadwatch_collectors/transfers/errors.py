"""Errors of what brings samples to a server.

AgentError
└── TransferError          it cannot go on; the text says what, where, and what to do
"""

from loadwatch_collectors.errors import AgentError


class TransferError(AgentError):
    """The file is none of samples, or the server does not take them."""
