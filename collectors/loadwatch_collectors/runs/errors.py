"""Errors of the commands that record, import and show runs.

AgentError
└── RunsError              the command cannot go on; the text says what, where, and what to do
    ├── UsageError         what the user gave is wrong
    └── ServerError        the server did not do it
        ├── AwayError      it cannot be reached, or is busy: worth trying again
        └── RefusedError   it said no; the same again will be refused again
"""

from loadwatch_collectors.errors import AgentError


class RunsError(AgentError):
    exit_code = 1


class UsageError(RunsError):
    exit_code = 2


class ServerError(RunsError):
    """The server did not do what was asked."""


class AwayError(ServerError):
    """No answer, or one that says to come back later."""


class RefusedError(ServerError):
    """The server's answer is no.

    Attributes:
        status: HTTP status.
        code: the stable code of the problem document, or an empty text.
    """

    def __init__(self, text: str, *, status: int, code: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
