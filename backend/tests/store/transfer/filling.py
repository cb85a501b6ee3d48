"""A data directory with samples of many kinds, for what moves them."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN, Batch, Labels, MetricMetadata

METADATA = {
    "requests_total": MetricMetadata(type="counter", help="Requests that were answered.", unit=""),
    "temperature_celsius": MetricMetadata(type="gauge", help="", unit="celsius"),
}


def fill(directory: Path, first_ms: int, hours: int, *, hosts: int = 5, samples: int = 20) -> int:
    """Hours from a time on, the last of them not sealed; how many samples there are.

    Counters that begin anew, gauges of two decimals, a series that ends by a stale marker and comes again, hours
    without any sample, labels with signs that selectors escape.
    """
    store = open_embedded(EmbeddedSettings(data_directory=directory), lambda: first_ms + hours * HOUR_MS)
    numbers = random.Random(20261126)
    count = 0
    try:
        store.put_metadata(METADATA)
        for hour in range(hours):
            if hour % 7 == 3:
                continue
            if hour == hours - 1:
                store.seal(first_ms + hour * HOUR_MS)
            begin_ms = first_ms + hour * HOUR_MS
            rows: list[tuple[Labels, int, float]] = []
            for host in range(hosts):
                instance = f'web-{host}.example (10%|"a\\b"):9100'
                for place in range(samples):
                    at_ms = begin_ms + place * HOUR_MS // samples + host
                    total = float((hour % 5 * samples + place) * 3)
                    rows.append(({"__name__": "requests_total", "instance": instance, "code": "200"}, at_ms, total))
                    value = round(20 + numbers.random() * 10, 2)
                    rows.append(({"__name__": "temperature_celsius", "instance": instance}, at_ms, value))
                rows.append(({"__name__": "ended", "instance": instance}, begin_ms + 1_000, 1.0))
                rows.append(({"__name__": "ended", "instance": instance}, begin_ms + 2_000, STALE_NAN))
            rows.append(({"__name__": "lonely"}, begin_ms + 59_000, 1e-9 * hour))
            put(store, rows)
            count += len(rows)
    finally:
        store.close()
    return count


def counted(count: int, hours: int, *, hosts: int = 5) -> int:
    """Those of the samples that `fill` made that every engine shows: all but a stale marker of each host and hour."""
    return count - hosts * sum(hour % 7 != 3 for hour in range(hours))


def put(store: EmbeddedStore, rows: Sequence[tuple[Labels, int, float]]) -> None:
    """Rows of series, time and value, on disk when this returns."""
    store.append(
        Batch(
            series=store.resolve([labels for labels, _, _ in rows]),
            timestamps=np.array([at_ms for _, at_ms, _ in rows], np.int64),
            values=np.array([value for _, _, value in rows], np.float64),
        )
    ).result(timeout=120)


def add(directory: Path, rows: Sequence[tuple[Labels, int, float]]) -> None:
    """More rows into a directory."""
    store = open_embedded(EmbeddedSettings(data_directory=directory), lambda: max(at_ms for _, at_ms, _ in rows))
    try:
        put(store, rows)
    finally:
        store.close()
