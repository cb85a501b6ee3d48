"""The engine that takes the samples: written to and asked with patience, or given up with plain words."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from loadwatch_backend.store.embedded.settings import HOUR_MS
from loadwatch_backend.store.errors import EngineAnswerError, EngineAwayError, PatternError, QueryLimitError
from loadwatch_backend.store.port import Selection
from loadwatch_backend.store.prometheus.connection import Connection
from loadwatch_backend.store.prometheus.posting import (
    OURS_TO_MEND,
    WRITE_HEADERS,
    AgainError,
    halves_of,
    is_refused,
)
from loadwatch_backend.store.prometheus.reading import RawReader
from loadwatch_backend.store.prometheus.settings import ReadBy
from loadwatch_backend.store.prometheus.wire import (
    SeriesSamples,
    decode_series,
    encode_labels,
    encode_series,
    field,
    fields,
)
from loadwatch_backend.store.prometheus.writer import compressed
from loadwatch_backend.store.transfer.errors import EngineRefusesError, TransferError
from loadwatch_backend.store.transfer.parts import Part

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 30.0
_WORTH_WAITING = frozenset({0, 408, 425, 429})
_REQUEST_BYTES = 4 << 20
_ASKED_SAMPLES = 500_000
"""Of one question to the engine, by what we have in its span."""
_MOST_HALVES = 64
_OUT_OF_ORDER = ("out of order", "out of bounds", "too old", "duplicate sample")
_Answer = TypeVar("_Answer")


class Target:
    """Used by one thread."""

    def __init__(
        self,
        connection: Connection,
        read_by: ReadBy,
        *,
        request_samples: int,
        patience_seconds: float,
        tell: Callable[[str], None],
        clock: Callable[[], int],
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._reader = RawReader(connection, read_by, 20 * _ASKED_SAMPLES)
        self.shows_markers = read_by is not ReadBy.QUERY
        self._request_samples = request_samples
        self._patience_seconds = patience_seconds
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._monotonic = monotonic

    def put(self, selection: Selection, *, skip_refused: bool) -> int:
        """Send samples, series by series in rising time; how many were refused and left out.

        Raises:
            EngineRefusesError: it refuses some, and `skip_refused` is not set.
            TransferError: it refuses us, or did not take them in all the time that there is for it.
        """
        refused = 0
        for series in _requests(selection, self._request_samples):
            reason = self._post(b"".join(series))
            if reason is None:
                continue
            if not skip_refused:
                raise EngineRefusesError(reason)
            refused += self._put_halves([bytes(content) for one in series for _, content in fields(one)])
        return refused

    def put_metadata(self, message: bytes) -> None:
        """Send what is known of metrics; an engine that does not want it goes without. Raises as `put`."""
        self._post(message)

    def read(self, part: Part, hour_ms: int) -> Iterator[list[SeriesSamples]]:
        """What it has of a part's series, in spans of the hour that do not overlap.

        Raises:
            TransferError: it does not answer for so long, or cannot.
        """
        spans = min(-(-part.samples // _ASKED_SAMPLES), HOUR_MS)
        edges = np.linspace(hour_ms, hour_ms + HOUR_MS, max(spans, 1) + 1).astype(np.int64).tolist()
        for start_ms, end_ms in pairwise(edges):
            yield self._patiently(lambda start=start_ms, end=end_ms: self._ask(part, start, end - 1))

    def _ask(self, part: Part, start_ms: int, end_ms: int) -> list[SeriesSamples]:
        try:
            return [one for groups in self._reader.read([part.matchers], start_ms, end_ms, None) for one in groups[0]]
        except EngineAwayError as error:
            if error.refused:
                raise TransferError(error.detail) from error
            raise AgainError(error.detail) from error
        except (EngineAnswerError, PatternError, QueryLimitError) as error:
            raise TransferError(f"the engine cannot be read: {error.detail}") from error

    def _post(self, message: bytes) -> str | None:
        """Why the engine refuses it; None where it has it."""
        body = compressed(message)

        def attempt() -> str | None:
            try:
                answer = self._connection.write(body, WRITE_HEADERS)
            except EngineAwayError as error:
                if error.refused:
                    raise TransferError(error.detail) from error
                raise AgainError(error.detail) from error
            return f"{answer.status}: {answer.reason}" if is_refused(answer, self._clock()) else None

        return self._patiently(attempt)

    def _patiently(self, attempt: Callable[[], _Answer]) -> _Answer:
        deadline = self._monotonic() + self._patience_seconds
        pause, told = _FIRST_PAUSE, False
        while True:
            try:
                answer = attempt()
            except AgainError as error:
                if error.status in OURS_TO_MEND and error.status not in _WORTH_WAITING:
                    raise TransferError(f"{error}. Check the address and the LOADWATCH_STORE_ settings") from error
                wait = max(error.after or 0.0, pause)
                if self._monotonic() + wait > deadline:
                    raise TransferError(
                        f"{error}. It was waited for, {self._patience_seconds:.0f} s (--patience) and no longer"
                    ) from error
                if not told:
                    self._tell(f"{error}; waiting for it")
                told, pause = True, min(pause * 2, _LONGEST_PAUSE)
                self._sleep(wait)
            else:
                if told:
                    self._tell("the engine answers again")
                return answer

    def _put_halves(self, series: list[bytes]) -> int:
        waiting, left, refused = [series], _MOST_HALVES, 0
        while waiting:
            some = waiting.pop()
            halves = halves_of(some) if left > 0 else []
            if not halves:
                refused += sum(len(decode_series(memoryview(one)).timestamps) for one in some)
            for half in halves:
                left -= 1
                if self._post(b"".join(field(1, one) for one in half)) is not None:
                    waiting.append(half)
        return refused


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


def _requests(selection: Selection, most_samples: int) -> Iterator[list[bytes]]:
    """The `timeseries` fields of one request after another."""
    first, count = 0, len(selection.timestamps)
    offsets = selection.offsets
    while first < count:
        last = min(first + most_samples, count)
        low = int(np.searchsorted(offsets, first, side="right")) - 1
        high = int(np.searchsorted(offsets, last, side="left"))
        borders = np.clip(offsets[low : high + 1], first, last)
        counts: list[int] = np.diff(borders).tolist()
        heads = [encode_labels(labels) for labels in selection.labels[low:high]]
        parts = encode_series(heads, counts, selection.timestamps[first:last], selection.values[first:last])
        yield from _by_bytes([part for part, samples in zip(parts, counts, strict=True) if samples])
        first = last


def _by_bytes(parts: Sequence[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for part in parts:
        if group and size + len(part) > _REQUEST_BYTES:
            yield group
            group, size = [], 0
        group.append(part)
        size += len(part)
    if group:
        yield group
