"""A connection to PostgreSQL that does not wait for ever for a server which is there and does not answer.

libpq has a limit for connecting only; a server that was stopped still acknowledges what it is sent.
"""

from typing import Any

import psycopg
from psycopg.abc import RV, PQGen


class BoundedConnection(psycopg.Connection[Any]):
    """Gives up and closes itself when one exchange takes longer than `answer_seconds`."""

    answer_seconds: float | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None or self.answer_seconds is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_seconds)
        except psycopg.errors._WaitTimeout as error:  # pyright: ignore[reportPrivateUsage] - what its `wait` is said to raise
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.answer_seconds:g} s") from error


def connect_psycopg(arguments: "tuple[Any, ...]", parameters: "dict[str, Any]", seconds: float) -> BoundedConnection:
    connection = BoundedConnection.connect(*arguments, connect_timeout=int(seconds), **parameters)
    connection.answer_seconds = seconds
    return connection
