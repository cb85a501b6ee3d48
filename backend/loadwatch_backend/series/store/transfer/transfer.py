"""Sends the samples of a stopped server's store to an engine, the oldest hour first, and goes on where it was cut off.

Afterwards it counts, by metric and hour, the samples at whose series and time the engine has none.

How far it is stands in a file, written after what it says was acknowledged. The part after it may have gone out
already, wholly or in pieces: of that part the engine is asked first what it has, because VictoriaMetrics keeps what
comes twice. Where the store has other samples than the file says, each part is asked for first, from the beginning.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.embedded.stored_hours import StoredHours
from loadwatch_backend.series.store.port import Selection
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples, encode_metadata
from loadwatch_backend.series.store.transfer.parts import Part, parts_of
from loadwatch_backend.series.store.transfer.progress import hour_text
from loadwatch_backend.series.store.transfer.state import StateFile, TransferError, TransferState
from loadwatch_backend.series.store.transfer.target import EngineRefusesError, Target, advice_on

_METADATA_ENTRIES = 1_000
_COUNT_AGAIN_SECONDS = 0.5

Flags = npt.NDArray[np.bool_]


Watch = Callable[[int, int, int], None]
"""Told the hour before which all is done, and how many of how many samples are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is sent, and how."""

    source: StoredHours
    target: Target
    file: StateFile
    name: str
    """Of the target, in the file."""
    skip_refused: bool
    ask_all: bool
    """Whether the engine may have any of it already."""
    settle: Callable[[], None]
    """Waits until the engine shows what it took before this began."""
    watch: Watch
    now_ms: int


def begin(job: Job, rows: int) -> tuple[TransferState, bool]:
    """The state to go on from, on disk, and whether it is the first; `rows` are those of the store.

    Raises:
        TransferError: the directory's samples were on their way elsewhere, or the state cannot be written.
    """
    before = job.file.read()
    if before is not None and before.target != job.name:
        raise TransferError(
            f"{job.file.path} says that a migration to {before.target} was begun: go on with that, or begin this one"
            " with --restart"
        )
    if before is None:
        state = TransferState(target=job.name, rows=rows, ask=job.ask_all)
    elif before.rows != rows:
        # The server ran in between: hours have other samples, so other parts, than the file knows of.
        state = replace(before, rows=rows, hour_ms=0, part=0, ask=True)
    else:
        state = replace(before, ask=before.ask or job.ask_all)
    if state != before:
        job.file.write(state)
    return state, before is None


def transfer(job: Job) -> TransferState:
    """Send what is not there yet; the state at the end.

    Raises:
        TransferError: it cannot go on; what was acknowledged is in the file.
        StoreReadError: the disk does not give the samples.
    """
    hours = job.source.hours()
    total, done = sum(hours.values()), 0
    state, fresh = begin(job, total)
    _send_metadata(job)
    doubtful = not fresh
    if doubtful or state.ask:
        job.settle()
    for hour_ms, rows in hours.items():
        parts = hour_parts(job.source, hour_ms) if hour_ms >= state.hour_ms else ()
        first = state.part if hour_ms == state.hour_ms else 0
        over = done + sum(part.samples for part in parts[:first])
        for number, part in enumerate(parts[first:], first):
            job.watch(hour_ms, over, total)
            state = _send(job, state, hour_ms, part, ask=state.ask or doubtful)
            state = replace(state, hour_ms=hour_ms, part=number + 1)
            job.file.write(state)
            doubtful = False
            over += part.samples
        done += rows
    return state


def hour_parts(source: StoredHours, hour_ms: int) -> Sequence[Part]:
    """The parts of an hour."""
    ids, counts = source.counts(hour_ms)
    return parts_of(hour_ms, ids.tolist(), counts.tolist(), source.labels)


def _send(job: Job, state: TransferState, hour_ms: int, part: Part, *, ask: bool) -> TransferState:
    ours = job.source.read(part.start_ms, part.end_ms, np.array(part.ids, np.uint32))
    count = len(ours.timestamps)
    if ask:
        ours = _taken(ours, ~there(ours, job.target.read(part)))
    left = len(ours.timestamps)
    try:
        refused = job.target.put(ours, skip_refused=job.skip_refused)
    except EngineRefusesError as error:
        raise EngineRefusesError(
            f"the engine refuses samples of {hour_text(hour_ms)} ({error}). What came before is there."
            f" {advice_on(str(error), hour_ms, job.now_ms)}"
        ) from error
    return replace(
        state, sent=state.sent + left - refused, present=state.present + count - left, refused=state.refused + refused
    )


def _send_metadata(job: Job) -> None:
    entries = list(job.source.metadata().items())
    for first in range(0, len(entries), _METADATA_ENTRIES):
        job.target.put_metadata(encode_metadata(dict(entries[first : first + _METADATA_ENTRIES])))


def there(ours: Selection, found: Sequence[SeriesSamples]) -> Flags:
    """At which of our samples' series and times the engine has one, too."""
    ranks = {frozenset(labels.items()): rank for rank, labels in enumerate(ours.labels)}
    flags: Flags = np.zeros(len(ours.timestamps), np.bool_)
    for one in found:
        if (rank := ranks.get(frozenset(one.labels.items()))) is not None:
            rows = slice(int(ours.offsets[rank]), int(ours.offsets[rank + 1]))
            flags[rows] |= np.isin(ours.timestamps[rows], one.timestamps)
    return flags


def _taken(selection: Selection, kept: Flags) -> Selection:
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))
    return Selection(
        labels=selection.labels,
        offsets=before[selection.offsets],
        timestamps=selection.timestamps[kept],
        values=selection.values[kept],
    )


@dataclass(slots=True)
class Counts:
    """What is in the engine of what the store has."""

    hours: int
    samples: int = 0
    """That were looked for."""
    nan: int = 0
    """Stale markers and other NaN, which not every engine keeps or shows, so that they were not."""
    missing: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    """By hour and metric."""


def count_all(source: StoredHours, target: Target, watch: Watch, *, settled: Callable[[], bool]) -> Counts:
    """Look for all samples; for those that are missing again, until `settled` says that the engine shows everything.

    Raises:
        TransferError: the engine does not answer, or cannot be read.
        StoreReadError: the disk does not give the samples.
    """
    hours = source.hours()
    total, done = sum(hours.values()), 0
    counts = Counts(len(hours))
    for hour_ms in hours:
        for part in hour_parts(source, hour_ms):
            watch(hour_ms, done, total)
            ours = source.read(part.start_ms, part.end_ms, np.array(part.ids, np.uint32))
            compared = ~np.isnan(ours.values)
            while True:
                last = settled()
                missing = compared & ~there(ours, target.read(part))
                if last or not missing.any():
                    break
                time.sleep(_COUNT_AGAIN_SECONDS)
            gone = _taken(ours, missing)
            for labels, count in zip(gone.labels, np.diff(gone.offsets).tolist(), strict=True):
                if count:
                    counts.missing[hour_ms, labels.get("__name__", "")] += count
            counts.samples += int(compared.sum())
            counts.nan += int((~compared).sum())
            done += part.samples
    return counts
