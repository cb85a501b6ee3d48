"""The server keeps its own metrics, without an agent: what /metrics shows, in its own store.

So the rules about Loadwatch itself work from the first start on. Histograms are left out: no rule reads them, and they
are most of the series. So are `process_*` and `up`: they would make the server one of the targets that people look at,
and have the rules about those evaluated each second on a server that watches nothing.
"""

import threading
from collections.abc import Callable, Iterable

import numpy as np
import structlog
from prometheus_client.metrics_core import Metric

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.store.port import Batch, Labels, Writer

logger = structlog.get_logger(__name__)

JOB = "loadwatch"
PREFIX = "loadwatch_"
WRITE_SECONDS = 30.0
LEFT_OUT = frozenset({"histogram", "info"})


class SelfWatch:
    """A thread of its own; what cannot be read or written once is tried again at the next tick."""

    def __init__(
        self,
        *,
        collect: Callable[[], Iterable[Metric]],
        store: Writer,
        clock: Clock,
        instance: str,
        seconds: float,
    ) -> None:
        self._collect = collect
        self._store = store
        self._clock = clock
        self._instance = instance
        self._seconds = seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="self-watch", daemon=True)

    def start(self) -> None:
        """Begin with a first tick now."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        broken = False
        while not self._stopping.is_set():
            try:
                self.tick()
                broken = False
            except Exception as error:
                if not broken:
                    logger.warning("the server's own metrics were not kept", error=type(error).__name__)
                broken = True
            self._stopping.wait(self._seconds)

    def tick(self) -> None:
        """Read all metrics and write them, with the time of now.

        Raises:
            StoreBusyError, StoreWriteError, DatabaseError: they could not be read or written.
        """
        own = {"job": JOB, "instance": self._instance}
        values: list[tuple[Labels, float]] = [
            ({"__name__": sample.name, **sample.labels, **own}, sample.value)
            for family in self._collect()
            if family.name.startswith(PREFIX) and family.type not in LEFT_OUT
            for sample in family.samples
        ]
        series = self._store.resolve([labels for labels, _ in values])
        times = np.full(len(values), self._clock(), np.int64)
        numbers = np.array([value for _, value in values], np.float64)
        batch = Batch(series=series, timestamps=times, values=numbers, own=True)
        self._store.append(batch).result(WRITE_SECONDS)
