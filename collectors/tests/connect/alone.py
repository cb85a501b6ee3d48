"""A program that shows its pool, in a network of its own: who looks at all ports asks each, and servers count that."""

import ctypes
import json
import os
from collections.abc import Generator
from contextlib import contextmanager

from collectors.tests.connect.test_asking import pages
from collectors.tests.connect.test_seems import POOL
from collectors.tests.servers import tcp_server
from scenarios.namespace import bring_up_loopback

_CLONE_NEWNET = 0x40000000


@contextmanager
def own_network() -> Generator[None]:
    """A network of this thread and of all that it starts; who is not root shares that of other tests."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    alone = libc.unshare(_CLONE_NEWNET) == 0
    try:
        if alone:
            bring_up_loopback()
        yield
    finally:
        if alone and libc.setns(before, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "the network of before cannot be entered again")
        os.close(before)


@contextmanager
def application_alone() -> Generator[int]:
    """The port of the program; it is this process."""
    body = json.dumps(POOL).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with own_network(), tcp_server(pages(debugdbstats=head + body)[0]) as port:
        yield port
