"""Line charts as SVG text, for a page that loads nothing.

Colours come from the page's classes, never from attributes, so that dark mode and print can change them; lines differ
by dashes too, for readers who do not see colours.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from loadwatch_formats.numbers import format_value
from markupsafe import Markup, escape

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.registry.documents import reduce_extremes
from loadwatch_backend.runs.report.findings import elapsed_text, elapsed_ticks, value_ticks

WIDTH, HEIGHT = 760, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 10, 26
MOST_POINTS = 400
_FAR = 4


class Line(NamedTuple):
    """One line: values at even steps of elapsed time, NaN for gaps."""

    name: str
    values: FloatArray


class Mark(NamedTuple):
    """An annotation, or a limit that was reached, at an elapsed time."""

    seconds: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart over the elapsed time of a run.

    Attributes:
        span_seconds: what the X axis spans.
        steady: part of it that is shaded, as (from, to); None for none.
        limit: what its lines are held against, a dashed line.
        note: what stands beside the title, where a chart needs words.
    """

    title: str
    unit: str
    span_seconds: float
    lines: Sequence[Line]
    steady: tuple[float, float] | None = None
    marks: Sequence[Mark] = ()
    limit: float | None = None
    note: str = ""


def reduce_line(values: FloatArray, most: int = MOST_POINTS) -> FloatArray:
    """At most `most` values: each bucket gives its smallest and largest in their order, so that spikes stay."""
    if len(values) <= most:
        return values
    buckets = most // 2
    size = -(-len(values) // buckets)
    padded = np.pad(values, (0, buckets * size - len(values)), constant_values=np.nan)
    return reduce_extremes(padded, size)


def draw_line(points: Iterable[tuple[float, float | None]]) -> str:
    """Commands of a path through points, broken where a value is None."""
    commands: list[str] = []
    pen_down = False
    known = list(points)
    for place, (x, y) in enumerate(known):
        if y is not None:
            commands.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
            # A lone point between gaps has no length and would not show.
            if not pen_down and (place + 1 == len(known) or known[place + 1][1] is None):
                commands.append("h1.5")
        pen_down = y is not None
    return "".join(commands)


def draw_chart(chart: Chart) -> Markup:
    """The chart as an `<svg>` element with a text for readers of screens."""
    largest = max(
        (float(np.nanmax(line.values)) for line in chart.lines if not np.isnan(line.values).all()), default=0.0
    )
    # A limit far above would press the lines flat; the note says it in words.
    near = chart.limit is not None and chart.limit <= _FAR * largest
    ticks = value_ticks(max(largest, chart.limit) if near and chart.limit is not None else largest)
    top = ticks[-1]
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(_spoken(chart))}">',
        _steady_band(chart),
        *(_value_tick(value, top, chart.unit) for value in ticks),
        *(_time_tick(seconds, chart.span_seconds) for seconds in elapsed_ticks(chart.span_seconds)),
        *(_mark(mark, chart.span_seconds) for mark in chart.marks),
        *(_path(place, line, top, chart.span_seconds) for place, line in enumerate(chart.lines)),
        _bound(chart.limit, top) if near and chart.limit is not None else "",
        "</svg>",
    ]
    return Markup("".join(parts))


def _spoken(chart: Chart) -> str:
    sentences = [chart.title]
    for line in chart.lines:
        known = line.values[~np.isnan(line.values)]
        if len(known):
            low, high = format_value(float(known.min()), chart.unit), format_value(float(known.max()), chart.unit)
            sentences.append(f"{line.name}: {low} – {high}")
    return ". ".join(sentences)


def _x(seconds: float, span: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(seconds / max(span, 1e-9), 0.0), 1.0)


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _steady_band(chart: Chart) -> str:
    if chart.steady is None:
        return ""
    left, right = _x(chart.steady[0], chart.span_seconds), _x(chart.steady[1], chart.span_seconds)
    return (
        f'<rect class="steady" x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{HEIGHT - TOP - BOTTOM}"/>'
    )


def _bound(limit: float, top: float) -> str:
    y = _y(limit, top)
    return f'<path class="bound" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'


def _value_tick(value: float, top: float, unit: str) -> str:
    y = _y(value, top)
    text = escape("0" if value == 0 else format_value(value, unit))
    return (
        f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        f'<text class="tick" x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{text}</text>'
    )


def _time_tick(seconds: float, span: float) -> str:
    x = _x(seconds, span)
    return (
        f'<path class="grid" d="M{x:.1f} {HEIGHT - BOTTOM}v4"/>'
        f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{elapsed_text(seconds)}</text>'
    )


def _mark(mark: Mark, span: float) -> str:
    x = _x(mark.seconds, span)
    return f'<g class="mark"><title>{escape(mark.text)}</title><path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/></g>'


def _path(place: int, line: Line, top: float, span: float) -> str:
    values = reduce_line(line.values)
    count = len(values)
    if count == 0:
        return ""
    points = (
        (_x((index + 0.5) / count * span, span), None if math.isnan(value) else _y(value, top))
        for index, value in enumerate(values.tolist())
    )
    return f'<path class="line s{place % 8 + 1}" d="{draw_line(points)}"/>'
