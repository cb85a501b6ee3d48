"""Ports for servers of tests, which nothing else on this machine takes in the meantime.

A port that the kernel has given out once (to who binds to port 0) is free again when the test knows its number, and
may be given to any process before the server that the test starts gets around to listening. So these are from below
the range that the kernel gives out, each worker of a test run has a share of its own, and none is given out twice.
"""

import os
import random
import socket
from pathlib import Path

FIRST = 15_000
USUAL_RANGE = 32_768
_chance = random.SystemRandom()
_given: set[int] = set()


def free_port() -> int:
    """A TCP port of the loopback that nothing listens on."""
    ports = _share()
    for _ in range(1_000):
        port = _chance.choice(ports)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise AssertionError(f"no free port from {ports[0]} to {ports[-1]}")


def _share() -> range:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    try:
        end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        end = USUAL_RANGE
    # Where the kernel gives out nearly all ports there is nothing to avoid it by.
    end = end if end >= FIRST + 5_000 else USUAL_RANGE
    return range(FIRST + int(worker), end, workers)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
