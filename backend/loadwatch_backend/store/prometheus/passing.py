"""A query of a client, passed on to the engine as it is; the answer comes back piece by piece."""

from collections.abc import Iterator, Sequence

from loadwatch_backend.kit.cancellation import Cancellation
from loadwatch_backend.store.errors import EngineAnswerError, EngineAwayError
from loadwatch_backend.store.prometheus.connection import Connection, error_text

_LEAST_ERROR, _ABOVE_ERRORS = 400, 600


def pass_query(
    connection: Connection, path: str, pairs: Sequence[tuple[str, str]], most_bytes: int, cancellation: Cancellation
) -> Iterator[bytes]:
    """The body of the engine's answer to `/api/v1/<path>`.

    Raises:
        EngineAnswerError: the engine's own error, with its status and words.
        EngineAwayError: no answer, or none that is Prometheus'; QueryLimitError: too large; CancelledError.
    """
    with connection.post(f"/api/v1/{path}", pairs, most_bytes, cancellation) as stream:
        if stream.status != 200:
            reason = error_text(stream.read_error())
            if _LEAST_ERROR <= stream.status < _ABOVE_ERRORS and stream.status not in (404, 405, 502, 504):
                raise EngineAnswerError(stream.status, reason)
            raise EngineAwayError(f"the engine answered {stream.status}: {reason}")
        yield from stream.pieces()
