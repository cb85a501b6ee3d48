"""What findings cost: of a run with 2,000 series over 30 minutes, and of the present with 20 targets.

`python -m bench findings-cost`. Beside it, over the same samples: the table "Limits reached", which asks eleven
resources in PromQL. Both read the embedded store.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.findings.read import Span
from loadwatch_backend.findings.registry import DETECTORS, METRICS
from loadwatch_backend.findings.service import LIVE_EVERY_MS, LONGEST_EVERY_MS, MOST_CORE, About, Findings
from loadwatch_backend.runs.analysis import load
from loadwatch_backend.runs.analysis.analyst import reached_limits
from loadwatch_backend.runs.analysis.counters import SeriesReader
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, SampleStore

from bench.machine import describe_machine, write_result

TARGETS, SERIES, SECONDS = 20, 2_000, 1_800
ROUNDS = 5
GOAL_SECONDS, GOAL_CORE = 2.0, 0.05
AT_ONCE = 100_000
START_MS = 1_767_225_600_000


def main() -> int:
    """Measures and writes the result."""
    end_ms = START_MS + SECONDS * 1_000
    with tempfile.TemporaryDirectory(prefix="lw-findings-") as name:
        store = open_embedded(EmbeddedSettings(data_directory=Path(name)), lambda: end_ms)
        try:
            series = _series()
            _fill(store, series)
            now = [end_ms]
            findings = Findings(store, lambda: now[0])
            run = _median(lambda: findings.of_run(Span(from_ms=START_MS, to_ms=end_ms), None, About()))
            reader, span = SeriesReader(Engine(store), lambda: end_ms), load.Span(START_MS, end_ms)
            limits = _median(lambda: reached_limits(reader, shipped_catalogue().resources, span))

            def live() -> None:
                now[0] += LONGEST_EVERY_MS
                findings.live()

            now[0] = end_ms - (ROUNDS + 1) * LONGEST_EVERY_MS
            once = _median(live, time.process_time)
        finally:
            store.close()
    every = max(LIVE_EVERY_MS / 1_000, once / MOST_CORE)
    core = once / every
    document = {
        "machine": describe_machine(),
        "series": len(series),
        "detectors": len(DETECTORS),
        "run_seconds": round(run, 3),
        "limits_reached_seconds": round(limits, 3),
        "ratio": round(run / limits, 2),
        "live_core_seconds": round(once, 3),
        "live_core_share": round(core, 4),
    }
    text = f"""{len(series):,} series of {TARGETS} targets at 1 s over {SECONDS // 60} minutes in the embedded store, {len(DETECTORS)} detectors, median of {ROUNDS}.

| what | measured | goal | |
| --- | ---: | ---: | --- |
| findings of a run | {run:.2f} s | < {GOAL_SECONDS:g} s | {"reached" if run < GOAL_SECONDS else "missed"} |
| "Limits reached" of the same run, in PromQL | {limits:.2f} s | | findings take {run / limits:.2f} of it |
| live, each {every:.0f} s while somebody looks | {once * 1_000:.0f} ms of CPU, {core:.1%} of a core | < {GOAL_CORE:.0%} | {"reached" if core < GOAL_CORE else "missed"} |
"""  # noqa: E501 - rows of a table
    write_result("findings-cost", "What findings cost", text, document)
    return 0


def _series() -> list[dict[str, str]]:
    """As many as targets of one application of twenty instances would have; every metric that detectors read."""
    metrics = sorted(metric for metric in METRICS if not metric.startswith(("loadtest_", "aws_")))
    found: list[dict[str, str]] = []
    variant = 0
    while len(found) < SERIES:
        for target in range(TARGETS):
            for metric in metrics:
                labels = {"__name__": metric, "job": "app", "instance": f"app-{target}", "variant": str(variant)}
                if metric.startswith("go_sql"):
                    labels["db_name"] = "main"
                found.append(labels)
        variant += 1
    return found[:SERIES]


def _fill(store: SampleStore, series: Sequence[Mapping[str, str]]) -> None:
    ids = store.resolve(series)
    chance = np.random.default_rng(12)
    times = START_MS + 1_000 * np.arange(SECONDS, dtype=np.int64)
    for first in range(0, SECONDS, AT_ONCE // len(series) or 1):
        part = times[first : first + (AT_ONCE // len(series) or 1)]
        grown = np.array([one["__name__"].endswith("_total") for one in series])
        values = np.where(
            grown[:, None], (part - START_MS)[None, :] / 100.0, chance.uniform(5, 20, (len(series), len(part)))
        )
        store.append(
            Batch(
                series=np.repeat(ids, len(part)),
                timestamps=np.tile(part, len(series)),
                values=values.ravel(),
            )
        ).result(timeout=120)


def _median(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    taken: list[float] = []
    for _ in range(ROUNDS):
        begun = clock()
        work()
        taken.append(clock() - begun)
    return statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
