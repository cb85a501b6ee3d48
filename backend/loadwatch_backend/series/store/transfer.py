"""Sends the samples of a stopped server's store to an engine, the oldest hour first, and goes on where it was cut off.

Afterwards it counts, by metric and hour, the samples at whose series and time the engine has none.

How far it is stands in a file, written after what it says was acknowledged. The part after it may have gone out
already, wholly or in pieces: of that part the engine is asked first what it has, because VictoriaMetrics keeps what
comes twice. Where the store has other samples than the file says, each part is asked for first, from the beginning.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import orjson
from loadwatch_formats.backoff import backoff_seconds
from loadwatch_formats.numbers import format_duration

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.embedded.stored_hours import StoredHours
from loadwatch_backend.series.store.errors import EngineAnswerError, EngineAwayError, PatternError, QueryLimitError
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Selection
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.durable_queue import replace_file
from loadwatch_backend.series.store.prometheus.posting import FIRST_PAUSE, LONGEST_PAUSE, post, post_halves, requests_of
from loadwatch_backend.series.store.prometheus.reading import Budget, read_raw
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples, compressed, encode_labels, encode_metadata


def progress_line(*, hour_ms: int, done: int, total: int, seconds: float, begun_with: int) -> str:
    """How far it is, how fast, and for how long still; `begun_with` of the `done` samples were done before."""
    rate = (done - begun_with) / seconds if seconds > 0 else 0.0
    share = 100 * done / total if total else 100.0
    left = f"about {format_duration((total - done) / rate)} left" if rate > 0 else "time left unknown"
    return f"{hour_text(hour_ms)}: {done:,} of {total:,} samples ({share:.1f} %), {rate:,.0f} a second, {left}"


def hour_text(hour_ms: int) -> str:
    return f"{datetime.fromtimestamp(hour_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


STATE_FILE = "migration.json"


class TransferError(Exception):
    """It cannot go on; the text says why and what to do. What was acknowledged so far is not sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferState:
    """All parts before (`hour_ms`, `part`) are acknowledged, or were refused and left out."""

    target: str
    rows: int
    """Samples in the store; if the number changes, the parts of its hours change."""
    hour_ms: int = 0
    part: int = 0
    sent: int = 0
    present: int = 0
    refused: int = 0
    ask: bool = False
    """Whether the engine may have any part already, so that it is asked before each."""


