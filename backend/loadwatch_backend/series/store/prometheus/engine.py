"""The second engine: `loadwatch_backend.series.store.port.SampleStore` over HTTP, with a queue on disk before it."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np
import orjson
import structlog

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.series.store.embedded.block import F64, I64, LATEST_MS, U32, Cut, cut_block, series_spans
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.series.store.errors import (
    EngineAnswerError,
    EngineAwayError,
    EngineSettingsError,
    SeriesLimitError,
    StoreWriteError,
)
from loadwatch_backend.series.store.port import (
    Labels,
    Matcher,
    MetricMetadata,
    Reading,
    Selection,
    StoreStatistics,
)
from loadwatch_backend.series.store.prometheus.connection import Connection, RemoteSettings, place_of
from loadwatch_backend.series.store.prometheus.durable_queue import DurableQueue, replace_file
from loadwatch_backend.series.store.prometheus.posting import Sender, requests_of
from loadwatch_backend.series.store.prometheus.reading import Budget, is_of_self, read_raw, selector_text
from loadwatch_backend.series.store.prometheus.recent import Recent, join
from loadwatch_backend.series.store.prometheus.wire import (
    SeriesSamples,
    WireError,
    compressed,
    decode_request,
    encode_labels,
    encode_metadata,
    encode_series,
)
from loadwatch_backend.series.store.write_queue import Listeners, Work, WriteQueue, columns_of, newest_sent

log = structlog.get_logger(__name__)

MOST_BYTES = 256 << 20
QUEUE_DIRECTORY = "engine-queue"
_CLOSE_SECONDS = 3.0
_FORGET_SECONDS = 600.0
_SILENT_MS = 3_600_000
_SHOWN_AFTER_MS = 30_000
"""After the time of a sample: it comes within seconds, and VictoriaMetrics shows a new series 10 s later."""
_ALONE_SECONDS = 900.0
"""Without news of other servers for so long, nobody else is taken to write to the engine."""
_AHEAD_MS = 60_000
"""By which the clock of a sender may be ahead of ours."""
_SAMPLE_BYTES = 20
_COMMIT_SAMPLES = 200_000
_CACHED_HEADS = 200_000
_METADATA_SECONDS = 60.0
_LATEST_ASKED_MS = 4_102_444_800_000
"""The year 2100: a time that every engine accepts."""
_NEWS_SECONDS = 1.0
_NEWS_BYTES = 1 << 20
_NEWEST = "loadwatch_newest_sample_timestamp_seconds"
"""A series in which each server writes, beside its samples, the time of the newest.

So a page that is open here shows samples that came in elsewhere, and rules hear of them. What reaches the engine past
Loadwatch is heard of by the series `up`.
"""
_UP = 'label_replace(max(timestamp(up)), "of", "up", "", "")'
_AT_START = f'label_replace(max({_UP} or max(last_over_time({_NEWEST}[15d]))), "of", "up", "", "")'
_NEWS = f"{_UP} or max(max_over_time({_NEWEST}{{instance!=%s}}[2m] offset -1m))"
"""What others say, whose clocks may differ from the engine's."""


class KnownMetadata:
    """What senders said of their metrics, in a file of ours: most engines forget what remote write says of them.

    Kept by one thread, read by any.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: Mapping[str, MetricMetadata] = {}
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            self.entries = metadata_of(orjson.loads(path.read_bytes()))
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("what senders said of their metrics cannot be read; they will say it again", error=str(error))

    def keep(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Remember more of it, on disk when this returns; raises OSError when the disk refuses."""
        entries = {**self.entries, **metadata}
        replace_file(self._path, orjson.dumps({name: [entry] for name, entry in entries.items()}))
        self.entries = entries


def metadata_of(document: Any) -> dict[str, MetricMetadata]:
    """Of Prometheus' shape: name to a list of type, help and unit, of which the first counts.

    Raises:
        ValueError: it has another shape.
    """
    try:
        return {
            str(name): MetricMetadata(
                type=str(entries[0].get("type") or "unknown"),
                help=str(entries[0].get("help") or ""),
                unit=str(entries[0].get("unit") or ""),
            )
            for name, entries in document.items()
            if entries
        }
    except (AttributeError, TypeError, KeyError) as error:
        raise ValueError("no metadata") from error


