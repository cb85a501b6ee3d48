"""The engine that takes the samples: written to and asked with patience, or given up with plain words."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from loadwatch_formats.backoff import backoff_seconds

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.errors import EngineAnswerError, EngineAwayError, PatternError, QueryLimitError
from loadwatch_backend.series.store.port import Selection
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.posting import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    AgainError,
    post,
    post_halves,
    requests_of,
)
from loadwatch_backend.series.store.prometheus.reading import Budget, read_raw
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples, compressed, encode_labels
from loadwatch_backend.series.store.transfer.parts import Part
from loadwatch_backend.series.store.transfer.state import TransferError

_MOST_ASKED = 10_000_000
"""Samples of one answer: a part's, and others of the same metrics that only the engine has."""
_OUT_OF_ORDER = ("out of order", "out of bounds", "too old", "duplicate sample")
_Answer = TypeVar("_Answer")


class EngineRefusesError(TransferError):
    """The engine will never take some samples as it is configured."""


@dataclass(frozen=True, slots=True)
class Target:
    """Used by one thread."""

    connection: Connection
    request_samples: int
    patience_seconds: float
    tell: Callable[[str], None]
    clock: Callable[[], int]

    def check(self) -> None:
        """Raises TransferError where nobody answers at the address, or refuses us."""
        try:
            self.connection.check()
        except ProblemError as error:
            raise TransferError(
                f"{error.detail}. Nothing was sent; check --to and the LOADWATCH_STORE_ settings"
            ) from error

    def put(self, selection: Selection, *, skip_refused: bool) -> int:
        """Send samples, series by series in rising time; how many were refused and left out.

        Raises:
            EngineRefusesError: it refuses some, and `skip_refused` is not set.
            TransferError: it refuses us, or did not take them in all the time that there is for it.
        """
        refused = 0
        counts = np.diff(selection.offsets)
        series = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)

        def head_of(place: int) -> bytes:
            return encode_labels(selection.labels[place])

        for parts, _ in requests_of(series, selection.timestamps, selection.values, head_of, self.request_samples):
            body = compressed(b"".join(parts))
            reason = self._post(body)
            if reason is None:
                continue
            if not skip_refused:
                raise EngineRefusesError(reason)
            refused += post_halves(body, self._post)
        return refused

    def put_metadata(self, message: bytes) -> None:
        """Send what is known of metrics; an engine that does not want it goes without. Raises as `put`."""
        self._post(compressed(message))

    def read(self, part: Part) -> Sequence[SeriesSamples]:
        """What it has of a part's series.

        Raises:
            TransferError: it does not answer for so long, or cannot.
        """
        return self._patiently(lambda: self._ask(part))

    def _ask(self, part: Part) -> Sequence[SeriesSamples]:
        try:
            return read_raw(self.connection, [part.matchers], part.start_ms, part.end_ms, Budget(_MOST_ASKED))[0]
        except EngineAwayError as error:
            raise AgainError(error.detail, to_mend=error.refused) from error
        except (EngineAnswerError, PatternError, QueryLimitError) as error:
            raise TransferError(f"the engine cannot be read: {error.detail}") from error

    def _post(self, body: bytes) -> str | None:
        return self._patiently(lambda: post(self.connection, body, self.clock()))

    def _patiently(self, attempt: Callable[[], _Answer]) -> _Answer:
        deadline = time.monotonic() + self.patience_seconds
        failures = 0
        while True:
            try:
                answer = attempt()
            except AgainError as error:
                if error.to_mend:
                    raise TransferError(f"{error}. Check the address and the LOADWATCH_STORE_ settings") from error
                wait = max(error.after or 0.0, backoff_seconds(failures, FIRST_PAUSE, LONGEST_PAUSE))
                if time.monotonic() + wait > deadline:
                    raise TransferError(
                        f"{error}. It was waited for, {self.patience_seconds:.0f} s (--patience) and no longer"
                    ) from error
                if not failures:
                    self.tell(f"{error}; waiting for it")
                failures += 1
                time.sleep(wait)
            else:
                if failures:
                    self.tell("the engine answers again")
                return answer


def advice_on(reason: str, oldest_ms: int, now_ms: int) -> str:
    """What to set where an engine refuses samples."""
    if any(text in reason for text in _OUT_OF_ORDER):
        days = max((now_ms - oldest_ms) // 86_400_000 + 1, 1)
        return (
            "Prometheus and Mimir take old samples within a window only: set storage.tsdb.out_of_order_time_window (in"
            f" Mimir limits.out_of_order_time_window) to {days}d or more, and its retention to as much, start it again,"
            " and run this again; or leave out what it refuses with --skip-refused"
        )
    return "Change the engine's limits and run this again, or leave out what it refuses with --skip-refused"
