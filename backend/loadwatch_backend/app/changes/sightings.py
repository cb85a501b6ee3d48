"""From samples of the store to what each agent said of each resource, and when. Pure."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.app.changes.model import (
    Fields,
    Listing,
    Point,
    ResourceHistory,
    Subject,
    place_of,
    resource_of,
    source_of,
)
from loadwatch_backend.catalogue.signals.model import Watch
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Selection

LAST_SECOND = 253_402_300_799
"""The latest time that a date can hold; what is beyond it, or no number, is no time."""
_Row = tuple[Labels, list[int], list[float]]


def read_sightings(watch: Watch, selection: Selection) -> dict[Subject, ResourceHistory]:
    """What was said of each resource; series of one resource that follow one another are joined in rising time."""
    rows: dict[Subject, list[_Row]] = {}
    for row, labels in enumerate(selection.labels):
        begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
        times, values = selection.timestamps[begin:end], selection.values[begin:end]
        live = values.view(np.uint64) != STALE_NAN_BITS
        if live.any():
            subject = Subject(resource_of(watch, labels), source_of(labels))
            rows.setdefault(subject, []).append((labels, times[live].tolist(), values[live].tolist()))
    return {subject: _sighting(watch, subject, some) for subject, some in rows.items()}


def _sighting(watch: Watch, subject: Subject, rows: Sequence[_Row]) -> ResourceHistory:
    if len(rows) == 1 and watch.value is None:  # nearly always: nothing has changed
        labels, times, _ = rows[0]
        points = [Point(times[0], labels, fields_of(watch, labels, 1.0))]
        return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=times)
    if len(rows) == 1:
        # Numbers that come each second and hardly ever change: what is alike is left out before it costs anything.
        labels, times, values = rows[0]
        kept = [0, *(index for index in range(1, len(values)) if values[index] != values[index - 1])]
        points = [Point(times[index], labels, fields_of(watch, labels, values[index])) for index in kept]
        return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=times)
    said = [
        Point(time, labels, fields_of(watch, labels, value))
        for labels, times, values in rows
        for time, value in zip(times, values, strict=True)
    ]
    said.sort(key=lambda point: point.time_ms)
    points = [point for place, point in enumerate(said) if not place or said[place - 1].fields != point.fields]
    return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=[point.time_ms for point in said])


def read_listings(selection: Selection) -> dict[str, Listing]:
    """When each agent listed each kind, by place."""
    found: dict[str, Listing] = {}
    for row, labels in enumerate(selection.labels):
        begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
        live = selection.values[begin:end].view(np.uint64) != STALE_NAN_BITS
        times = selection.timestamps[begin:end][live].tolist()
        if times:
            place = place_of(labels, labels.get("kind", ""))
            found[place] = Listing(place=place, times_ms=tuple(times))
    return found


def fields_of(watch: Watch, labels: Labels, value: float) -> Fields:
    """The watched values of a sample; empty ones are not known and left out."""
    found: dict[str, str] = {}
    for label, field in watch.fields.items():
        if (field.unless and labels.get(field.unless)) or (field.form == "time" and not 0 <= value < LAST_SECOND):
            continue
        text = labels.get(label, "") if label else f"{value:.15g}"
        if text:
            found[label] = text
    return found


def title_of(watch: Watch, labels: Labels) -> str:
    """What the resource is called."""
    return "/".join(text for label in watch.name if (text := labels.get(label, ""))) or labels.get("name", "")
