"""What a program that listens on a port may be."""

from typing import Literal

ListenerKind = Literal[
    "dbstats",
    "metrics",
    "nginx",
    "http",
    "mysql",
    "postgresql",
    "pgbouncer",
    "redis",
    "memcached",
    "ssh",
    "tls",
    "loadwatch",
]
