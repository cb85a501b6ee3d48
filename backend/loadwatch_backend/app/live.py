"""Passes the news of commits and of alerts from the threads that make them to any number of streams."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from loadwatch_backend.access.endpoints import Leave
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

INTERVAL_SECONDS = 0.25
"""At most four events a second: no page draws faster."""
KEEPALIVE_SECONDS = 10.0
KEEPALIVE = b": still here\n\n"


def format_samples_event(newest_ms: int | None, committed_ms: int) -> bytes:
    data = orjson.dumps({"newest_ms": newest_ms, "committed_ms": committed_ms})
    return b"event: samples\ndata: " + data + b"\n\n"


class LiveHub:
    """Holds the latest news of each kind; a stream that falls behind skips to it."""

    def __init__(self, *, interval_seconds: float = INTERVAL_SECONDS, keepalive_seconds: float = KEEPALIVE_SECONDS):
        self._interval_seconds = interval_seconds
        self._keepalive_seconds = keepalive_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: set[asyncio.Event] = set()
        self._latest: dict[str, tuple[int, bytes]] = {}
        self._version = 0
        self._closed = False

    @property
    def streams(self) -> int:
        return len(self._wake)

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()

    def publish(self, newest_ms: int | None, committed_ms: int) -> None:
        """Tell all streams of new samples; from any thread, never blocks, and does nothing once closed."""
        self._tell("samples", lambda: format_samples_event(newest_ms, committed_ms))

    def publish_alerts(self, changed_ms: int) -> None:
        self._tell("alerts", lambda: b"event: alerts\ndata: " + orjson.dumps({"changed_ms": changed_ms}) + b"\n\n")

    def _tell(self, kind: str, event: Callable[[], bytes]) -> None:
        loop = self._loop
        if loop is None or self._closed or not self._wake:
            return
        try:
            loop.call_soon_threadsafe(self._set, kind, event())
        except RuntimeError:  # the loop ended between the check and the call
            return

    def close(self) -> None:
        """End all streams, so that the server can stop; on the event loop's thread."""
        self._closed = True
        self._notify()

    def _set(self, kind: str, event: bytes) -> None:
        self._version += 1
        self._latest[kind] = (self._version, event)
        self._notify()

    def _notify(self) -> None:
        for wake in self._wake:
            wake.set()

    async def stream(self, until: Callable[[], Coroutine[Any, Any, object]]) -> AsyncIterator[bytes]:
        """Chunks of one event stream, until the hub closes, the reader goes, or what `until` waits for has come."""
        wake = asyncio.Event()
        self._wake.add(wake)
        seen = self._version
        watch = asyncio.create_task(until())
        watch.add_done_callback(lambda _: wake.set())
        try:
            yield KEEPALIVE
            while not self._closed and not watch.done():
                try:
                    async with asyncio.timeout(self._keepalive_seconds):
                        await wake.wait()
                except TimeoutError:
                    yield KEEPALIVE
                    continue
                wake.clear()
                if self._version != seen and not watch.done():
                    news = b"".join(event for version, event in self._latest.values() if version > seen)
                    seen = self._version
                    yield news
                    await self._pause()
        finally:
            watch.cancel()
            self._wake.discard(wake)

    async def _pause(self) -> None:
        end = asyncio.get_running_loop().time() + self._interval_seconds
        while not self._closed and (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 0.05))


router = APIRouter(prefix="/api/live", tags=["live"], responses=PROBLEM_RESPONSES)

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`event: samples` with `newest_ms` and `committed_ms`, and `event: alerts` with `changed_ms`, "
        "each at most four times a second.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("", summary="Follow new samples", response_class=StreamingResponse, responses=STREAM)
async def follow_samples(hub: Annotated[LiveHub, Depends(service(LiveHub))], leave: Leave) -> StreamingResponse:
    """A stream that says when new samples can be read; a comment line every 10 s keeps proxies from closing it.

    It ends within about a second of the session or token, or when the role changes.
    """
    return StreamingResponse(
        hub.stream(leave),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
