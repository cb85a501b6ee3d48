"""SQLAlchemy's pool as Prometheus metrics: `create_engine(url, poolclass=WatchedPool, pool_logging_name="main")`."""

import os

from prometheus_client import Counter, Gauge
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

LABELS = ("pool", "worker")
SIZE, OVERFLOW, OUT, WAITING = (
    Gauge(f"sqlalchemy_pool_{name}", help, LABELS, multiprocess_mode="livesum")
    for name, help in (
        ("size", "Connections that the pool keeps."),
        ("max_overflow", "Connections beyond them, opened at need."),
        ("checked_out", "Connections in use."),
        ("waiting", "Requests that wait for a connection now."),
    )
)
WAITS = Counter("sqlalchemy_pool_waits_total", "Requests that waited for a connection.", LABELS)


class WatchedPool(QueuePool):
    """For async engines: `class WatchedAsyncPool(WatchedPool, AsyncAdaptedQueuePool): ...`."""

    def _do_get(self) -> ConnectionPoolEntry:
        labels = (self.logging_name or "main", str(os.getpid()))
        most = self._max_overflow if self._max_overflow >= 0 else float("inf")
        SIZE.labels(*labels).set(self.size())
        OVERFLOW.labels(*labels).set(most)
        if self.checkedin() or self.overflow() < most:
            record = super()._do_get()
        else:
            WAITS.labels(*labels).inc()
            with WAITING.labels(*labels).track_inprogress():
                record = super()._do_get()
        OUT.labels(*labels).inc()
        return record

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        OUT.labels(self.logging_name or "main", str(os.getpid())).dec()
        super()._do_return_conn(record)