class StateFile:
    """Written as a whole, or not at all."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / STATE_FILE

    def read(self) -> TransferState | None:
        """What is there; None where no transfer was begun.

        Raises:
            TransferError: it cannot be read.
        """
        try:
            document: Any = orjson.loads(self.path.read_bytes())
            match document.pop("format"):
                case 2:
                    return TransferState(**document)
                case 1:
                    # Its hours had other parts.
                    return replace(TransferState(**document), part=0, ask=True)
                case _:
                    raise ValueError("a later version wrote it")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise TransferError(
                f"cannot read {self.path}, which says how far the migration has come: {error}. Begin anew with"
                " --restart; what the engine has already is not sent again"
            ) from error

    def write(self, state: TransferState) -> None:
        """On disk when this returns.

        Raises:
            TransferError: the disk refused; the file is as it was.
        """
        try:
            replace_file(self.path, orjson.dumps({"format": 2, **asdict(state)}))
        except OSError as error:
            raise TransferError(
                f"cannot write {self.path}, which says how far the migration has come: {error.strerror}. Make room or"
                " give this user the right to write there, and run this again: it goes on where it stopped"
            ) from error


PART_SAMPLES = 500_000
"""Of a part, where samples come evenly."""
_MOST_NAMES = 200
_NAME = "__name__"


class Part(NamedTuple):
    ids: Sequence[int]
    samples: int
    start_ms: int
    end_ms: int
    """The last millisecond."""
    matchers: tuple[Matcher, ...]
    """What an engine is asked for them; other series of the engine may match, too."""


def parts_of(
    hour_ms: int, ids: Sequence[int], counts: Sequence[int], labels: Callable[[int], Labels], most: int = PART_SAMPLES
) -> list[Part]:
    """The parts of an hour: whole metrics as long as they fit, larger ones by time."""
    metrics: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    for series, count in zip(ids, counts, strict=True):
        name = labels(series).get(_NAME, "")
        metrics.setdefault(name, []).append(series)
        sizes[name] = sizes.get(name, 0) + count
    parts: list[Part] = []
    for names in _groups(sizes, most):
        size = sum(sizes[name] for name in names)
        ids = sorted(series for name in names for series in metrics[name])
        matchers = (Matcher(_NAME, MatchOperator.REGEX, "|".join(map(re.escape, names))),)
        pieces = min(-(-size // most), HOUR_MS)
        edges = [hour_ms + HOUR_MS * piece // pieces for piece in range(pieces + 1)]
        for piece in range(pieces):
            samples = size * (piece + 1) // pieces - size * piece // pieces
            parts.append(Part(ids, samples, edges[piece], edges[piece + 1] - 1, matchers))
    return parts


def _groups(sizes: dict[str, int], most: int) -> Iterator[list[str]]:
    names: list[str] = []
    for name, size in sorted(sizes.items()):
        # Not every engine finds series without a name by an alternative.
        alone = "" in (name, *names)
        if names and (alone or sum(map(sizes.__getitem__, names)) + size > most or len(names) == _MOST_NAMES):
            yield names
            names = []
        names.append(name)
    if names:
        yield names


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
        labels, samples = selection.labels, (selection.timestamps, selection.values)
        for parts, _ in requests_of(series, *samples, lambda place: encode_labels(labels[place]), self.request_samples):
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
        span = (part.start_ms, part.end_ms)
        try:
            return self._patiently(lambda: read_raw(self.connection, [part.matchers], *span, Budget(_MOST_ASKED))[0])
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
            except EngineAwayError as error:
                if error.refused:
                    raise TransferError(f"{error}. Check the address and the LOADWATCH_STORE_ settings") from error
                wait = max(error.after, backoff_seconds(failures, FIRST_PAUSE, LONGEST_PAUSE))
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
    if any(text in reason for text in _OUT_OF_ORDER):
        days = max((now_ms - oldest_ms) // 86_400_000 + 1, 1)
        return (
            "Prometheus and Mimir take old samples within a window only: set storage.tsdb.out_of_order_time_window (in"
            f" Mimir limits.out_of_order_time_window) to {days}d or more, and its retention to as much, start it again,"
            " and run this again; or leave out what it refuses with --skip-refused"
        )
    return "Change the engine's limits and run this again, or leave out what it refuses with --skip-refused"


_METADATA_ENTRIES = 1_000
_COUNT_AGAIN_SECONDS = 0.5

Flags = npt.NDArray[np.bool_]


Watch = Callable[[int, int, int], None]
"""Told the hour before which all is done, and how many of how many samples are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    source: StoredHours
    target: Target
    file: StateFile
    name: str
    skip_refused: bool
    ask_all: bool
    settle: Callable[[], None]
    """Waits until the engine shows what it took before this began."""
    watch: Watch
    now_ms: int


def transfer(job: Job) -> TransferState:
    """Send what is not there yet; the state at the end.

    Raises:
        TransferError: it cannot go on, or samples were on their way elsewhere; what was acknowledged is in the file.
        StoreReadError: the disk does not give the samples.
    """
    hours = job.source.hours()
    total, done = sum(hours.values()), 0
    before = job.file.read()
    if before is not None and before.target != job.name:
        raise TransferError(
            f"{job.file.path} says that a migration to {before.target} was begun: go on with that, or begin this one"
            " with --restart"
        )
    if before is None:
        state = TransferState(target=job.name, rows=total, ask=job.ask_all)
    elif before.rows != total:
        # The server ran in between: hours have other samples, so other parts, than the file knows of.
        state = replace(before, rows=total, hour_ms=0, part=0, ask=True)
    else:
        state = replace(before, ask=before.ask or job.ask_all)
    if state != before:
        job.file.write(state)
    metadata = list(job.source.metadata().items())
    for first in range(0, len(metadata), _METADATA_ENTRIES):
        job.target.put_metadata(encode_metadata(dict(metadata[first : first + _METADATA_ENTRIES])))
    doubtful = before is not None
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


def there(ours: Selection, found: Sequence[SeriesSamples]) -> Flags:
    """For each of our samples, whether the engine has one of the same series and time."""
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
    hours: int
    samples: int = 0
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
