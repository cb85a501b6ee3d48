"""A network namespace of a case's own: its ports, its sysctls, its TIME_WAIT, and nobody else's."""

import fcntl
import os
import shutil
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

from examples.rig.processes import RigError

SYSCTLS = frozenset(
    {
        "net.core.somaxconn",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_abort_on_overflow",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_max_tw_buckets",
        "net.ipv4.tcp_tw_reuse",
    }
)
"""Those that belong to a network namespace: all others would change the host."""
_SET_FLAGS = 0x8914
"""SIOCSIFFLAGS."""
_UP_AND_RUNNING = 0x1 | 0x40
"""IFF_UP, IFF_RUNNING."""


def in_new_namespace(command: list[str]) -> list[str]:
    """The command that runs `command` in a network namespace of its own.

    Raises:
        RigError: `unshare` is missing.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        raise RigError("unshare is missing: it is part of util-linux, and only Linux has network namespaces")
    # Who is not root becomes it inside of a user namespace, which may change its own network.
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [unshare, *as_root, "--net", "--", *command]


def own_namespace(parent: str) -> bool:
    """Whether this process is in another network namespace than `parent`, as `namespace_id` named it."""
    return namespace_id() != parent


def namespace_id() -> str:
    """The kernel's name for this process's network namespace."""
    return os.readlink("/proc/self/ns/net")


def bring_up_loopback() -> None:
    """127.0.0.1 answers afterwards; a new namespace begins without it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def set_sysctls(values: Mapping[str, str]) -> None:
    """Set them in this namespace.

    Raises:
        RigError: one is not the namespace's own, or the kernel refuses the value.
    """
    for name, value in values.items():
        if name not in SYSCTLS:
            raise RigError(f"{name} is none of a network namespace's own settings: {', '.join(sorted(SYSCTLS))}")
        try:
            (Path("/proc/sys") / name.replace(".", "/")).write_text(value, encoding="ascii")
        except OSError as error:
            raise RigError(f"{name} cannot be set to {value}: {error.strerror}") from error
