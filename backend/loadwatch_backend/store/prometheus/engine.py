"""The second engine: `loadwatch_backend.store.port.SampleStore` over HTTP, with a queue on disk before it."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import structlog

from loadwatch_backend.kit.cancellation import Cancellation
from loadwatch_backend.kit.errors import ProblemError
from loadwatch_backend.store.embedded.block import LATEST_MS, Block, Cut, cut_block, series_spans
from loadwatch_backend.store.embedded.lock import acquire_lock
from loadwatch_backend.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.store.errors import (
    DataDirectoryError,
    EngineAwayError,
    EngineSettingsError,
    QueryLimitError,
    SeriesLimitError,
)
from loadwatch_backend.store.port import (
    Batch,
    CommitListener,
    Labels,
    Matcher,
    MetricMetadata,
    Reading,
    Selection,
    StoreStatistics,
    TouchListener,
)
from loadwatch_backend.store.prometheus.connection import Connection, place_of
from loadwatch_backend.store.prometheus.durable_queue import DurableQueue, Frame
from loadwatch_backend.store.prometheus.joining import EMPTY, join
from loadwatch_backend.store.prometheus.known_metadata import KnownMetadata
from loadwatch_backend.store.prometheus.listing import EngineLists
from loadwatch_backend.store.prometheus.login import Signer
from loadwatch_backend.store.prometheus.news import NEWEST, Announcement, NewsWatch
from loadwatch_backend.store.prometheus.passing import pass_query
from loadwatch_backend.store.prometheus.reading import RawReader, choose_read_by
from loadwatch_backend.store.prometheus.recent import Recent
from loadwatch_backend.store.prometheus.selectors import asked_matchers, is_of_self
from loadwatch_backend.store.prometheus.sender import Sender
from loadwatch_backend.store.prometheus.settings import ReadBy, RemoteSettings
from loadwatch_backend.store.prometheus.wire import SeriesSamples, WireError, decode_series, fields
from loadwatch_backend.store.prometheus.writer import QueueWriter, plain

log = structlog.get_logger(__name__)

QUEUE_DIRECTORY = "engine-queue"
_CLOSE_SECONDS = 3.0
_FORGET_SECONDS = 600.0
_SILENT_MS = 3_600_000
_SAMPLE_BYTES = 20


class PrometheusStore:
    """Made by `open_prometheus`."""

    def __init__(
        self, settings: RemoteSettings, clock: Callable[[], int], lock: int, connection: Connection, read_by: ReadBy
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = lock
        self._connection = connection
        directory = settings.data_directory / QUEUE_DIRECTORY
        self._queue = DurableQueue(directory, clock)
        self._index = SeriesIndex(settings.series_limit, settings.label_bytes)
        self._recent = Recent(settings.recent_bytes, self._touch)
        self._metadata = KnownMetadata(directory / "metadata.json")
        self._reader = RawReader(connection, read_by, settings.query_samples)
        self._lists = EngineLists(connection, settings.answer_bytes)
        announcement = Announcement(settings.instance) if settings.instance else None
        self._writer = QueueWriter(
            settings, self._index, self._queue, self._recent, self._metadata, announcement, clock
        )
        self._sender = Sender(settings, connection, self._queue, self._recent, clock)
        self._news = NewsWatch(
            connection,
            self._reader,
            settings.instance,
            clock,
            known=self.newest_ms,
            heard=self._writer.heard,
            metrics=self._metrics_now,
            touched=self._writer.listeners.touched,
        )
        self._stopping = threading.Event()
        self._upkeep = threading.Thread(target=self._maintain, name="store-upkeep", daemon=True)
        self._remember_queued()
        self._writer.start()
        self._sender.start()
        if settings.instance:
            self._news.start()
        self._upkeep.start()

    # Writing --------------------------------------------------------------------------------------------------

    def resolve(self, series: Sequence[Labels], *, most_new: int | None = None) -> npt.NDArray[np.uint32]:
        """See `Writer.resolve`."""
        return self._index.resolve(series, most_new)

    def generation(self) -> int:
        """See `Writer.generation`."""
        return self._index.generation

    def append(self, batch: Batch) -> "Future[None]":
        """See `Writer.append`."""
        return self._writer.queue.append(batch)

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """See `Writer.put_metadata`."""
        news = {name: entry for name, entry in metadata.items() if self._metadata.entries.get(name) != entry}
        if news:
            self._writer.queue.put_metadata(news)

    # Reading --------------------------------------------------------------------------------------------------

    def select(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> Selection:
        """See `Reader.select`."""
        return self.select_many([matchers], start_ms, end_ms, reading)[0]

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """See `ManySelector.select_many`.

        While the engine is away, what the server says of itself comes from memory, so that rules can tell of it.
        """
        start_ms, end_ms = max(start_ms, 0), min(end_ms, LATEST_MS)
        asked = [asked_matchers(matchers) for matchers in wanted]
        if start_ms > end_ms:
            return [EMPTY] * len(asked)
        # Ours before the engine's: what leaves the memory meanwhile has been with the engine for long.
        own = [self._own(matchers, start_ms, end_ms, reading) for matchers in wanted]
        of_self = all(map(is_of_self, wanted))
        if not (of_self and self._sender.state.fault):
            try:
                result: list[Selection] = []
                for groups in self._reader.read(asked, start_ms, end_ms, reading):
                    for parts in groups:
                        result.append(join(parts, *own[len(result)]))
            except EngineAwayError:
                if not of_self:
                    raise
            else:
                return result
        return [join((), *one) for one in own]

    def select_newest(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """See `ManySelector.select_newest`; all samples of the span, of which the newest are the last."""
        return self.select_many(wanted, start_ms, end_ms, reading)

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        """See `Reader.series`."""
        known = self._index.labels(self._known(matchers, start_ms, end_ms).tolist())
        there = {frozenset(labels.items()) for labels in known}
        found = self._lists.series([asked_matchers(one) for one in matchers or [()]], start_ms, end_ms)
        return [*known, *(labels for labels in found if frozenset(labels.items()) not in there)]

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """See `Reader.label_names`."""
        known = self._index.label_names(self._known(matchers, start_ms, end_ms))
        found = self._lists.label_names([asked_matchers(one) for one in matchers], start_ms, end_ms)
        return sorted({*known, *found})

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """See `Reader.label_values`."""
        known = self._index.label_values(name, self._known(matchers, start_ms, end_ms))
        found = self._lists.label_values(name, [asked_matchers(one) for one in matchers], start_ms, end_ms)
        return sorted({*known, *found})

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """See `Reader.metadata`: the engine's, and over it what our senders said."""
        return {**self._lists.metadata(), **self._metadata.entries}

    def newest_ms(self) -> int | None:
        """See `Reader.newest_ms`."""
        return self._writer.heard_ms

    def query(self, path: str, pairs: Sequence[tuple[str, str]], cancellation: Cancellation) -> Iterator[bytes]:
        """See `QueryPasser.query`."""
        return pass_query(self._connection, path, pairs, self._settings.answer_bytes, cancellation)

    # Watching -------------------------------------------------------------------------------------------------

    def on_commit(self, listener: CommitListener) -> Callable[[], None]:
        """See `Watcher.on_commit`."""
        return self._writer.listeners.on_commit(listener)

    def on_touch(self, listener: TouchListener) -> Callable[[], None]:
        """See `Watcher.on_touch`."""
        return self._writer.listeners.on_touch(listener)

    def statistics(self) -> StoreStatistics:
        """See `Watcher.statistics`."""
        counts, state = self._writer.queue.counts, self._sender.state
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
            queued_samples=self._writer.queue.samples,
            head_bytes=self._recent.nbytes,
            head_blocks=self._recent.slots,
            head_complete_ms=0,
            sealed_rows_total=0,
            deleted_rows_total=0,
            database_bytes=0,
            engine_queue_samples=self._queue.samples,
            engine_queue_bytes=self._queue.nbytes,
            engine_queue_seconds=waited_ms / 1000,
            engine_queue_ratio=max(self._queue.nbytes / settings.queue_bytes, waited_ms / settings.queue_ms),
            engine_delivered_samples_total=state.delivered_samples,
            engine_dropped_samples_total=state.dropped_samples,
            engine_retries_total=state.retries,
        )

    def keep_pinned(self, windows: Callable[[], Sequence[tuple[int, int]]]) -> None:
        """See `SampleStore.keep_pinned`: how long samples are kept is the engine's matter, so nothing is pinned."""

    def close(self) -> None:
        """See `SampleStore.close`; what the engine has not taken waits on disk for the next start."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._upkeep.join()
        if self._settings.instance:
            self._news.close()
        self._writer.close()
        self._sender.close(_CLOSE_SECONDS)
        self._queue.close()
        self._connection.close()
        os.close(self._lock)

    # Within ---------------------------------------------------------------------------------------------------

    def _known(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> Ids:
        self._recent.blocks()  # So that the index knows of the newest samples.
        return self._index.match_any(matchers, start_ms, end_ms)

    def _own(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None
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
        count = sum(int((cut.stops - cut.starts).sum()) for cut in cuts)
        if count > self._settings.query_samples:
            raise QueryLimitError(
                f"the query loads more than {self._settings.query_samples} samples; ask for fewer series or a shorter"
                " range, or raise LOADWATCH_STORE_QUERY_SAMPLES"
            )
        if reading is not None:
            reading.reserve(count)
        return self._index.labels(ids.tolist()), cuts

    def _touch(self, block: Block) -> None:
        first, last = series_spans(block)
        self._index.touch(block.series, first, last)

    def _metrics_now(self) -> frozenset[str]:
        now_ms = self._clock()
        return frozenset(self._lists.label_values("__name__", [], now_ms - 300_000, now_ms))

    def _remember_queued(self) -> None:
        """What the engine may not show yet is in memory again after a start, the newest of it."""
        settled_ms = self._clock() - int(self._settings.settle_seconds * 1000)
        delivered = [frame for frame in self._queue.delivered_before if frame.arrived_ms >= settled_ms]
        waiting = self._queue.waiting()
        room = self._settings.recent_bytes // _SAMPLE_BYTES
        chosen: list[Frame] = []
        for frame in reversed([*delivered, *waiting]):
            room -= frame.samples
            if room < 0:
                break
            chosen.append(frame)
        for frame in reversed(chosen):
            if (body := self._queue.body(frame)) is not None:
                self._remember(frame.sequence, body)
        if delivered:
            self._recent.deliver(delivered[-1].sequence)
        if waiting:
            log.info("samples of before wait for the engine", samples=self._queue.samples, bytes=self._queue.nbytes)

    def _remember(self, sequence: int, body: bytes) -> None:
        try:
            found = [decode_series(content) for number, content in fields(plain(body)) if number == 1]
            found = [one for one in found if one.labels.get("__name__") != NEWEST]
            ids = self._index.resolve([one.labels for one in found])
        except (WireError, SeriesLimitError) as error:
            log.warning("samples that wait for the engine cannot be shown before it has them", reason=str(error))
            return
        if found:
            times, values = _columns(found)
            self._recent.add(sequence, np.repeat(ids, [len(one.timestamps) for one in found]), times, values)
            newest_ms = int(times.max())
            self._writer.heard_ms = max(newest_ms, self._writer.heard_ms or 0)

    def _maintain(self) -> None:
        while not self._stopping.wait(_FORGET_SECONDS):
            silent = self._index.silent_since(self._clock() - _SILENT_MS)
            kept = frozenset(self._recent.series().tolist())
            self._index.remove(series_id for series_id in silent if series_id not in kept)


def _columns(found: Sequence[SeriesSamples]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    return np.concatenate([one.timestamps for one in found]), np.concatenate([one.values for one in found])


def open_prometheus(
    settings: RemoteSettings, clock: Callable[[], int], make_signer: Callable[[str], Signer] | None = None
) -> PrometheusStore:
    """Open the queue in the data directory and look who answers at the engine's address.

    An engine that is away is waited for by the queue, and the start goes on where it is known how to read from it.

    Raises:
        DataDirectoryError: the data directory cannot be used, or another process uses it.
        EngineSettingsError: the address is wrong, or the engine refuses who we are.
    """
    region = settings.login.aws_region
    connection = Connection(settings, make_signer(region) if region and make_signer is not None else None)
    lock = acquire_lock(settings.data_directory)
    try:
        return PrometheusStore(settings, clock, lock, connection, _read_by(connection, settings))
    except OSError as error:
        os.close(lock)
        raise DataDirectoryError(
            f"cannot use the queue in {settings.data_directory / QUEUE_DIRECTORY}: {error.strerror or error}"
        ) from error
    except BaseException:
        os.close(lock)
        raise


def _read_by(connection: Connection, settings: RemoteSettings) -> ReadBy:
    if settings.read_by is not ReadBy.AUTO:
        return settings.read_by
    place = place_of(settings.url)
    remembered = settings.data_directory / QUEUE_DIRECTORY / "read-by"
    try:
        found = choose_read_by(connection)
    except EngineAwayError as error:
        before = _remembered(remembered, settings.url)
        if error.refused or before is None:
            raise EngineSettingsError(
                f"{error.detail}. Its address is LOADWATCH_STORE_URL; LOADWATCH_STORE_READ_BY lets the server start"
                " without it"
            ) from error
        log.warning("the engine is away; samples wait for it on disk", place=place, reason=error.detail)
        return before
    except ProblemError as error:
        raise EngineSettingsError(
            f"the engine at {place} (LOADWATCH_STORE_URL) cannot be used: {error.detail}"
        ) from error
    with suppress(OSError):
        remembered.parent.mkdir(mode=0o700, exist_ok=True)
        remembered.write_text(f"{found} {settings.url}\n")
    log.info("samples are kept by a second engine", place=place, read_by=str(found))
    return found


def _remembered(path: Path, url: str) -> ReadBy | None:
    """How this very engine was read the last time."""
    try:
        found, _, known = path.read_text().strip().partition(" ")
        return ReadBy(found) if known == url else None
    except (OSError, ValueError):
        return None
