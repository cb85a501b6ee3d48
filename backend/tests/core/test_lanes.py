"""Endpoints that wait: in threads of their own, so many, for so long."""

import asyncio
import threading
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from loadwatch_backend.core.services import Lane, LaneBusyError
from starlette.requests import Request


def request_of(*messages: str) -> Request:
    """A request whose client sends these messages and then stays."""
    left = list(messages)

    async def receive() -> Any:
        if left:
            return {"type": left.pop(0)}
        await asyncio.Event().wait()

    return Request({"type": "http", "method": "GET", "path": "/", "headers": []}, receive)


def test_beyond_its_places_a_lane_refuses_at_once_and_goes_on_later() -> None:
    lane = Lane("tests", threads=1, waiting=1, seconds=60.0)
    leave = threading.Event()

    async def ask() -> None:
        first = asyncio.create_task(lane.run(request_of(), leave.wait))
        second = asyncio.create_task(lane.run(request_of(), lambda: 2))
        await asyncio.sleep(0)
        with pytest.raises(LaneBusyError, match="tests"):
            await lane.run(request_of(), lambda: 3)
        leave.set()
        assert await first
        assert await second == 2
        assert await lane.run(request_of(), lambda: 4) == 4

    asyncio.run(ask())


def test_nobody_waits_for_longer_than_the_deadline_and_what_nobody_waits_for_is_not_begun() -> None:
    lane = Lane("tests", threads=1, waiting=9, seconds=0.05)
    held, leave, begun = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        leave.wait()

    async def ask() -> None:
        # A busy machine may not begin it within the deadline; then nothing holds the thread.
        while not held.is_set():
            with pytest.raises(LaneBusyError, match="has waited"):
                await lane.run(request_of(), hold)
        with pytest.raises(LaneBusyError):
            await lane.run(request_of("http.request", "http.disconnect"), begun.set)
        leave.set()

    asyncio.run(ask())

    async def after() -> int:
        return await Lane.run(lane, request_of(), lambda: 1)

    lane._seconds = 60.0  # pyright: ignore[reportPrivateUsage] - the lane goes on
    assert asyncio.run(after()) == 1
    assert not begun.is_set()


def test_an_endpoint_in_a_lane_has_its_parameters_and_its_answer() -> None:
    app, lane = FastAPI(), Lane("tests", threads=1, waiting=9, seconds=60.0)

    @app.get("/double")
    @lane.endpoint
    def double(number: int, request: Request) -> dict[str, str]:
        return {"double": str(number * 2), "thread": threading.current_thread().name, "path": request.url.path}

    async def ask(**params: int) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.get("/double", params=params)

    answer = asyncio.run(ask(number=4)).json()
    assert (answer["double"], answer["path"]) == ("8", "/double")
    assert answer["thread"].startswith("tests")
    assert asyncio.run(ask()).status_code == 422
    (operation,) = app.openapi()["paths"]["/double"].values()
    assert [one["name"] for one in operation["parameters"]] == ["number"]
