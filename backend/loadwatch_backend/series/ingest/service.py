"""A remote-write body to the store: decompress, decode, check, append."""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.errors import LimitError
from loadwatch_backend.series.ingest.ahead import SendersAhead
from loadwatch_backend.series.ingest.decode import (
    FreshSeries,
    IngestLimits,
    MetadataEntry,
    WriteColumns,
    decode,
    decompress,
    decompressed_size,
)
from loadwatch_backend.series.ingest.errors import (
    ClockDoubtedError,
    MalformedError,
    SamplesRejectedError,
    TooManyEntriesError,
    WriteTooLargeError,
)
from loadwatch_backend.series.ingest.layouts import Layouts
from loadwatch_backend.series.ingest.senders import Sender, Senders
from loadwatch_backend.series.ingest.validate import (
    SHOWN_REJECTIONS,
    Reason,
    RejectedSeriesError,
    Rejection,
    Rejections,
    check_labels,
    check_times,
    label_bytes,
)
from loadwatch_backend.series.store.errors import (
    LabelBytesLimitError,
    NewSeriesLimitError,
    SeriesLimitError,
    StoreBusyError,
)
from loadwatch_backend.series.store.port import METADATA_TYPES, Batch, Labels, MetricMetadata, SampleStore, SeriesFinder

_ENTRY_BYTES = 150
"""What a cached entry costs beside its bytes: the object, its share of the table, the id."""

_QUICK_BYTES = 96 * 1024
_QUICK_DECOMPRESSED_BYTES = 512 * 1024
_QUICK_ENTRIES = 5_000
"""What takes a few milliseconds at worst, tens if all its series are new: a thread would cost more than it frees."""

_AGREES_SECONDS = 60.0

_ANYBODY = Sender()
Read = Callable[[bytes, Mapping[bytes, int], IngestLimits], WriteColumns]
"""A version of remote write: what `decode.decode` is for 1.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A push under way: `stored` is done once its samples are on disk; `rejected` has what was refused."""

    stored: "Future[None] | None"
    samples: int
    rejected: tuple[Rejection, ...]
    histograms: int = 0
    """Native histograms that came with it and are not stored."""
    refused_rows: tuple[int, ...] = ()

    def refusing_histograms(self) -> "Push":
        """The same for a sender that reads how much was written: native histograms are among what was refused."""
        if not self.histograms:
            return self
        detail = (
            "native histograms are not stored: let the sender scrape classic ones"
            " (in Prometheus `scrape_classic_histograms: true`, or `always_scrape_classic_histograms` as of 3.0)"
        )
        more = Rejection(reason=Reason.NATIVE_HISTOGRAM, samples=self.histograms, detail=detail)
        return replace(self, rejected=(more, *self.rejected))

    def raise_for_rejected(self) -> None:
        """Tell the sender what was refused.

        Raises:
            SamplesRejectedError: something was.
        """
        if not self.rejected:
            return
        refused = sum(rejection.samples for rejection in self.rejected)
        raise SamplesRejectedError(
            f"{refused} of {refused + self.samples} samples were refused, the others are stored: {self.refusals()}",
            rejected=refused,
            stored=self.samples,
        )

    def refusals(self) -> str:
        """What was refused, in words: the first few, and how many more there are."""
        details = [rejection.detail for rejection in self.rejected if rejection.detail][:SHOWN_REJECTIONS]
        shown = "; ".join(details)
        more = sum(rejection.times for rejection in self.rejected) - len(details)
        return f"{shown}; and {more} more" if more > 0 else shown


