"""Raw samples of the engine: asked in the one way that it knows, bounded while they come."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import cramjam

from loadwatch_backend.kit.cancellation import Cancellation
from loadwatch_backend.store.errors import EngineAnswerError, EngineAwayError, PatternError, QueryLimitError
from loadwatch_backend.store.port import Matcher, Reading
from loadwatch_backend.store.prometheus.answers import export_series, query_series, read_series
from loadwatch_backend.store.prometheus.connection import Connection, Stream, error_text
from loadwatch_backend.store.prometheus.selectors import selector_text, tests_of
from loadwatch_backend.store.prometheus.settings import ReadBy
from loadwatch_backend.store.prometheus.wire import SeriesSamples, encode_read

_SAMPLE_BYTES = 64
"""Of a sample in an answer at most, with its share of the labels."""
_LEAST_ANSWER_BYTES = 64 << 20
_READ_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Read-Version": "0.1.0",
}
_PROBE = '{__name__="loadwatch_probe"}'
_AT_ONCE = 64
"""Selectors of one request."""


@dataclass(slots=True)
class _Budget:
    """Counts what comes against what the store and one who asks may load."""

    most: int
    reading: Reading | None
    taken: int = 0

    def take(self, samples: int) -> None:
        """Raises QueryLimitError when it is too much, and whatever the reading's `reserve` raises."""
        self.taken += samples
        if self.taken > self.most:
            raise QueryLimitError(
                f"the query loads more than {self.most} samples of the engine, which is as many as one may; ask for"
                " fewer series or a shorter range, or raise LOADWATCH_STORE_QUERY_SAMPLES"
            )
        if self.reading is not None:
            over = self.taken > self.reading.most_samples
            # The whole of it raises, because it is more than may be.
            self.reading.reserve(self.taken if over else samples)


class RawReader:
    """Safe to use from any thread."""

    def __init__(self, connection: Connection, read_by: ReadBy, query_samples: int) -> None:
        """`read_by` is not AUTO."""
        self._connection = connection
        self._read_by = read_by
        self._query_samples = query_samples

    def read(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None
    ) -> Iterator[list[list[SeriesSamples]]]:
        """For each of the selectors its series, some selectors at a time; a series may come in several parts.

        Raises:
            QueryLimitError: more than the store may load; and what `reading` raises.
            PatternError: a regular expression that the engine does not take.
            EngineAwayError: no usable answer; CancelledError: nobody waits for it.
        """
        budget = _Budget(self._query_samples, reading)
        cancellation = Cancellation() if reading is None else reading.cancellation
        size = 1 if self._read_by is ReadBy.QUERY else _AT_ONCE
        for first in range(0, len(wanted), size):
            some = wanted[first : first + size]
            match self._read_by:
                case ReadBy.EXPORT:
                    yield self._export(some, start_ms, end_ms, budget, cancellation)
                case ReadBy.READ:
                    yield self._remote_read(some, start_ms, end_ms, budget, cancellation)
                case _:
                    yield [self._query(some[0], start_ms, end_ms, budget, cancellation)]

    @property
    def _most_bytes(self) -> int:
        return max(self._query_samples * _SAMPLE_BYTES, _LEAST_ANSWER_BYTES)

    def _export(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, budget: _Budget, cancel: Cancellation
    ) -> list[list[SeriesSamples]]:
        pairs = [("match[]", selector_text(one)) for one in wanted]
        pairs += [("start", _seconds(start_ms)), ("end", _seconds(end_ms)), ("reduce_mem_usage", "1")]
        with self._connection.post("/api/v1/export", pairs, self._most_bytes, cancel) as stream:
            found = _counted(export_series(_succeeded(stream).pieces()), budget)
            if len(wanted) == 1:
                return [list(found)]
            tests = [tests_of(one) for one in wanted]
            result: list[list[SeriesSamples]] = [[] for _ in wanted]
            for series in found:
                for test, group in zip(tests, result, strict=True):
                    if test(series.labels):
                        group.append(series)
            return result

    def _remote_read(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, budget: _Budget, cancel: Cancellation
    ) -> list[list[SeriesSamples]]:
        body = bytes(cramjam.snappy.compress_raw(encode_read(wanted, start_ms, end_ms)))
        with self._connection.post_bytes("/api/v1/read", body, _READ_HEADERS, self._most_bytes, cancel) as stream:
            answer = b"".join(_succeeded(stream).pieces())
        result = [list(_counted(group, budget)) for group in read_series(answer, self._most_bytes)]
        if len(result) != len(wanted):
            raise EngineAwayError(f"the engine answered {len(result)} of {len(wanted)} queries of a remote read")
        return result

    def _query(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, budget: _Budget, cancel: Cancellation
    ) -> list[SeriesSamples]:
        # One millisecond more, because Prometheus 3 leaves out the sample at the beginning of a range.
        text = f"{selector_text(matchers)}[{end_ms - start_ms + 1}ms]"
        pairs = [("query", text), ("time", _seconds(end_ms))]
        with self._connection.post("/api/v1/query", pairs, self._most_bytes, cancel) as stream:
            body = b"".join(_succeeded(stream).pieces())
        found: list[SeriesSamples] = []
        for series in _counted(query_series(body), budget):
            inside = series.timestamps >= start_ms
            found.append(SeriesSamples(series.labels, series.timestamps[inside], series.values[inside]))
        return found


def choose_read_by(connection: Connection) -> ReadBy:
    """The way of reading that the engine knows.

    Raises:
        EngineAwayError: it does not answer, or refuses us.
    """
    with connection.post("/api/v1/export", [("match[]", _PROBE)], 1 << 20) as stream:
        if stream.status == 200 and not b"".join(stream.pieces()).lstrip().startswith(b"<"):
            return ReadBy.EXPORT
    body = bytes(cramjam.snappy.compress_raw(b""))
    with connection.post_bytes("/api/v1/read", body, _READ_HEADERS, 1 << 20, None) as stream:
        if stream.status == 200 and "protobuf" in stream.content_type:
            return ReadBy.READ
    return ReadBy.QUERY


def _counted(found: Iterable[SeriesSamples], budget: _Budget) -> Iterator[SeriesSamples]:
    for series in found:
        budget.take(len(series.timestamps))
        yield series


def _succeeded(stream: Stream) -> Stream:
    """Raises what an error of the engine means to one who reads."""
    if stream.status == 200:
        return stream
    reason = error_text(stream.read_error())
    if stream.status in (400, 422):
        if "regexp" in reason or "regex" in reason:
            raise PatternError(f"the engine does not take a regular expression of the query: {reason}")
        raise EngineAnswerError(stream.status, f"the engine does not take the query: {reason}")
    raise EngineAwayError(f"the engine answered {stream.status} to a question for samples: {reason}")


def _seconds(time_ms: int) -> str:
    return f"{time_ms // 1000}.{time_ms % 1000:03d}"
