"""Puts evidence together: the figure, its time, and a small chart of the window. Pure."""

import math
from dataclasses import replace

import numpy as np

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.messages import code, message, messages
from loadwatch_backend.findings.model import Chart, Evidence, Link
from loadwatch_backend.findings.programs import real_expression
from loadwatch_backend.findings.window import Window

CHART_VALUES = 60


def show(
    window: Window,
    text: Words,
    *,
    link: Link,
    expression: str,
    unit: Unit,
    values: FloatArray,
    value: float | None = None,
    at: int | None = None,
    limit: float | None = None,
) -> Evidence:
    """Evidence over the window; the highest of `values` [instant] in the focus where no figure is named.

    The figure is that of instant `at`, or `value`, in `unit`; `limit` is what it is held against.
    """
    inside = window.inside(values)
    place = at
    if place is None:
        known = np.isfinite(inside)
        place = window.focus.start + (int(np.nanargmax(inside)) if known.any() else 0)
    figure = float(values[place]) if value is None else value
    return Evidence(
        text=text,
        link=link,
        expression=real_expression(window, expression),
        unit=unit,
        value=figure,
        at_ms=window.grid.time_ms(place),
        limit=limit,
        chart=chart(window, values),
    )


def evidence(
    window: Window,
    key: str,
    values: FloatArray | float,
    /,
    *,
    value: float | None = None,
    at: int | None = None,
    limit: float | None = None,
    **fields: object,
) -> Evidence:
    """Evidence whose text, link, unit and expression stand in the messages; `value` and `limit` are fields, too.

    A figure in place of `values` [instant] is of the whole focus.
    """
    entry = messages()[key]
    if not isinstance(values, np.ndarray):
        value, at = values, window.focus.start
        values = np.full(window.grid.count, np.nan)
        values[window.focus] = value
    shown = show(
        window,
        SILENT,
        link=Link(entry["link"]),
        expression=code(key, "expression", limit=limit, **fields),
        unit=Unit(entry["unit"]),
        values=values,
        value=value,
        at=at,
        limit=limit,
    )
    return replace(shown, text=message(key, value=shown.value, limit=limit, **fields))


def chart(window: Window, values: FloatArray) -> Chart:
    """The whole focus in at most `CHART_VALUES` parts, the highest value of each."""
    inside = values[window.whole]
    per_part = -(-len(inside) // CHART_VALUES)
    parts = -(-len(inside) // per_part)
    padded = np.full(parts * per_part, np.nan)
    padded[: len(inside)] = inside
    parted = padded.reshape(parts, per_part)
    known = np.isfinite(parted).any(axis=1)
    highest = np.where(known, np.max(np.where(np.isfinite(parted), parted, -np.inf), axis=1), np.nan)
    return Chart(
        start_ms=max(window.grid.time_ms(window.whole.start) - window.grid.step_ms, 0),
        step_ms=per_part * window.grid.step_ms,
        values=[float(f"{value:.4g}") if math.isfinite(value) else None for value in highest.tolist()],
    )