class IngestCounts:
    """What was taken and refused since the start; read by /metrics. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests_total = 0
        self.samples_total = 0
        self.exemplars_skipped_total = 0
        self.histograms_skipped_total = 0
        self.metadata_skipped_total = 0
        self.rejected_samples_total: Counter[Reason] = Counter()
        self.rejected_requests_total: Counter[Reason] = Counter()

    def refuse_request(self, reason: Reason) -> None:
        with self._lock:
            self.rejected_requests_total[reason] += 1

    def take(self, columns: WriteColumns, samples: int, rejected: tuple[Rejection, ...]) -> None:
        with self._lock:
            self.requests_total += 1
            self.samples_total += samples
            self.exemplars_skipped_total += columns.exemplars
            self.histograms_skipped_total += columns.histograms
            for rejection in rejected:
                self.rejected_samples_total[rejection.reason] += rejection.samples

    def refuse_samples(self, reason: Reason, samples: int) -> None:
        with self._lock:
            self.rejected_samples_total[reason] += samples

    def skip_metadata(self, entries: int) -> None:
        with self._lock:
            self.metadata_skipped_total += entries


class IngestService:
    """Takes pushes from any thread."""

    def __init__(
        self, store: SampleStore, limits: IngestLimits, clock: Callable[[], int], steady: SteadyClock | None = None
    ) -> None:
        """`steady` knows whether the clock has just jumped."""
        self._steady = steady
        self._agreeing: dict[str, float] = {}
        """While the clock is doubted: since when the samples of each sender agree with it."""
        self.limits = limits
        self.counts = IngestCounts()
        self.ahead = SendersAhead()
        self.senders = Senders(most_active=limits.sender_series, most_new=limits.sender_new_series)
        self._store = store
        self.clock = clock
        self._known: dict[bytes, int] = {}
        self._known_bytes = 0
        self._layouts = Layouts()
        self._held_bytes = 0
        self._generation = store.generation()
        self._lock = threading.Lock()

    @property
    def commits_fail(self) -> bool:
        return self._store.statistics().commits_fail

    def push(self, body: bytes, read: Read = decode, sender: Sender = _ANYBODY) -> Push:
        """Queue the good samples of a remote-write body, which `read` decodes.

        Raises:
            MalformedError, WriteTooLargeError: nothing of it is stored.
            StoreBusyError, StoreClosedError: nothing of it is stored, and sending it again later is right.
        """
        with self.counting_refusals():
            return self._push(body, read, self.limits, sender)

    def push_if_quick(self, body: bytes, read: Read = decode, sender: Sender = _ANYBODY) -> Push | None:
        """Like `push`, for an event loop: None, and nothing is stored, if the body might keep it busy.

        Both sizes decide and what the body holds: 90 kB may be two megabytes of empty entries.
        """
        with self.counting_refusals():
            if len(body) > _QUICK_BYTES or decompressed_size(body) > _QUICK_DECOMPRESSED_BYTES:
                return None
            try:
                limits = replace(self.limits, entries=min(_QUICK_ENTRIES, self.limits.entries))
                return self._push(body, read, limits, sender)
            except TooManyEntriesError:
                return None

    @contextmanager
    def hold(self) -> Generator[Callable[[int], None]]:
        """Account for a body while it is in memory; what is yielded is told of each further piece.

        Raises:
            StoreBusyError: all bodies together are more than may be held; sending it again later is right.
        """
        held = 0

        def more(size: int) -> None:
            nonlocal held
            held += size
            self._held_bytes += size
            if self._held_bytes > self.limits.held_bytes:
                self.counts.refuse_request(Reason.BUSY)
                raise StoreBusyError(
                    f"remote-write bodies of more than {self.limits.held_bytes} bytes are being read at the moment;"
                    " send it again in some seconds, or smaller requests"
                )

        try:
            yield more
        finally:
            self._held_bytes -= held

    def push_columns(
        self, columns_of: Callable[[Mapping[bytes, int]], WriteColumns], sender: Sender = _ANYBODY
    ) -> Push:
        """Queue what another protocol's message holds; `columns_of` is given the known series as `decode` is.

        Raises:
            StoreBusyError, StoreClosedError: nothing of it is stored, and sending it again later is right.
        """
        known = self._known_series(sender)
        with self.counting_refusals():
            return self._append(columns_of(known), known, sender)

    def admit(self, series: Sequence[Labels], sender: str) -> None:
        """Make series known whose samples come otherwise than by a push, within the limits of a sender; all or none.

        Raises:
            LimitError: it names the limit.
        """
        now_ms = self.clock()
        for labels in series:
            try:
                check_labels([(name.encode(), value.encode()) for name, value in labels.items()], self.limits)
            except RejectedSeriesError as error:
                raise LimitError(error.detail) from error
        known = self._store.find(series) if isinstance(self._store, SeriesFinder) else np.zeros(len(series), np.int64)
        fresh = int((known < 0).sum())
        admission = self.senders.admit(sender, fresh, now_ms)
        try:
            if admission.problem:
                raise LimitError(admission.problem)
            self._store.resolve(series)
        except LimitError:
            self.senders.take_back(sender, admission.series, now_ms)
            raise

    def _push(self, body: bytes, read: Read, limits: IngestLimits, sender: Sender) -> Push:
        data = decompress(body, limits.decompressed_bytes)
        known = self._known_series(sender)
        # Those of the same ids: others are begun when series are gone.
        layouts = Layouts() if sender.jobs else self._layouts
        columns = layouts.read(data) if read is decode else None
        if columns is None:
            columns = read(data, known, limits)
            layouts.note(data, columns)
        return self._append(columns, known, sender)

    @contextmanager
    def counting_refusals(self) -> Generator[None]:
        try:
            yield
        except (MalformedError, WriteTooLargeError, StoreBusyError) as error:
            busy = Reason.BUSY if isinstance(error, StoreBusyError) else Reason.TOO_LARGE
            self.counts.refuse_request(Reason.MALFORMED if isinstance(error, MalformedError) else busy)
            raise

    def _append(self, columns: WriteColumns, known: dict[bytes, int], sender: Sender) -> Push:
        now_ms = self.clock()
        self.ahead.note(columns.series, columns.timestamps, fresh=columns.fresh, known=known, now_ms=now_ms)
        earliest_ms, latest_ms = (now_ms, now_ms) if self._steady is None else self._steady.span()
        if self._steady is not None and self._steady.doubted:
            self._check_clock(self._steady, columns.timestamps, sender.name, now_ms)
        keep, time_rejections = check_times(columns.timestamps, earliest_ms, latest_ms, self.limits)
        series, label_rejections = self._resolve(columns, keep, known, sender)
        rejected = (*label_rejections, *time_rejections)
        timestamps, values, good = columns.timestamps, columns.values, None
        if rejected or keep is not None:
            good = series >= 0 if keep is None else (series >= 0) & keep
            series, timestamps, values = series[good], timestamps[good], values[good]
        batch = Batch(series=series.astype(np.uint32), timestamps=timestamps, values=values)
        count = len(batch.series)
        self.senders.note(sender.name, series, now_ms)
        self._put_metadata(columns.metadata)
        if columns.metadata_left_out:
            self.counts.skip_metadata(columns.metadata_left_out)
        stored = self._store.append(batch) if count else None
        self.counts.take(columns, count, rejected)
        refused_rows = tuple(np.flatnonzero(~good).tolist()) if good is not None else ()
        return Push(
            stored=stored, samples=count, rejected=rejected, histograms=columns.histograms, refused_rows=refused_rows
        )

    def _check_clock(self, steady: SteadyClock, times: npt.NDArray[np.int64], sender: str, now_ms: int) -> None:
        """Confirm the doubted clock if the sender has had its time for a minute.

        Samples that catch up after an outage have it for a moment.

        Raises:
            ClockDoubtedError: samples lie ahead, by their sender's clock or by ours.
        """
        ahead_ms = self.limits.ahead_ms
        is_ahead = bool((times > steady.span()[1] + ahead_ms).any())
        if ((times >= now_ms - ahead_ms) & (times <= now_ms + ahead_ms)).any():
            now = steady.monotonic()
            if now - self._agreeing.setdefault(sender, now) >= _AGREES_SECONDS:
                steady.doubted = False
                self._agreeing.clear()
                return
        elif is_ahead:
            self._agreeing.pop(sender, None)
        if is_ahead:
            self.counts.refuse_request(Reason.TOO_FAR_AHEAD)
            raise ClockDoubtedError(
                f"the time {int(times.max())} ms is {(int(times.max()) - now_ms) / 1000:.0f} s ahead of this server's"
                " clock, which has jumped and which no sender has confirmed: nothing of the request is stored, send it"
                " again. Is the server's clock right?"
            )

    def _resolve(
        self, columns: WriteColumns, keep: npt.NDArray[np.bool_] | None, known: dict[bytes, int], sender: Sender
    ) -> tuple[npt.NDArray[np.int64], Sequence[Rejection]]:
        """Ids of all rows, -1 where the series was refused; series without a sample to store are not made."""
        series = columns.series
        if not columns.fresh:
            return series, ()
        is_fresh = series < 0 if keep is None else (series < 0) & keep
        samples = np.bincount(-series[is_fresh] - 1, minlength=len(columns.fresh))
        limits = replace(self.limits, jobs=sender.jobs)
        rejections = Rejections()
        wanted: list[tuple[int, Labels]] = []
        room = self.limits.request_label_bytes
        for place in np.flatnonzero(samples).tolist():
            entry = columns.fresh[place]
            if entry.problem is not None:
                rejections.add(Reason.BAD_REFERENCE, int(samples[place]), entry.problem)
                continue
            try:
                # Before they are decoded: a request may name one symbol as the value of very many labels.
                size = label_bytes(entry.labels)
                if room < size <= self.limits.series_label_bytes:
                    raise RejectedSeriesError(
                        Reason.LABELS_TOO_LARGE,
                        f"the labels of the series in one request have more than {self.limits.request_label_bytes}"
                        " bytes; send fewer series per request",
                    )
                wanted.append((place, check_labels(entry.labels, limits)))
                room -= size
            except RejectedSeriesError as error:
                rejections.add(error.reason, int(samples[place]), error.detail)
        ids = np.full(len(columns.fresh), -1, np.int64)
        if isinstance(self._store, SeriesFinder):
            found = self._store.find([labels for _, labels in wanted])
            ids[[place for place, _ in wanted]] = found
            wanted = [one for one, series_id in zip(wanted, found.tolist(), strict=True) if series_id < 0]
        wanted = self._admit(wanted, sender.name, samples, rejections)
        try:
            resolved = self._store.resolve([labels for _, labels in wanted], most_new=self.limits.new_series)
        except SeriesLimitError as error:
            reason = Reason.SERIES_LIMIT
            if isinstance(error, NewSeriesLimitError):
                reason = Reason.NEW_SERIES_LIMIT
            elif isinstance(error, LabelBytesLimitError):
                reason = Reason.LABEL_BYTES_LIMIT
            refused = sum(int(samples[place]) for place, _ in wanted)
            rejections.add(reason, refused, error.detail)
            self.senders.take_back(sender.name, len(wanted), self.clock())
        else:
            ids[[place for place, _ in wanted]] = resolved
        if not sender.jobs:
            self._remember(columns.fresh, ids, known)
        return np.where(series < 0, ids[np.minimum(series, -1) * -1 - 1], series), rejections.all()

    def _admit(
        self, wanted: list[tuple[int, Labels]], sender: str, samples: npt.NDArray[np.int64], rejections: Rejections
    ) -> list[tuple[int, Labels]]:
        if not wanted:
            return wanted
        now_ms = self.clock()
        admission = self.senders.admit(sender, len(wanted), now_ms)
        if admission.problem:
            refused = sum(int(samples[place]) for place, _ in wanted[admission.series :])
            reason = Reason.SENDER_SERIES if admission.active else Reason.SENDER_NEW_SERIES
            rejections.add(reason, refused, admission.problem)
            self.senders.refuse(sender, refused, now_ms)
        return wanted[: admission.series]

    def _remember(self, fresh: Sequence[FreshSeries], ids: npt.NDArray[np.int64], known: dict[bytes, int]) -> None:
        with self._lock:
            for entry, series in zip(fresh, ids.tolist(), strict=True):
                if series >= 0 and entry.prefix is not None and entry.prefix not in known:
                    known[entry.prefix] = series
                    self._known_bytes += len(entry.prefix) + _ENTRY_BYTES
            if len(known) > self.limits.cached_series or self._known_bytes > self.limits.cached_bytes:
                # The oldest half goes. A scan under way looks up single keys, so it may go on meanwhile.
                for prefix in list(known)[: len(known) // 2]:
                    del known[prefix]
                self._known_bytes = sum(map(len, known)) + _ENTRY_BYTES * len(known)

    def _put_metadata(self, entries: Sequence[MetadataEntry]) -> None:
        if not entries:
            return
        present = self._store.metadata()
        room = self.limits.metadata_metrics - len(present)
        bytes_left = self.limits.metadata_bytes - sum(len(one.help) + len(one.unit) for one in present.values())
        accepted: dict[str, MetricMetadata] = {}
        for entry in entries:
            metric = entry.metric.decode(errors="replace")
            if metric not in present and metric not in accepted:
                if room <= 0 or not 0 < len(entry.metric) <= self.limits.label_value_bytes:
                    self.counts.skip_metadata(1)
                    continue
                room -= 1
            # Remote write 2.0 sends it with every series: only what is new is written.
            known = MetricMetadata(
                type=METADATA_TYPES[entry.type if 0 <= entry.type < len(METADATA_TYPES) else 0],
                help=entry.help.decode(errors="replace"),
                unit=entry.unit.decode(errors="replace"),
            )
            if known != present.get(metric):
                bytes_left -= len(known.help) + len(known.unit)
                if bytes_left < 0:
                    self.counts.skip_metadata(1)
                    continue
                accepted[metric] = known
        if accepted:
            self._store.put_metadata(accepted)

    def _known_series(self, sender: Sender) -> dict[bytes, int]:
        """Ids of known series; none for a sender limited to jobs, of which all labels are read."""
        if sender.jobs:
            return {}
        generation = self._store.generation()
        if generation != self._generation:
            with self._lock:
                self._generation = generation
                self._known = {}
                self._known_bytes = 0
                self._layouts = Layouts()
        return self._known