class PrometheusStore:
    def __init__(self, settings: RemoteSettings, clock: Callable[[], int], lock: int, connection: Connection) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = lock
        self._connection = connection
        directory = settings.data_directory / QUEUE_DIRECTORY
        self._queue = DurableQueue(directory, clock)
        self._index = SeriesIndex(settings.series_limit, settings.label_bytes)
        self._recent = Recent(
            settings.recent_bytes, lambda block: self._index.touch(block.series, *series_spans(block))
        )
        self._metadata = KnownMetadata(directory / "metadata.json")
        self._theirs: Mapping[str, MetricMetadata] = {}
        self._theirs_until = 0.0
        self._waiting = WriteQueue(settings.queue_samples, _COMMIT_SAMPLES, self._behind)
        self._listeners = Listeners()
        self.append, self.resolve = self._waiting.append, self._index.resolve
        self.on_commit, self.on_touch = self._listeners.on_commit, self._listeners.on_touch
        self._head_of = lru_cache(_CACHED_HEADS)(self._head)
        self._told_ms = self._others_ms = 0
        """When we told others of our newest sample; the newest that another server told of."""
        self._heard_ms: int | None = None
        self._hearing = threading.Lock()
        self._others_wrote = time.monotonic()
        self._writer = threading.Thread(target=self._write_all, name="store-writer", daemon=True)
        self._sender = Sender(settings, connection, self._queue, self._recent, clock, self._forget_silent)
        self._news_query = _AT_START
        self._news = Periodic("store-news", self._ask_for_news, _NEWS_SECONDS)
        self._forgot = time.monotonic()
        self._closed = False
        self._remember_queued()
        self._writer.start()
        self._sender.start()
        if settings.instance:
            self._news.start()

    # Writing --------------------------------------------------------------------------------------------------

    def generation(self) -> int:
        return self._index.generation

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        news = {name: entry for name, entry in metadata.items() if self._metadata.entries.get(name) != entry}
        if news:
            self._waiting.put_metadata(news)

    # Reading --------------------------------------------------------------------------------------------------

    def select(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> Selection:
        """See `Reader.select`; the newest samples from memory alone, where nobody else writes to the engine."""
        if start_ms >= self._complete_ms():
            own = self._own(matchers, start_ms, min(end_ms, LATEST_MS), Budget(self._settings.query_samples, reading))
            return join((), *own)
        return self.select_many([matchers], start_ms, end_ms, reading)[0]

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """See `ManySelector.select_many`.

        While the engine is away, what the server says of itself comes from memory, so that rules can tell of it.
        """
        start_ms, end_ms = max(start_ms, 0), min(end_ms, LATEST_MS)
        if start_ms > end_ms:
            return [join((), (), ()) for _ in wanted]
        # Ours before the engine's: what leaves the memory meanwhile has been with the engine for long.
        most = self._settings.query_samples
        # Asked in any case: what is told while the engine is away must not look like all that there is.
        their_end_ms = max(start_ms, min(end_ms, self._complete_ms()))
        own = [self._own(matchers, start_ms, end_ms, Budget(most, reading)) for matchers in wanted]
        of_self = all(map(is_of_self, wanted))
        theirs: list[list[SeriesSamples]] = [[] for _ in wanted]
        if not (of_self and self._sender.fault):
            try:
                theirs = read_raw(self._connection, wanted, start_ms, their_end_ms, Budget(most, reading))
            except EngineAwayError:
                if not of_self:
                    raise
        return [join(parts, *one) for parts, one in zip(theirs, own, strict=True)]

    select_newest = select_many
    """See `ManySelector.select_newest`; all samples of the span, of which the newest are the last."""

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        known = self._index.labels(self._known(matchers, start_ms, end_ms).tolist())
        there = {frozenset(labels.items()) for labels in known}
        rows = self._list("series", matchers or [()], start_ms, end_ms)
        if not all(isinstance(row, dict) for row in rows):
            raise EngineAwayError("the engine's list of series cannot be read")
        found = sorted(({str(k): str(v) for k, v in row.items()} for row in rows), key=lambda one: sorted(one.items()))
        return [*known, *(labels for labels in found if frozenset(labels.items()) not in there)]

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        known = self._index.label_names(self._known(matchers, start_ms, end_ms))
        return sorted({*known, *map(str, self._list("labels", matchers, start_ms, end_ms))})

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        known = self._index.label_values(name, self._known(matchers, start_ms, end_ms))
        path = f"label/{quote(name, safe='')}/values"
        return sorted({*known, *map(str, self._list(path, matchers, start_ms, end_ms))})

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """See `Reader.metadata`: the engine's as of a minute ago at most, and over it what our senders said."""
        now = time.monotonic()
        if now >= self._theirs_until:
            self._theirs_until = now + _METADATA_SECONDS
            try:
                self._theirs = metadata_of(self._connection.get("metadata", [], MOST_BYTES) or {})
            except (ProblemError, ValueError) as error:
                log.debug("the engine's metadata cannot be read", reason=str(error))
        return {**self._theirs, **self._metadata.entries}

    def newest_ms(self) -> int | None:
        return self._heard_ms

    def query(self, path: str, pairs: Sequence[tuple[str, str]], cancellation: Cancellation) -> Iterator[bytes]:
        with self._connection.post(f"/api/v1/{path}", pairs, self._settings.answer_bytes, cancellation) as stream:
            if (status := stream.response.status) != 200:
                reason = stream.error()
                if 400 <= status < 600 and status not in (404, 405, 502, 504):
                    raise EngineAnswerError(status, reason)
                raise EngineAwayError(f"the engine answered {status}: {reason}")
            yield from stream.pieces()

    def shown_ms(self, wanted: Sequence[Sequence[Matcher]]) -> int:
        shown_ms = (self._queue.oldest_ms or self._clock()) - _SHOWN_AFTER_MS
        # Of what others alone send the engine's raw samples tell no more than its ranges do.
        return shown_ms if len(self._known(wanted, shown_ms, LATEST_MS)) else LATEST_MS

    # Watching -------------------------------------------------------------------------------------------------

    def statistics(self) -> StoreStatistics:
        counts, sender = self._waiting.counts, self._sender
        oldest_ms = self._queue.oldest_ms
        waited_ms = 0 if oldest_ms is None else max(self._clock() - oldest_ms, 0)
        settings = self._settings
        return StoreStatistics(
            series=len(self._index),
            samples_appended_total=counts.samples,
            commits_total=counts.commits,
            failed_commits_total=counts.failed_commits,
            commits_fail=counts.is_failing,
            busy_rejections_total=counts.busy,
            queued_samples=self._waiting.samples,
            head_bytes=self._recent.nbytes,
            head_blocks=self._recent.slots,
            engine_queue_samples=self._queue.samples,
            engine_queue_bytes=self._queue.nbytes,
            engine_queue_seconds=waited_ms / 1000,
            engine_queue_ratio=max(self._queue.nbytes / settings.queue_bytes, waited_ms / settings.queue_ms),
            engine_delivered_samples_total=sender.delivered_samples,
            engine_dropped_samples_total=sender.dropped_samples,
            engine_retries_total=sender.retries,
        )

    def keep_pinned(self, windows: Callable[[], Sequence[tuple[int, int]]]) -> None:
        """See `SampleStore.keep_pinned`: how long samples are kept is the engine's matter, so nothing is pinned."""

    def close(self) -> None:
        """See `SampleStore.close`; what the engine has not taken waits on disk for the next start."""
        if self._closed:
            return
        self._closed = True
        if self._settings.instance:
            self._news.close()
        self._waiting.close()
        self._writer.join()
        self._sender.close(_CLOSE_SECONDS)
        self._queue.close()
        self._connection.close()
        os.close(self._lock)

    # Within: writing ------------------------------------------------------------------------------------------

    def _behind(self) -> str | None:
        settings, queue = self._settings, self._queue
        if queue.nbytes >= settings.queue_bytes:
            return (
                f"the engine of the samples does not keep up: {queue.nbytes} bytes wait for it on disk, and at most"
                f" {settings.queue_bytes} may"
            )
        oldest_ms = queue.oldest_ms
        if oldest_ms is not None and self._clock() - oldest_ms >= settings.queue_ms:
            return (
                "the engine of the samples does not keep up: the oldest samples on disk have waited for"
                f" {(self._clock() - oldest_ms) / 3_600_000:.1f} h"
            )
        return None

    def _write_all(self) -> None:
        while (work := self._waiting.take()) is not None:
            self._write(work)

    def _write(self, work: Work) -> None:
        try:
            series, timestamps, values = columns_of(work.taken)
            series = self._index.revive(series)
            self._index.take_pending()  # Which series are new is of no interest here.
            if work.metadata:
                self._metadata.keep(work.metadata)
            sent_ms = newest_sent(work.taken)
            besides = encode_metadata(work.metadata)
            if sent_ms is not None:
                besides += self._announcement(max(sent_ms, self._heard_ms or 0))
            bodies = self._bodies(series, timestamps, values, besides)
            last = self._queue.append(bodies) if bodies else self._queue.last
        except Exception as error:
            log.error("samples could not be queued", error=str(error), requests=len(work.taken))
            reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            self._waiting.fail(work, StoreWriteError(f"the samples could not be written to disk: {reason}"))
            return
        self._recent.add(last, series, timestamps, values)
        self._waiting.finish(work, len(series))
        if sent_ms is not None:
            self._heard(sent_ms)
        if len(series):
            self._listeners.touched(lambda: self._index.metrics(series))

    def _announcement(self, newest_ms: int) -> bytes:
        """For other servers, at most once a second."""
        now_ms = self._clock()
        if not self._settings.instance or abs(now_ms - self._told_ms) < 1000:
            return b""
        self._told_ms = now_ms
        head = encode_labels({"__name__": _NEWEST, "job": "loadwatch", "instance": self._settings.instance})
        return encode_series([head], [1], np.array([now_ms], np.int64), np.array([newest_ms / 1000]))[0]

    def _heard(self, newest_ms: int) -> None:
        with self._hearing:
            heard_ms = self._heard_ms = newest_ms if self._heard_ms is None else max(self._heard_ms, newest_ms)
        self._listeners.committed(heard_ms, self._clock())

    def _bodies(self, series: U32, timestamps: I64, values: F64, besides: bytes) -> list[tuple[bytes, int]]:
        """Requests with their number of samples, series by series in rising time; of repeated ones the last."""
        order = np.lexsort((timestamps, series))
        series, timestamps, values = series[order], timestamps[order], values[order]
        last = np.ones(len(series), np.bool_)
        last[:-1] = (series[1:] != series[:-1]) | (timestamps[1:] != timestamps[:-1])
        series, timestamps, values = series[last], timestamps[last], values[last]
        bodies: list[tuple[bytes, int]] = []
        for parts, samples in requests_of(series, timestamps, values, self._head_of, self._settings.request_samples):
            bodies.append((compressed(b"".join(parts) + (b"" if bodies else besides)), samples))
        if besides and not bodies:
            bodies.append((compressed(besides), 0))
        return bodies

    def _head(self, series_id: int) -> bytes:
        return encode_labels(self._index.labels([series_id])[0])

    # Within: reading ------------------------------------------------------------------------------------------

    def _known(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> Ids:
        self._recent.blocks()  # So that the index knows of the newest samples.
        return self._index.match_any(matchers, start_ms, end_ms)

    def _complete_ms(self) -> int:
        """The time from which the memory has everything that the engine has or will have."""
        if time.monotonic() - self._others_wrote < _ALONE_SECONDS:
            return LATEST_MS
        return self._clock() - int(self._recent.reach_seconds * 1000) + _AHEAD_MS

    def _own(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, budget: Budget
    ) -> tuple[list[Labels], list[Cut]]:
        blocks = self._recent.blocks()
        ids = self._index.match(matchers, start_ms, end_ms)
        if not len(ids):
            return [], []
        cuts = [
            cut_block(block, ids, start_ms, end_ms)
            for block in blocks
            if block.first_ms <= end_ms and block.last_ms >= start_ms
        ]
        budget.take(sum(int((cut.stops - cut.starts).sum()) for cut in cuts))
        return self._index.labels(ids.tolist()), cuts

    def _list(self, path: str, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Any]:
        pairs = [("match[]", selector_text(one)) for one in wanted]
        pairs += [("start", f"{max(start_ms, 0) / 1000:.3f}"), ("end", f"{min(end_ms, _LATEST_ASKED_MS) / 1000:.3f}")]
        found = self._connection.get(path, pairs, self._settings.answer_bytes)
        if not isinstance(found, list | None):
            raise EngineAwayError(f"the engine's answer to {path} cannot be read")
        return cast("list[Any]", found or [])

    def _ask_for_news(self) -> None:
        # VictoriaMetrics shows the newest half minute to those alone who want nothing out of its cache.
        found = self._connection.get("query", [("query", self._news_query), ("nocache", "1")], _NEWS_BYTES)
        self._news_query = _NEWS % orjson.dumps(self._settings.instance).decode()
        newest = {"up": 0, "": 0}
        with suppress(ValueError, KeyError, TypeError, IndexError, OverflowError):
            for one in found["result"]:
                newest[one["metric"].get("of", "")] = int(float(one["value"][1]) * 1000 + 0.5)
        if newest[""] <= self._others_ms and newest["up"] <= (self._heard_ms or 0):
            return
        # Another one took samples in, of any metric that there is now.
        self._others_ms = max(newest[""], self._others_ms)
        self._others_wrote = time.monotonic()
        self._heard(max(newest.values()))
        now_ms = self._clock()
        names = "label/__name__/values"
        self._listeners.touched(lambda: frozenset(map(str, self._list(names, [], now_ms - 300_000, now_ms))))

    def _remember_queued(self) -> None:
        """Load into memory, at a start, the newest of what the engine may not show yet, as far as it fits."""
        settled_ms = self._clock() - int(self._settings.settle_seconds * 1000)
        queue = self._queue
        frames = [one for one in queue.found if one.sequence > queue.position or one.arrived_ms >= settled_ms]
        queue.found = []
        room = self._settings.recent_bytes // _SAMPLE_BYTES
        fitting = sum(total <= room for total in accumulate(frame.samples for frame in reversed(frames)))
        for frame in frames[len(frames) - fitting :]:
            if (body := queue.body(frame)) is not None:
                self._remember(frame.sequence, body)
        self._recent.deliver(queue.position)
        if queue.samples:
            log.info("samples of before wait for the engine", samples=queue.samples, bytes=queue.nbytes)

    def _remember(self, sequence: int, body: bytes) -> None:
        try:
            found = [one for one in decode_request(body) if one.labels.get("__name__") != _NEWEST]
            ids = self._index.resolve([one.labels for one in found])
        except (WireError, SeriesLimitError) as error:
            log.warning("samples that wait for the engine cannot be shown before it has them", reason=str(error))
            return
        if found:
            times = np.concatenate([one.timestamps for one in found])
            values = np.concatenate([one.values for one in found])
            self._recent.add(sequence, np.repeat(ids, [len(one.timestamps) for one in found]), times, values)
            heartbeats = [one for one in found if one.labels.get("__name__") == "up"]
            newest_ms = max(int(one.timestamps.max(initial=0)) for one in heartbeats or found)
            self._heard_ms = max(newest_ms, self._heard_ms or 0)

    def _forget_silent(self) -> None:
        """Forget series that nobody has sent for an hour and of which no sample is in memory."""
        if time.monotonic() - self._forgot < _FORGET_SECONDS:
            return
        self._forgot = time.monotonic()
        silent = self._index.silent_since(self._clock() - _SILENT_MS)
        # Samples of an outage are older than that, and are shown from memory as long as they are there.
        kept = frozenset(self._recent.series().tolist())
        self._index.remove(series_id for series_id in silent if series_id not in kept)


def open_prometheus(settings: RemoteSettings, clock: Callable[[], int]) -> PrometheusStore:
    """Open the queue in the data directory and look who answers at the engine's address.

    An engine that is away is waited for by the queue, and the start goes on where it is known how to read from it.

    Raises:
        DataDirectoryError: the data directory cannot be used, or another process uses it.
        EngineSettingsError: the address is wrong, or the engine refuses who we are.
    """
    connection = Connection(settings)
    lock = acquire_lock(settings.data_directory)
    try:
        _find_engine(connection, settings)
        return PrometheusStore(settings, clock, lock, connection)
    except OSError as error:
        os.close(lock)
        raise DataDirectoryError(
            f"cannot use the queue in {settings.data_directory / QUEUE_DIRECTORY}: {error.strerror or error}"
        ) from error
    except BaseException:
        os.close(lock)
        raise


def _find_engine(connection: Connection, settings: RemoteSettings) -> None:
    place = place_of(settings.url)
    # It names the address at which the engine answered the last time.
    known = settings.data_directory / QUEUE_DIRECTORY / "read-by"
    try:
        connection.check()
    except (EngineAwayError, EngineAnswerError) as error:
        if getattr(error, "refused", False) or not known.exists() or settings.url not in known.read_text().split():
            raise EngineSettingsError(
                f"the engine at {place} (LOADWATCH_STORE_URL) cannot be used: {error.detail}"
            ) from error
        log.warning("the engine is away; samples wait for it on disk", place=place, reason=error.detail)
        return
    with suppress(OSError):
        known.parent.mkdir(mode=0o700, exist_ok=True)
        known.write_text(f"{settings.url}\n")
    log.info("samples are kept by a second engine", place=place)
