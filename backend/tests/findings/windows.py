"""Windows for tests of detectors: series by their PromQL names, made of numbers."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.model import Detector, Finding
from loadwatch_backend.findings.window import Counts, Generator, Grid, Load, Table, Window

START_MS = 1_767_225_600_000
BEFORE = 30
"""Seconds before the focus begins, and after it has ended."""
Values = float | Sequence[float] | FloatArray

_SERIES = re.compile(r"(?P<name>[a-z0-9_A-Z]+)(?:\{(?P<labels>.*)\})?")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def window(
    series: Mapping[str, Values],
    *,
    seconds: int = 60,
    load: Load | None = None,
    generator: Generator | None = None,
    counts: Counts | None = None,
    interval: int = 1,
    intervals: Mapping[str, int] | None = None,
) -> Window:
    """A focus of `seconds` from `START_MS` with `BEFORE` seconds on either side.

    Args:
        series: by name and labels, as `up{job="a"}`: one number for all the time, one for each second of the focus
            (the first and last one hold before and after), or one for each second of all of it.
        interval: seconds between samples.
        intervals: the same for some metrics.
    """
    grid = Grid(START_MS - BEFORE * 1_000, 1_000, seconds + 2 * BEFORE + 1)
    grouped: dict[str, list[tuple[Mapping[str, str], FloatArray]]] = {}
    for text, values in series.items():
        found = _SERIES.fullmatch(text)
        assert found is not None, text
        labels = dict(_LABEL.findall(found["labels"] or ""))
        each = (intervals or {}).get(found["name"], interval)
        grouped.setdefault(found["name"], []).append((labels, _sampled(over(values, seconds), each)))
    return Window(
        grid=grid,
        from_ms=START_MS,
        to_ms=START_MS + seconds * 1_000,
        tables={
            name: Table(
                grid=grid,
                labels=[labels for labels, _ in rows],
                values=np.stack([values for _, values in rows]),
                stale=np.zeros((len(rows), grid.count), dtype=np.bool_),
                interval_ms=np.full(len(rows), (intervals or {}).get(name, interval) * 1_000, dtype=np.int64),
                back=name.startswith("aws_"),
            )
            for name, rows in grouped.items()
        },
        load=load,
        generator=generator,
        counts=counts,
    )


def over(values: Values, seconds: int = 60) -> FloatArray:
    """One value for each instant of the window; see `window`."""
    count = seconds + 2 * BEFORE + 1
    given = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if len(given) == count:
        return given
    if len(given) == 1:
        return np.full(count, given[0])
    assert len(given) == seconds, f"{len(given)} values for {seconds} seconds"
    return np.concatenate([np.full(BEFORE + 1, given[0]), given, np.full(BEFORE, given[-1])])


def rising(per_second: Values, *, begin: float = 1_000.0, seconds: int = 60) -> FloatArray:
    """A counter that grows so much in each second of the focus, and not before and after."""
    rates = np.asarray(per_second, dtype=np.float64)
    grown = np.zeros(seconds + 2 * BEFORE + 1)
    grown[BEFORE + 1 : BEFORE + 1 + seconds] = rates
    return begin + np.cumsum(grown)


def load(
    ok: Values, *, seconds: int = 60, p95: Values = 0.05, p50: Values = 0.02, target: float = np.nan, **failed: Values
) -> Load:
    """Requests per second by outcome, in the focus only."""

    def focus(values: Values) -> FloatArray:
        result = np.full(seconds + 2 * BEFORE + 1, np.nan)
        result[BEFORE + 1 : BEFORE + 1 + seconds] = values
        return result

    return Load(
        outcomes={name: focus(values) for name, values in {"ok": ok, **failed}.items()},
        p50=focus(p50),
        p95=focus(p95),
        p99=focus(p95),
        target=focus(target),
        users=focus(np.nan),
    )


def steps(*parts: tuple[int, float]) -> FloatArray:
    """Values that hold for some seconds each: `steps((10, 0.0), (50, 30.0))`."""
    return np.concatenate([np.full(seconds, value, dtype=np.float64) for seconds, value in parts])


def found(detector: Detector, seen: Window) -> Finding:
    """The one finding of a detector."""
    findings = detector.look(seen).findings
    assert len(findings) == 1, [one.sentence.en for one in findings]
    return findings[0]


def _sampled(values: FloatArray, interval: int) -> FloatArray:
    keep = np.arange(len(values)) % interval == 0
    return np.where(keep, values, np.nan)
