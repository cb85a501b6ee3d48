"""The server keeps its own metrics, without an agent: what /metrics shows, in its own store.

So the rules about Loadwatch itself work from the first start on. Histograms are left out: no rule reads them, and they
are most of the series. So are `process_*` and `up`: they would make the server one of the targets that people look at,
and have the rules about those evaluated each second on a server that watches nothing.
"""

from collections.abc import Callable, Iterable

import numpy as np
from prometheus_client.metrics_core import Metric

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.series.store.port import Batch, Labels, Writer

JOB = "loadwatch"
PREFIX = "loadwatch_"
WRITE_SECONDS = 30.0
LEFT_OUT = frozenset({"histogram", "info"})


def write_own_metrics(collect: Callable[[], Iterable[Metric]], store: Writer, clock: Clock, instance: str) -> None:
    """Read all metrics and write them, with the time of now.

    Raises:
        StoreBusyError, StoreWriteError, DatabaseError: they could not be read or written.
    """
    own = {"job": JOB, "instance": instance}
    values: list[tuple[Labels, float]] = [
        ({"__name__": sample.name, **sample.labels, **own}, sample.value)
        for family in collect()
        if family.name.startswith(PREFIX) and family.type not in LEFT_OUT
        for sample in family.samples
    ]
    series = store.resolve([labels for labels, _ in values])
    times = np.full(len(values), clock(), np.int64)
    numbers = np.array([value for _, value in values], np.float64)
    store.append(Batch(series=series, timestamps=times, values=numbers, own=True)).result(WRITE_SECONDS)
