"""An OTLP body to the store: unpack, translate, add deltas up, append."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.series.ingest.decode import LONGEST_PREFIX, FreshSeries, MetadataTable, WriteColumns
from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.otlp.attributes import decode_labels
from loadwatch_backend.series.ingest.otlp.deltas import DeltaSums
from loadwatch_backend.series.ingest.otlp.read import read_json, read_protobuf, unzip
from loadwatch_backend.series.ingest.otlp.translate import OtlpRules, Translated, translate
from loadwatch_backend.series.ingest.senders import Sender
from loadwatch_backend.series.ingest.service import METADATA_TYPES, IngestService, Push
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.port import Reader

_EXPANSION = 4
"""OTLP's objects are larger than remote write's, so a body may be this much smaller."""
_COMMIT_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A request under way; `rejected_points` were refused for what `message` says, all others are or will be stored."""

    push: Push
    rejected_points: int
    message: str


class OtlpService:
    """Takes requests from any thread, one at a time."""

    def __init__(self, ingest: IngestService, store: Reader, rules: OtlpRules) -> None:
        self.ingest = ingest
        self._rules = rules
        self._sums = DeltaSums(store, ingest.limits.retention_ms)
        self._lock = threading.Lock()

    def take(self, body: bytes, *, json: bool, gzip: bool, sender: Sender = Sender()) -> Taken:
        """Queue what a body holds; with deltas in it this waits until that is on disk, since the next add to it.

        Raises:
            MalformedError, WriteTooLargeError: nothing of it is stored.
            StoreBusyError, StoreClosedError, StoreWriteError: nothing of it is stored, and sending it again is right.
        """
        limits = self.ingest.limits
        with self._lock, self.ingest.counting_refusals():
            entries = Entries(limits.entries)
            data = unzip(body, limits.decompressed_bytes // _EXPANSION) if gzip else body
            request = read_json(data, entries) if json else read_protobuf(data, entries)
            rows = translate(request, self._rules, entries)
            return self._add(rows, entries, sender) if rows.deltas else self._append(rows, set(), sender)

    def _add(self, rows: Translated, entries: Entries, sender: Sender) -> Taken:
        try:
            added = self._sums.add(rows, self.ingest.clock(), entries)
            taken = self._append(rows, added.dropped, sender)
            if taken.push.stored is not None:
                taken.push.stored.result(_COMMIT_SECONDS)
        except BaseException:
            self._sums.forget_all()
            raise
        if taken.push.rejected:
            self._sums.forget(added.touched)
        self._sums.shrink()
        if not added.late:
            return taken
        self.ingest.counts.refuse_samples(Reason.DELTA_LATE, len(added.late))
        late = f"{len(added.late)} deltas came after later ones of their series, to which they cannot be added any more"
        return Taken(
            push=taken.push,
            rejected_points=taken.rejected_points + len(added.late),
            message="; ".join(part for part in (taken.message, late) if part),
        )

    def _append(self, rows: Translated, dropped: set[int], sender: Sender) -> Taken:
        kept = [row for row in range(len(rows.series)) if row not in dropped]
        push = self.ingest.push_columns(lambda known: self._columns(rows, kept, known), sender)
        if rows.refused_points:
            self.ingest.counts.refuse_samples(Reason.UNTRANSLATABLE, rows.refused_points)
        refused = {rows.points[kept[row]] for row in push.refused_rows}
        return Taken(
            push=push,
            rejected_points=rows.refused_points + len(refused - {-1}),
            message="; ".join(part for part in (*rows.details, push.told()) if part),
        )

    def _columns(self, rows: Translated, kept: list[int], known: Mapping[bytes, int]) -> WriteColumns:
        fresh: list[FreshSeries] = []
        places: dict[bytes, int] = {}
        ids: list[int] = []
        for row in kept:
            series = rows.series[row]
            number = known.get(series)
            if number is None:
                number = places.get(series)
                if number is None:
                    prefix = series if len(series) <= LONGEST_PREFIX else None
                    fresh.append(FreshSeries(decode_labels(series), prefix))
                    number = places[series] = -len(fresh)
            ids.append(number)
        metadata = MetadataTable(self.ingest.limits)
        for name, entry in rows.metadata.items():
            metadata.add(METADATA_TYPES.index(entry.type), name.encode(), entry.help.encode(), entry.unit.encode())
        return WriteColumns(
            series=np.array(ids, np.int64),
            timestamps=np.array([rows.times[row] for row in kept], np.int64),
            values=np.array([rows.values[row] for row in kept], np.float64),
            fresh=fresh,
            metadata=metadata.entries(),
            metadata_left_out=metadata.left_out,
            exemplars=0,
            histograms=0,
        )
