"""Follows vegeta's own stream (`vegeta attack`)."""

from collections.abc import Sequence
from typing import NoReturn

from loadwatch_formats.gob import GobError
from loadwatch_formats.vegeta import VegetaStream

from loadwatch_collectors.runs.streams.event import RequestEvent, StreamError
from loadwatch_collectors.runs.streams.vegeta_csv import vegeta_outcome


class VegetaGobReader:
    """Requests from a growing stream."""

    def __init__(self) -> None:
        self._results = VegetaStream(_refuse)

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        """See StreamReader."""
        try:
            return [
                RequestEvent(
                    hit.time_ns // 1_000_000,
                    hit.latency_ns / 1e9,
                    vegeta_outcome(hit.code, hit.error),
                    hit.bytes_in,
                    hit.bytes_out,
                )
                for hit in self._results.feed(data)
            ]
        except GobError as error:
            _refuse(self._results.messages.offset, str(error))


def _refuse(offset: int, text: str) -> NoReturn:
    raise StreamError(f"byte {offset}: {text}; this is not vegeta's stream")
