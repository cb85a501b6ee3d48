"""Delay of asyncio's event loop as a Prometheus gauge: `asyncio.create_task(watch_loop())` at the start."""

import asyncio

from prometheus_client import Gauge

LAG = Gauge(
    "asyncio_event_loop_lag_seconds", "How much later than planned a callback ran.", multiprocess_mode="livemax"
)


async def watch_loop(every: float = 0.5) -> None:
    """Tell the longest delay of each `every` seconds; never ends."""
    loop = asyncio.get_running_loop()
    while True:
        worst, end = 0.0, loop.time() + every
        while (begun := loop.time()) < end:
            await asyncio.sleep(0.02)
            worst = max(worst, loop.time() - begun - 0.02)
        LAG.set(worst)
