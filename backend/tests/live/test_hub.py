import asyncio
from collections.abc import AsyncIterator

from loadwatch_backend.app.live import KEEPALIVE, LiveHub, format_samples_event


async def take(stream: AsyncIterator[bytes], count: int) -> list[bytes]:
    return [await asyncio.wait_for(anext(stream), 120) for _ in range(count)]


def test_an_event_in_the_form_of_the_standard():
    assert format_samples_event(1, 2) == b'event: samples\ndata: {"newest_ms":1,"committed_ms":2}\n\n'


def test_a_slow_reader_skips_to_the_newest():
    async def scene() -> list[bytes]:
        hub = LiveHub(interval_seconds=0.01)
        hub.open()
        stream = hub.stream(asyncio.Event().wait)
        first = await take(stream, 1)
        for time in range(50):
            await asyncio.to_thread(hub.publish, time, time)
        events = await take(stream, 1)
        hub.close()
        rest = [chunk async for chunk in stream]
        return [*first, *events, *rest]

    assert asyncio.run(scene()) == [KEEPALIVE, format_samples_event(49, 49)]


def test_news_that_come_while_a_reader_is_written_to_are_told():
    async def scene() -> list[bytes]:
        hub = LiveHub(interval_seconds=0.01)
        hub.open()
        stream = hub.stream(asyncio.Event().wait)
        events = await take(stream, 1)
        for time in (1, 2):
            await asyncio.to_thread(hub.publish, time, time)
            events += await take(stream, 1)
        hub.close()
        return events

    assert asyncio.run(scene()) == [KEEPALIVE, format_samples_event(1, 1), format_samples_event(2, 2)]


def test_silence_is_filled_with_comments():
    async def scene() -> list[bytes]:
        hub = LiveHub(keepalive_seconds=0.01)
        hub.open()
        stream = hub.stream(asyncio.Event().wait)
        chunks = await take(stream, 3)
        hub.close()
        return chunks

    assert asyncio.run(scene()) == [KEEPALIVE] * 3


def test_a_reader_that_goes_is_forgotten_and_news_without_readers_cost_nothing():
    async def scene() -> tuple[int, int]:
        hub = LiveHub()
        hub.publish(1, 1)
        hub.open()
        stream = hub.stream(asyncio.Event().wait)
        await take(stream, 1)
        there = hub.streams
        await stream.aclose()  # type: ignore[attr-defined] - it is a generator
        return there, hub.streams

    assert asyncio.run(scene()) == (1, 0)


def test_news_after_the_end_are_dropped():
    hub = LiveHub()

    async def scene() -> None:
        hub.open()
        stream = hub.stream(asyncio.Event().wait)
        await take(stream, 1)

    asyncio.run(scene())
    hub.publish(1, 1)
