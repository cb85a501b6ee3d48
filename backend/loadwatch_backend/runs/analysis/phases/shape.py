"""The steady window of a run, found or set by hand, and its ramp. Pure."""

from dataclasses import dataclass

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, Seconds
from loadwatch_backend.runs.analysis.load import SECOND_MS, Load, Span
from loadwatch_backend.runs.analysis.phases.levels import Level, Offered, offered_load, rising_rows
from loadwatch_backend.runs.analysis.phases.ramp import P95
from loadwatch_backend.runs.analysis.phases.steady import SteadyRows, find_steady
from loadwatch_backend.runs.analysis.schemas import SteadyWindow, WindowSource
from loadwatch_backend.runs.analysis.subject import Subject
from loadwatch_backend.runs.fields import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How the load of a run went: its steady part, and its ramp if it has one."""

    window: SteadyWindow
    steady: Span
    offered: Offered | None
    rising: Level | None


def find_shape(subject: Subject, load: Load) -> Shape:
    """The steady window, found or set by hand, and the ramp."""
    seconds = load.seconds
    offered = rising = None
    rows = SteadyRows(0, 0, False, "no-seconds")
    if seconds is not None:
        requests = seconds.requests.astype(np.float64)
        offered = offered_load(requests, load.target, seconds.users)
        rising = rising_rows(offered)
        p95 = None if seconds.latency is None else seconds.latency[:, P95]
        rows = find_steady(requests, p95, _failed(seconds), ramps=rising is not None)
    elif load.whole is not None and not load.whole.requests:
        rows = SteadyRows(0, 0, False, "no-requests")
    found = _found_span(load, rows)
    if subject.steady is not None:
        by_hand = _span_of(subject.steady, subject.started_ms, load.span)
        shown = _window_of(found, subject.started_ms) if rows.steady else None
        window = _steady_window(by_hand, subject.started_ms, WindowSource.ADJUSTED, "by-hand", shown)
        return Shape(window=window, steady=by_hand, offered=offered, rising=rising)
    source = WindowSource.FOUND if rows.steady else WindowSource.WHOLE
    window = _steady_window(found, subject.started_ms, source, rows.reason, None)
    return Shape(window=window, steady=found, offered=offered, rising=rising)


def _found_span(load: Load, rows: SteadyRows) -> Span:
    if not rows.steady:
        return load.span
    first, last = (load.start_ms + row * SECOND_MS for row in (rows.first, rows.last))
    return Span(max(first, load.span.from_ms), min(last, load.span.to_ms))


def _span_of(window: Window, started_ms: int, whole: Span) -> Span:
    first, last = (started_ms + round(seconds * SECOND_MS) for seconds in (window.from_seconds, window.to_seconds))
    first = min(first, max(whole.to_ms - SECOND_MS, whole.from_ms))
    return Span(first, max(min(last, whole.to_ms), first))


def _window_of(span: Span, started_ms: int) -> Window:
    return Window(
        from_seconds=max((span.from_ms - started_ms) / SECOND_MS, 0.0),
        to_seconds=max((span.to_ms - started_ms) / SECOND_MS, 0.001),
    )


def _steady_window(
    span: Span, started_ms: int, source: WindowSource, reason: str, found: Window | None
) -> SteadyWindow:
    return SteadyWindow(
        from_seconds=max((span.from_ms - started_ms) / SECOND_MS, 0.0),
        to_seconds=max((span.to_ms - started_ms) / SECOND_MS, 0.0),
        from_ms=span.from_ms,
        to_ms=span.to_ms,
        source=source,
        reason=reason,
        found=found,
    )


def _failed(seconds: Seconds) -> FloatArray:
    """Share of failed requests in each second."""
    requests = seconds.requests
    ok = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]]
    share: FloatArray = (requests - ok) / np.maximum(requests, 1)
    return share
