"""What the real collectors send of a real database and this host, as a snapshot and as a difference."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.runs.schemas import SettingOut
from loadwatch_backend.runs.snapshots import Snapshotter, difference
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.host import HostCollector, HostSettings
from loadwatch_collectors.sources.mysql.collector import MySQLCollector, MySQLSettings
from loadwatch_collectors.sources.process.collector import ProcessCollector
from loadwatch_collectors.sources.process.search import ProcessSettings
from loadwatch_collectors.sources.sockets import SocketsCollector, SocketsSettings

from collectors.tests.mariadb import running_mariadb

AT = 1_795_274_000_000


def write(store: EmbeddedStore, at_ms: int, job: str, instance: str, samples: Iterable[Sample]) -> None:
    kept = list(samples)
    target = {"job": job, "instance": instance}
    ids = store.resolve([{"__name__": one.name, **target, **dict(one.labels)} for one in kept])
    store.append(
        Batch(
            series=ids,
            timestamps=np.full(len(kept), at_ms, np.int64),
            values=np.array([one.value for one in kept]),
        )
    ).result(timeout=120)


def test_a_variable_that_was_set_between_two_runs_leads_the_difference(tmp_path: Path) -> None:
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: AT)
    with running_mariadb(Path(tempfile.mkdtemp(prefix="lw-"))) as mariadb:
        settings = MySQLSettings(unix_socket=mariadb.socket_path, user="root")
        snapshots: list[list[SettingOut]] = []
        for at_ms in (AT - 3_600_000, AT):
            collector = MySQLCollector(settings)
            write(store, at_ms, "mysql", "db-1", collector.collect())
            collector.close()
            # Not every port of this host: other tests' servers come and go.
            sockets = SocketsCollector(SocketsSettings(ports=(9,)))
            write(store, at_ms, "host", "db-1", [*HostCollector(HostSettings()).collect(), *sockets.collect()])
            sockets.close()
            write(store, at_ms, "app", "db-1", ProcessCollector(ProcessSettings(pid=os.getpid())).collect())
            snapshots.append(Snapshotter(Engine(store), Library()).take(at_ms))
            mariadb.run(
                "SET GLOBAL max_connections = 300",
                "SET GLOBAL sql_mode = 'ANSI'",
                "SET GLOBAL join_buffer_size = 524288",
            )
    store.close()
    before, after = snapshots
    known = {(one.section, one.key) for one in before}
    assert {
        ("database", "max_connections"),
        ("database", "innodb_flush_method"),
        ("database", "join_buffer_size"),
        ("process", "max_fds"),
        ("kernel", "tcp_max_tw_buckets"),
        ("kernel", "net_ipv4_ip_local_port_range 0"),
        ("host", "cpus"),
        ("host", "memory"),
        ("cache", "buffer_pool_filled"),
        ("versions", "mysql"),
    } <= known
    changes = [one for one in difference(before, after) if one.deliberate]
    assert (changes[0].key, changes[0].before, changes[0].after) == ("max_connections", "151", "300")
    assert [one.key for one in changes] == ["max_connections", "sql_mode", "join_buffer_size"]
    assert changes[2].after == "524288"
