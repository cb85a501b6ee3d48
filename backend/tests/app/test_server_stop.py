"""How the server ends its connections."""

import asyncio
import socket
from contextlib import suppress

import pytest
import uvicorn
import uvloop
from loadwatch_backend.app.commands.server import Server
from loadwatch_backend.app.commands.start import bind
from loadwatch_backend.core.addresses import ListenAddress
from starlette.applications import Starlette


@pytest.mark.parametrize("turns", range(6))
def test_a_connection_that_comes_as_the_server_stops_is_ended(turns: int):
    """Whatever it is at so many turns of the loop: in the queue, accepted, or known to uvicorn."""

    async def stop_after_turns(bound: socket.socket, client: socket.socket) -> None:
        config = uvicorn.Config(Starlette(), lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        server = Server(config, lambda: None)
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup([bound])
        client.connect(bound.getsockname())
        for _ in range(turns):
            await asyncio.sleep(0)
        await server.shutdown([bound])
        # What is left open now stays open until the process ends.
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""

    with bind(ListenAddress(host="127.0.0.1", port=0)) as bound, socket.socket() as client:
        client.settimeout(10)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(stop_after_turns(bound, client))
