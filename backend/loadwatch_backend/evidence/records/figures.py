"""Figures of a run, of its windows, endpoints and seconds; exact, from the records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import QUANTILES, Figures, FloatArray, IntArray, Latency
from loadwatch_backend.evidence.records.parquet import RecordReader
from loadwatch_backend.evidence.records.quantiles import rank_table, select

_COLUMNS = ("latency_ns", "status", "outcome", "bytes_in", "bytes_out")
_STATUSES = 1000
_LARGEST = 2**62
Chunks = Callable[[], Iterable[tuple[dict[str, IntArray], npt.NDArray[np.int32] | None]]]
"""Starts a pass: the columns `_COLUMNS` of some requests, and the group of each (None: all of group 0; -1: skipped)."""


def figures_of(files: RunFiles, from_ns: int, to_ns: int) -> Figures:
    """Exact figures of the requests that started in [from_ns, to_ns); the duration is the window's length.

    Raises:
        DamagedRecordsError: if the records cannot be read.
    """
    with RecordReader(files.records) as reader:
        chunks = _ungrouped(reader, from_ns, to_ns)
        figures = gather(chunks, 1, [(to_ns - from_ns) / NS])[0]
        return with_wait(figures, to_ns, _last_end(reader, from_ns, to_ns)) if figures.requests else figures


def with_wait(figures: Figures, last_ns: int, end_ns: int) -> Figures:
    """The figures with wait and throughput: `last_ns` ends their duration, `end_ns` is when the last answer ended."""
    wait = max(end_ns - last_ns, 0) / NS
    seconds = figures.duration_seconds + wait
    good = figures.outcomes.get(Outcome.OK, 0)
    return replace(figures, wait_seconds=wait, throughput=good / seconds if seconds > 0 else None)


def _last_end(reader: RecordReader, from_ns: int, to_ns: int) -> int:
    ends = (
        int((found["time_ns"] + latencies(found)).max())
        for found in reader.chunks(("time_ns", "latency_ns"), from_ns, to_ns)
        if len(found["time_ns"])
    )
    return max(ends, default=0)


def figures_of_run(reader: RecordReader, duration_seconds: float) -> Figures:
    return gather(_ungrouped(reader, None, None), 1, [duration_seconds])[0]


def figures_by_endpoint(reader: RecordReader, slots: Mapping[str, int], groups: int, seconds: float) -> list[Figures]:
    """Exact figures of `groups` groups of endpoints; an endpoint without a slot belongs to the last group."""

    def chunks() -> Iterable[tuple[dict[str, IntArray], npt.NDArray[np.int32]]]:
        for found, (codes, names) in zip(reader.chunks(_COLUMNS), reader.texts("endpoint"), strict=True):
            yield found, np.array([slots.get(name, groups - 1) for name in names], dtype=np.int32)[codes]

    return gather(chunks, groups, [seconds] * groups)


def percentiles_over(files: RunFiles, quantiles: Sequence[float], from_ns: int, to_ns: int) -> list[float] | None:
    """Exact percentiles of the requests that started in [from_ns, to_ns), seconds; None where there are none.

    Raises:
        DamagedRecordsError: if the records cannot be read.
    """
    with RecordReader(files.records) as reader:

        def values() -> Iterable[tuple[IntArray, None]]:
            return ((latencies(found), None) for found in reader.chunks(("latency_ns",), from_ns, to_ns))

        count = np.array([sum(len(found) for found, _ in values())], dtype=np.int64)
        found = select(values, count, quantiles=quantiles)[0]
    return [int(value) / NS for value in found] if count[0] else None


def endpoints_over(files: RunFiles, names: Sequence[str], from_ns: int, to_ns: int) -> list[Figures]:
    """Exact figures of endpoints over the requests that started in [from_ns, to_ns), and of all others at the end.

    Raises:
        DamagedRecordsError: if the records cannot be read.
    """
    groups = len(names) + 1
    with RecordReader(files.records) as reader:
        chunks = _by_endpoint(reader, _COLUMNS, names, from_ns, to_ns)
        return gather(chunks, groups, [(to_ns - from_ns) / NS] * groups)


def endpoint_percentiles_over(
    files: RunFiles, names: Sequence[str], quantiles: Sequence[float], from_ns: int, to_ns: int
) -> list[list[float] | None]:
    """`percentiles_over` of each endpoint, and of all others at the end.

    Raises:
        DamagedRecordsError: if the records cannot be read.
    """
    counts = np.zeros(len(names) + 1, dtype=np.int64)
    with RecordReader(files.records) as reader:
        chunks = _by_endpoint(reader, ("latency_ns",), names, from_ns, to_ns)
        for _, group in chunks():
            assert group is not None
            counts += np.bincount(group[group >= 0], minlength=len(counts))
        found = select(lambda: ((latencies(found), group) for found, group in chunks()), counts, quantiles=quantiles)
    return [
        [int(value) / NS for value in values] if count else None for values, count in zip(found, counts, strict=True)
    ]


def _by_endpoint(
    reader: RecordReader, columns: Sequence[str], names: Sequence[str], from_ns: int, to_ns: int
) -> Chunks:
    slots = {name: slot for slot, name in enumerate(names)}

    def chunks() -> Iterable[tuple[dict[str, IntArray], npt.NDArray[np.int32]]]:
        for found, (codes, texts) in zip(reader.chunks((*columns, "time_ns")), reader.texts("endpoint"), strict=True):
            group = np.array([slots.get(name, len(names)) for name in texts], dtype=np.int32)[codes]
            times = found.pop("time_ns")
            yield found, np.where((times >= from_ns) & (times < to_ns), group, -1).astype(np.int32)

    return chunks


def _ungrouped(reader: RecordReader, from_ns: int | None, to_ns: int | None) -> Chunks:
    return lambda: ((found, None) for found in reader.chunks(_COLUMNS, from_ns, to_ns))


class _Totals:
    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.requests = np.zeros(groups, dtype=np.int64)
        self.outcomes = np.zeros((groups, len(OUTCOMES)), dtype=np.int64)
        self.statuses: dict[tuple[int, int], int] = {}
        self.latency = [0] * groups
        self.lowest = np.full(groups, _LARGEST, dtype=np.int64)
        self.highest = np.full(groups, -1, dtype=np.int64)
        self.bytes: dict[str, list[int]] = {"bytes_in": [0] * groups, "bytes_out": [0] * groups}
        self.told: dict[str, npt.NDArray[np.bool_]] = {name: np.zeros(groups, dtype=np.bool_) for name in self.bytes}

    def add(self, found: dict[str, IntArray], group: npt.NDArray[np.int32] | None) -> None:
        """Sums of integers are exact: floats would lose the nanoseconds of a long run."""
        latency = latencies(found)
        if group is None:
            self._add(found, latency, 0)
            return
        order = np.argsort(group, kind="stable")
        ordered = group[order]
        starts: list[int] = [0] if len(ordered) else []
        starts += (np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist()
        sorted_columns = {name: values[order] for name, values in found.items()}
        latency = latency[order]
        for low, high in zip(starts, [*starts[1:], len(ordered)], strict=True):
            if ordered[low] >= 0:
                part = {name: values[low:high] for name, values in sorted_columns.items()}
                self._add(part, latency[low:high], int(ordered[low]))

    def _add(self, found: dict[str, IntArray], latency: IntArray, at: int) -> None:
        if not len(latency):
            return
        self.requests[at] += len(latency)
        self.outcomes[at] += np.bincount(np.minimum(found["outcome"], len(OUTCOMES) - 1), minlength=len(OUTCOMES))
        status = found["status"]
        if status.min() >= 0 and status.max() < _STATUSES:
            counts = np.bincount(status)
            codes = np.flatnonzero(counts)
            pairs = zip(codes.tolist(), counts[codes].tolist(), strict=True)
        else:
            codes, counts = np.unique(status, return_counts=True)
            pairs = zip(codes.tolist(), counts.tolist(), strict=True)
        for code, count in pairs:
            self.statuses[at, code] = self.statuses.get((at, code), 0) + count
        self.latency[at] += int(latency.sum())
        self.lowest[at] = min(self.lowest[at], latency.min())
        self.highest[at] = max(self.highest[at], latency.max())
        for name, sums in self.bytes.items():
            values = found[name]
            if values.min() < 0:
                values = values[values >= 0]
            if len(values):
                self.told[name][at] = True
                sums[at] += int(values.sum())


def latencies(found: dict[str, IntArray]) -> IntArray:
    """Latencies inside the range that the buckets know; files of our own hold no others."""
    values = found["latency_ns"]
    if len(values) and (values.min() < 0 or values.max() > _LARGEST):
        return np.clip(values, 0, _LARGEST)
    return values


def gather(chunks: Chunks, groups: int, durations: Sequence[float]) -> list[Figures]:
    totals = _Totals(groups)
    for found, group in chunks():
        totals.add(found, group)
    quantiles = select(lambda: ((latencies(found), group) for found, group in chunks()), totals.requests)
    statuses: list[dict[str, int]] = [{} for _ in range(groups)]
    for (at, code), count in sorted(totals.statuses.items()):
        statuses[at][str(code)] = count
    return [
        Figures(
            requests=int(totals.requests[at]),
            duration_seconds=durations[at],
            rate=int(totals.requests[at]) / durations[at] if durations[at] > 0 else None,
            success_ratio=float(totals.outcomes[at, 0] / totals.requests[at]) if totals.requests[at] else None,
            latency=_latency(totals, at, quantiles[at]),
            outcomes={
                outcome: int(totals.outcomes[at, code])
                for code, outcome in enumerate(OUTCOMES)
                if totals.outcomes[at, code]
            },
            status_codes=statuses[at],
            bytes_in=totals.bytes["bytes_in"][at] if totals.told["bytes_in"][at] else None,
            bytes_out=totals.bytes["bytes_out"][at] if totals.told["bytes_out"][at] else None,
        )
        for at in range(groups)
    ]


def _latency(totals: _Totals, at: int, quantiles: IntArray) -> Latency:
    if not totals.requests[at]:
        return Latency()
    named = {name: int(quantiles[index]) / NS for index, (name, _) in enumerate(QUANTILES)}
    return Latency(
        min=int(totals.lowest[at]) / NS,
        mean=totals.latency[at] / int(totals.requests[at]) / NS,
        max=int(totals.highest[at]) / NS,
        **named,
    )


NS = 1_000_000_000
SPAN_ROWS = 3_000_000
"""Requests whose latencies are sorted at once."""
_SPAN_SECONDS = 1 << 16
_LATENCY_BITS = 47
LONGEST_NS = 86_400 * NS
"""A day: the longest latency that is taken for one. It fits into `_LATENCY_BITS`."""


def latency_by_second(reader: RecordReader, first: int, requests: IntArray) -> FloatArray:
    """p50, p90, p95, p99, max and min of every second, in seconds; NaN where there was no request.

    Second and latency are sorted as one integer, a span of seconds at a time, so memory stays the same however many
    requests there are and in whatever order they stand in the file.

    Args:
        reader: the records.
        first: the second since the epoch of row 0.
        requests: how many requests started in each second.
    """
    found = np.full((len(requests), 6), np.nan)
    for low, high in spans(requests):
        counts = requests[low:high]
        from_ns, to_ns = (first + low) * NS, (first + high) * NS
        if counts.sum() > SPAN_ROWS:
            found[low] = _crowded(reader, from_ns, to_ns, int(counts[0])) / NS
            continue
        keys: list[IntArray] = []
        for chunk in reader.chunks(["time_ns", "latency_ns"], from_ns, to_ns):
            keys.append((((chunk["time_ns"] - from_ns) // NS) << _LATENCY_BITS) | chunk["latency_ns"])
        ordered = np.concatenate(keys)
        ordered.sort()
        ends = np.cumsum(counts)
        ranks = (rank_table(counts), counts[:, None], np.ones((len(counts), 1), dtype=np.int64))
        places = np.concatenate(ranks, axis=1) + (ends - counts)[:, None] - 1
        busy = counts > 0
        values = ordered[places[busy]] & ((1 << _LATENCY_BITS) - 1)
        found[low:high][busy] = values / NS
    return found


def spans(requests: IntArray) -> Iterator[tuple[int, int]]:
    """Ranges of seconds with at most `SPAN_ROWS` requests; a fuller second is one by itself."""
    ends: IntArray = np.cumsum(np.append(np.zeros(1, dtype=np.int64), requests))
    low = 0
    while low < len(requests):
        high = int(np.searchsorted(ends, int(ends[low]) + SPAN_ROWS, side="right")) - 1
        high = min(max(high, low + 1), low + _SPAN_SECONDS, len(requests))
        if ends[high] > ends[low]:
            yield low, high
        low = high


def _crowded(reader: RecordReader, from_ns: int, to_ns: int, count: int) -> IntArray:
    quantiles = select(
        lambda: ((chunk["latency_ns"], None) for chunk in reader.chunks(["latency_ns"], from_ns, to_ns)),
        np.array([count]),
    )
    each = [c["latency_ns"] for c in reader.chunks(["latency_ns"], from_ns, to_ns) if len(c["latency_ns"])]
    return np.append(quantiles[0], [max(one.max() for one in each), min(one.min() for one in each)])
