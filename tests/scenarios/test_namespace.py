"""Namespaces of the kernel, for real."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.rig.processes import RigError
from scenarios.namespace import in_new_namespace, namespace_id, set_sysctls

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import socket
from pathlib import Path
from scenarios.namespace import bring_up_loopback, namespace_id, set_sysctls
bring_up_loopback()
set_sysctls({"net.ipv4.tcp_max_tw_buckets": "123", "net.ipv4.ip_local_port_range": "40000 40100"})
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
assert 40000 <= client.getsockname()[1] <= 40100
print(namespace_id(), Path("/proc/sys/net/ipv4/tcp_max_tw_buckets").read_text().strip())
"""


def test_a_new_namespace_has_its_own_loopback_and_settings() -> None:
    setting = Path("/proc/sys/net/ipv4/tcp_max_tw_buckets")
    before = setting.read_text()
    done = subprocess.run(
        in_new_namespace([sys.executable, "-c", PROGRAM]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    inside, value = done.stdout.split()
    assert inside != namespace_id()
    assert value == "123"
    assert setting.read_text() == before


def test_a_setting_of_the_whole_host_is_refused() -> None:
    with pytest.raises(RigError, match=r"vm\.swappiness is none of a network namespace's own"):
        set_sysctls({"vm.swappiness": "1"})
