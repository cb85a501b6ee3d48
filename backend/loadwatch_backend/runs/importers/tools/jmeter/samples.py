"""What JMeter's CSV and XML results have in common: what a sample's code, message and success come to, and remarks.

Sources: JMeter 5.6.3, SampleSaveConfiguration, CSVSaveService, TransactionController, and the dashboard's
PercentileAggregator (a window of the last 20,000 samples, estimated as by commons-math's DescriptiveStatistics).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import jmeter_status

from loadwatch_backend.evidence.records.model import IntArray, RemarkKind
from loadwatch_backend.runs.importers.sink import Sink

TRANSACTION = "Number of samples in transaction"
"""How the message of a Transaction Controller's own sample begins; the requests inside it are samples of their own."""
NO_LABEL = "jmeter"
"""The endpoint of samples without label and URL."""
WINDOW = 20_000
"""Samples of a label that the dashboard's percentiles describe by default (jmeter.reportgenerator.statistic_window)."""
_NOT_HTTP = ("Non HTTP response code: ", "Non HTTP response message: ")
_TRACKED_LABELS = 200
_SHOWN_LABELS = 10
_SLOWEST_MS = 3_600_000
_QUANTILES = (("p90", 0.9), ("p95", 0.95), ("p99", 0.99))


def error_text(code: str, message: str, failure: str) -> str:
    """What went wrong with a failed sample: the assertion's text, the exception, or status and message."""
    if failure:
        return failure
    code, message = code.removeprefix(_NOT_HTTP[0]).strip(), message.removeprefix(_NOT_HTTP[1]).strip()
    if code and message and not jmeter_status(code):
        return f"{code}: {message}"
    return f"{code} {message}".strip() or "failed without a reason"


def dashboard_percentile(times: IntArray, quantile: float) -> float:
    """As JMeter's dashboard estimates it from its window: commons-math's Percentile, type LEGACY, milliseconds."""
    ordered = np.sort(times)
    place = quantile * (len(ordered) + 1)
    if place < 1:
        return float(ordered[0])
    if place >= len(ordered):
        return float(ordered[-1])
    low = int(place)
    return float(ordered[low - 1] + (place - low) * (ordered[low] - ordered[low - 1]))


class _Times:
    """Latencies of one label: all of them counted, and the last of them as the dashboard holds them."""

    def __init__(self) -> None:
        self.count = 0
        self._counts = np.zeros(1024, dtype=np.int64)
        self._tail: list[IntArray] = []
        self._held = 0

    def add(self, elapsed: IntArray) -> None:
        self.count += len(elapsed)
        kept = np.clip(elapsed, 0, _SLOWEST_MS)
        counts = np.bincount(kept)
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, (0, max(len(counts), 2 * len(self._counts)) - len(self._counts)))
        self._counts[: len(counts)] += counts
        self._tail.append(elapsed[-WINDOW:])
        self._held += len(self._tail[-1])
        while self._held - len(self._tail[0]) >= WINDOW:
            self._held -= len(self._tail.pop(0))

    def figures(self) -> dict[str, float]:
        """Both percentiles in seconds, `ours_p95` (all samples, nearest rank) and `tool_p95`, and so on."""
        window = np.concatenate(self._tail)[-WINDOW:]
        reached = np.cumsum(self._counts)
        found: dict[str, float] = {"samples": self.count}
        for name, quantile in _QUANTILES:
            rank = -(-self.count * int(quantile * 100) // 100)
            found[f"ours_{name}"] = int(np.searchsorted(reached, rank)) / 1000
            found[f"tool_{name}"] = round(dashboard_percentile(window, quantile) / 1000, 6)
        return found


class Samples:
    """What the remarks need to know of all samples, told in the order of the file."""

    def __init__(self) -> None:
        self.plain = 0
        self.transactions = 0
        self.excused = 0
        """Samples with a status of 400 or more that an assertion made a success."""
        self.several = 0
        """Rows that stand for more than one sample."""
        self._total = _Times()
        self._labels: dict[str, _Times] = {}

    def add(self, codes: npt.NDArray[np.int32], names: Sequence[str], elapsed: IntArray) -> None:
        """Labels and latencies (ms) of some samples."""
        self.plain += len(elapsed)
        self._total.add(elapsed)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for place, rows in zip(codes[order][starts], np.split(order, starts[1:]), strict=True):
            name = names[int(place)]
            times = self._labels.get(name)
            if times is None:
                if len(self._labels) >= _TRACKED_LABELS:
                    continue
                times = self._labels[name] = _Times()
            times.add(elapsed[rows])

    def remark(self, sink: Sink, *, transactions_counted: bool) -> None:
        """Everything that the reader of the figures must know."""
        if self.transactions and not transactions_counted:
            sink.remark(
                RemarkKind.DISTORTION,
                "jmeter-transactions",
                f"{self.transactions} rows of Transaction Controllers are not counted: they sum up requests that have "
                "rows of their own.",
                figures={"rows": self.transactions},
            )
        if transactions_counted:
            sink.remark(
                RemarkKind.MISSING,
                "jmeter-transactions-only",
                "The file holds transactions only, without the requests inside them; each counts as one request.",
                figures={"rows": self.transactions},
            )
        if self.excused:
            sink.remark(
                RemarkKind.DISTORTION,
                "jmeter-excused",
                f"{self.excused} requests were answered 400 or above and count as ok, because JMeter calls them "
                "successful (an assertion ignores the status).",
                figures={"requests": self.excused},
            )
        if self.several:
            sink.remark(
                RemarkKind.DISTORTION,
                "jmeter-summed-rows",
                f"{self.several} rows stand for several samples each (SampleCount); each is read as one request.",
                figures={"rows": self.several},
            )
        parents = sorted(name for name in self._labels if f"{name}-0" in self._labels)
        if parents:
            sink.remark(
                RemarkKind.DISTORTION,
                "jmeter-sub-samples",
                f"Redirects and embedded resources are rows of their own beside the request that caused them, and count"
                f" as requests, as in JMeter's dashboard: {', '.join(parents[:5])}. They can be left out with"
                " jmeter.save.saveservice.subresults=false.",
            )
        self._remark_window(sink)

    def _remark_window(self, sink: Sink) -> None:
        large = sorted((name for name in self._labels if self._labels[name].count > WINDOW), key=self._count)
        told = [("Total", self._total)] if self._total.count > WINDOW else []
        told += [(name, self._labels[name]) for name in large[:_SHOWN_LABELS]]
        for name, times in told:
            figures = times.figures()
            if name != "Total" and all(figures[f"ours_{q}"] == figures[f"tool_{q}"] for q, _ in _QUANTILES):
                continue
            sink.remark(
                RemarkKind.DISTORTION,
                "jmeter-last-20000",
                f"{name}: JMeter's dashboard takes its percentiles from the last {WINDOW:,} of {times.count:,} samples "
                f"(p95 {figures['tool_p95'] * 1000:g} ms); over all of them p95 is {figures['ours_p95'] * 1000:g} ms.",
                figures=figures,
            )

    def _count(self, name: str) -> int:
        return -self._labels[name].count
