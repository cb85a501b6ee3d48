"""Runs made of arrays, and a real store to put samples into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import (
    OUTCOME_CODES,
    Figures,
    FloatArray,
    IntArray,
    Latency,
    LoadResult,
    RampFacts,
    Seconds,
)
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore
from loadwatch_backend.series.store.port import Batch
from loadwatch_formats.outcomes import OUTCOMES, Outcome

START_MS = 1_768_550_400_000
QUANTILES = (0.5, 0.9, 0.95, 0.99, 1.0)

Samples = Sequence[tuple[int, float]]


def nearest_rank(values: Sequence[float], quantile: float) -> float:
    ordered = sorted(values)
    return ordered[max(int(np.ceil(quantile * len(ordered) - 1e-9)), 1) - 1]


@dataclass
class Requests:
    """Single requests: start in ns, latency in seconds, outcome; what an importer would have read."""

    starts: IntArray
    latencies: FloatArray
    outcomes: Sequence[Outcome] = field(default_factory=list[Outcome])

    def outcome(self, place: int) -> Outcome:
        return self.outcomes[place] if len(self.outcomes) else Outcome.OK

    def figures(self, from_ns: int, to_ns: int, duration: float | None = None) -> Figures:
        places = np.flatnonzero((self.starts >= from_ns) & (self.starts < to_ns)).tolist()
        seconds = (to_ns - from_ns) / 1e9 if duration is None else duration
        found = [float(self.latencies[place]) for place in places]
        counts: dict[Outcome, int] = {}
        for place in places:
            counts[self.outcome(place)] = counts.get(self.outcome(place), 0) + 1
        return figures_of(found, counts, seconds)

    def figures_of(self, files: RunFiles, from_ns: int, to_ns: int) -> Figures:
        return self.figures(from_ns, to_ns)

    def seconds(self) -> Seconds:
        first, last = int(self.starts.min()) // 10**9, int(self.starts.max()) // 10**9
        rows = self.starts // 10**9 - first
        outcomes = np.zeros((last - first + 1, len(OUTCOMES)), np.int64)
        latency = np.full((len(outcomes), 5), np.nan)
        for place, row in enumerate(rows.tolist()):
            outcomes[row, OUTCOME_CODES[self.outcome(place)]] += 1
        for row in range(len(outcomes)):
            found = self.latencies[rows == row].tolist()
            if found:
                latency[row] = [nearest_rank(found, quantile) for quantile in QUANTILES]
        return Seconds(
            start_ms=first * 1_000,
            outcomes=outcomes,
            latency=latency,
            bytes_in=None,
            bytes_out=None,
            users=None,
            exact=True,
        )

    def result(self) -> LoadResult:
        first, last = int(self.starts.min()), int(self.starts.max())
        count = len(self.starts)
        duration = (last - first) / 1e9 * count / max(count - 1, 1)
        return load_result(
            self.figures(first, last + 1, duration),
            self.seconds(),
            start_ms=first // 10**6,
            end_ms=last // 10**6 + 1,
            has_records=True,
        )


def figures_of(latencies: Sequence[float], counts: Mapping[Outcome, int], seconds: float) -> Figures:
    total = sum(counts.values())
    latency = Latency()
    if latencies:
        latency = Latency(
            min=min(latencies),
            mean=float(np.mean(latencies)),
            p50=nearest_rank(latencies, 0.5),
            p90=nearest_rank(latencies, 0.9),
            p95=nearest_rank(latencies, 0.95),
            p99=nearest_rank(latencies, 0.99),
            max=max(latencies),
        )
    return Figures(
        requests=total,
        duration_seconds=seconds,
        rate=total / seconds if seconds > 0 else None,
        success_ratio=counts.get(Outcome.OK, 0) / total if total else None,
        latency=latency,
        outcomes=dict(counts),
        status_codes={},
        bytes_in=None,
        bytes_out=None,
    )


def load_result(
    figures: Figures,
    seconds: Seconds | None,
    *,
    start_ms: int | None = START_MS,
    end_ms: int | None = None,
    has_records: bool = False,
    facts: RampFacts | None = None,
) -> LoadResult:
    return LoadResult(
        format="test",
        tool="test",
        tool_version=None,
        name=None,
        start_ms=start_ms,
        end_ms=end_ms,
        figures=figures,
        endpoints=[],
        errors=[],
        seconds=seconds,
        remarks=[],
        has_records=has_records,
        facts=facts or RampFacts(),
    )


def per_second(
    ok: Sequence[float] | FloatArray | IntArray,
    p95: Sequence[float] | FloatArray | None = None,
    failed: Mapping[Outcome, Sequence[float] | FloatArray | IntArray] | None = None,
    users: FloatArray | None = None,
) -> Seconds:
    """A series without single requests; the other percentiles are shares of p95."""
    outcomes = np.zeros((len(ok), len(OUTCOMES)), np.int64)
    outcomes[:, 0] = np.rint(ok)
    for outcome, counts in (failed or {}).items():
        outcomes[:, OUTCOME_CODES[outcome]] = np.rint(counts)
    latency = None
    if p95 is not None:
        latency = np.asarray(p95, np.float64)[:, None] * np.array([0.5, 0.9, 1.0, 1.2, 2.0])
        latency[outcomes.sum(axis=1) == 0] = np.nan
    return Seconds(
        start_ms=START_MS,
        outcomes=outcomes,
        latency=latency,
        bytes_in=None,
        bytes_out=None,
        users=users,
        exact=True,
    )


def result_of(seconds: Seconds, *, facts: RampFacts | None = None) -> LoadResult:
    counts = {
        outcome: int(count) for outcome, count in zip(OUTCOMES, seconds.outcomes.sum(axis=0), strict=True) if count
    }
    length = len(seconds.outcomes)
    figures = figures_of([], counts, float(length))
    return load_result(figures, seconds, end_ms=START_MS + length * 1_000, facts=facts)


def subject(load: LoadResult | None = None, **fields: Any) -> Subject:
    given: dict[str, Any] = {
        "id": "20260116-080000-aaaa",
        "state": RunState.FINISHED,
        "tool": "vegeta",
        "started_ms": START_MS,
        "ended_ms": START_MS + 60_000,
        "target_rate": None,
        "target_duration_seconds": None,
        "thresholds": (),
        "expectations": (),
        "steady": None,
        "generator": None,
        "load": load,
        "files": None,
    }
    if load is not None and load.seconds is not None:
        given["ended_ms"] = given["started_ms"] + 1_000 * len(load.seconds.outcomes)
    if load is not None and load.has_records:
        assert load.start_ms is not None
        assert load.end_ms is not None
        given |= {"started_ms": load.start_ms, "ended_ms": load.end_ms, "files": RunFiles(Path("unused"))}
    return Subject(**(given | fields))


@dataclass
class Bench:
    """A real store with an analyst over it."""

    store: EmbeddedStore
    now_ms: int = START_MS + 3_600_000

    def write(self, *series: tuple[dict[str, str], Samples]) -> None:
        ids = self.store.resolve([labels for labels, _ in series])
        rows = [(id, time, value) for id, (_, samples) in zip(ids, series, strict=True) for time, value in samples]
        columns = list(zip(*rows, strict=True))
        self.store.append(
            Batch(
                series=np.array(columns[0], np.uint32),
                timestamps=np.array(columns[1], np.int64),
                values=np.array(columns[2], np.float64),
            )
        ).result(timeout=30)

    def analyst(self, requests: Requests | None = None) -> Analyst:
        reader = Requests(np.empty(0, np.int64), np.empty(0)) if requests is None else requests

        def now() -> int:
            return self.now_ms

        return Analyst(Engine(self.store), now, reader.figures_of, Findings(self.store, now))


def gauge(metric: str, values: Sequence[float] | npt.NDArray[Any], **labels: str) -> tuple[dict[str, str], Samples]:
    """One sample a second from the start."""
    return {"__name__": metric, **labels}, [(START_MS + 1_000 * i, float(value)) for i, value in enumerate(values)]
