from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Section, Setting
from loadwatch_backend.runs.schemas import SettingOut
from loadwatch_backend.runs.snapshots import Snapshotter, format_value, read_series
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch

LIBRARY = Library()
AT = 1_795_274_000_000
Row = tuple[str, Mapping[str, str], float]
Found = Mapping[tuple[str, str, str], SettingOut]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: AT)
    yield opened
    opened.close()


@pytest.fixture
def taken(store: EmbeddedStore) -> Callable[..., Found]:
    """Writes samples of one minute before, takes a snapshot, and gives its settings by section, target and key."""

    def run(rows: Sequence[Row], *, job: str = "db", instance: str = "10.0.0.5:3306") -> Found:
        target = {"job": job, "instance": instance}
        ids = store.resolve([{"__name__": name, **target, **labels} for name, labels, _ in rows])
        store.append(
            Batch(
                series=np.repeat(ids, 2),
                timestamps=np.tile(np.array([AT - 120_000, AT - 60_000], np.int64), len(rows)),
                values=np.repeat(np.array([value for _, _, value in rows]), 2),
            )
        ).result(timeout=30)
        return {(one.section, one.target, one.key): one for one in Snapshotter(Engine(store), LIBRARY).take(AT)}

    return run


def test_pools_and_limits_of_a_process(taken: Callable[..., Found]) -> None:
    found = taken(
        [
            ("go_sql_max_open_connections", {"db_name": "orders"}, 30),
            ("process_max_fds", {}, 1024),
            ("process_unit_max_fds", {"unit": "app.service", "bound": "soft"}, 4096),
            ("container_spec_cpu_quota", {"id": "/app"}, 150_000),
            ("container_spec_cpu_period", {"id": "/app"}, 100_000),
            ("declared_limit", {"resource": "redis", "unit": "cores"}, 1),
            ("process_start_time_seconds", {}, AT / 1000 - 3600),
            ("go_sql_max_idle_connections", {"db_name": "orders"}, 2),
            ("go_sql_connection_max_lifetime_seconds", {"db_name": "orders"}, 300),
            ("go_sql_connection_max_idle_time_seconds", {"db_name": "orders"}, 0),
            ("go_info", {"version": "go1.26"}, 1),
            ("go_build_info", {"path": "shop", "version": "v1.2.0", "revision": "4f1c2d9"}, 1),
            ("up", {"collector": "dbstats"}, 1),
            ("up", {"collector": "process"}, 1),
        ],
        job="app",
        instance="host-1",
    )
    pool = found["pool", "app host-1", "max_open_connections orders"]
    assert (pool.value, pool.number, pool.deliberate, pool.important) == ("30", 30, True, True)
    assert found["pool", "app host-1", "max_idle_connections orders"].value == "2"
    lifetime = found["pool", "app host-1", "connection_max_lifetime orders"]
    assert (lifetime.value, lifetime.unit, lifetime.deliberate) == ("300", "seconds", True)
    assert found["pool", "app host-1", "connection_max_idle_time orders"].value == "0"
    assert found["process", "app host-1", "max_fds"].value == "1024"
    assert found["process", "app host-1", "app.service LimitNOFILE soft"].value == "4096"
    assert found["process", "app host-1", "cpu_quota_cores /app"].value == "1.5"
    assert found["host", "app host-1", "declared redis cores"].value == "1"
    assert found["process", "app host-1", "started"].value == "2026-11-21T14:13:20Z"
    assert not found["process", "app host-1", "started"].deliberate
    assert found["versions", "app host-1", "go"].value == "go1.26"
    assert found["versions", "app host-1", "go_build_info"].value == "v1.2.0 4f1c2d9"
    assert found["instances", "app", "instances"].value == "1"


def test_variables_that_matter_and_all_others(taken: Callable[..., Found]) -> None:
    found = taken(
        [
            ("mysql_global_variables_max_connections", {}, 151),
            ("mysql_global_variables_innodb_buffer_pool_size", {}, 134_217_728),
            ("mysql_global_variables_log_bin", {}, 0),
            ("mysql_global_variables_key_buffer_size", {}, 8_388_608),
            ("mysql_global_variables_info", {"variable": "sql_mode", "value": "STRICT"}, 1),
            ("mysql_global_variables_info", {"variable": "join_buffer_size", "value": "262144"}, 1),
            ("mysql_global_variables_info", {"variable": "max_connections", "value": "999"}, 1),
            ("mysql_global_variables_info", {"variable": "hostname", "value": "db-1"}, 1),
            ("mysql_version_info", {"version": "8.4.2", "version_comment": "GPL", "innodb_version": "8.4.2"}, 1),
        ]
    )
    database = {key: one for (section, _, key), one in found.items() if section == "database"}
    assert (database["max_connections"].value, database["max_connections"].important) == ("151", True)
    assert database["innodb_buffer_pool_size"].unit == "bytes"
    assert database["log_bin"].value == "off"
    assert not database["key_buffer_size"].important
    assert database["key_buffer_size"].deliberate
    assert database["sql_mode"].value == "STRICT"
    assert (database["join_buffer_size"].number, database["join_buffer_size"].unit) == (262_144, "bytes")
    assert not database["hostname"].deliberate
    assert found["versions", "db 10.0.0.5:3306", "mysql"].value == "8.4.2 GPL"


def test_kernel_tables_cache_and_host(taken: Callable[..., Found]) -> None:
    found = taken(
        [
            ("kernel_tcp_max_tw_buckets", {}, 16_384),
            ("node_sysctl_net_ipv4_ip_local_port_range", {"index": "0"}, 32_768),
            ("node_sysctl_info", {"name": "net.ipv4.tcp_congestion_control", "value": "cubic"}, 1),
            ("tcp_accept_queue_limit", {"port": "8080"}, 4096),
            ("mysql_info_schema_table_rows", {"schema": "shop", "table": "hits"}, 1e6),
            ("mysql_info_schema_table_size", {"schema": "shop", "table": "hits", "component": "data_length"}, 100),
            ("mysql_info_schema_table_size", {"schema": "shop", "table": "hits", "component": "index_length"}, 50),
            ("mysql_info_schema_table_size", {"schema": "shop", "table": "hits", "component": "data_free"}, 7),
            ("mysql_global_status_innodb_buffer_pool_bytes_data", {}, 50),
            ("mysql_global_variables_innodb_buffer_pool_size", {}, 200),
            ("node_memory_MemTotal_bytes", {}, 8e9),
            ("node_cpu_seconds_total", {"cpu": "0", "mode": "idle"}, 1),
            ("node_cpu_seconds_total", {"cpu": "1", "mode": "idle"}, 1),
        ]
    )
    told = {(section, key): one for (section, _, key), one in found.items()}
    assert told["kernel", "tcp_max_tw_buckets"].important
    assert told["kernel", "net_ipv4_ip_local_port_range 0"].value == "32768"
    assert told["kernel", "net.ipv4.tcp_congestion_control"].value == "cubic"
    assert told["kernel", "accept_queue_limit port 8080"].value == "4096"
    assert told["tables", "rows shop.hits"].value == "1000000"
    assert not told["tables", "rows shop.hits"].deliberate
    assert told["tables", "size shop.hits"].number == 150
    assert told["cache", "buffer_pool_filled"].number == 0.25
    assert told["host", "cpus"].value == "2"


def test_sections_come_in_their_order(taken: Callable[..., Found]) -> None:
    rows: list[Row] = [
        ("mysql_info_schema_table_rows", {"schema": "s", "table": "t"}, 1),
        ("process_max_fds", {}, 1),
        ("go_sql_max_open_connections", {}, 1),
    ]
    assert [section for section, _, _ in taken(rows)] == ["pool", "process", "tables"]


def test_what_was_true_then_is_taken_for_a_run_long_past(store: EmbeddedStore, taken: Callable[..., Found]) -> None:
    taken([("process_max_fds", {}, 1024)])
    assert Snapshotter(Engine(store), LIBRARY).take(AT + 3_600_000) == []
    assert [one.key for one in Snapshotter(Engine(store), LIBRARY).take(AT)] == ["max_fds"]


def test_a_fact_that_is_too_large_costs_only_itself(store: EmbeddedStore, taken: Callable[..., Found]) -> None:
    taken([("process_max_fds", {}, 1), *((f"kernel_{number}", {}, 1.0) for number in range(20))])
    few = Snapshotter(Engine(store, EngineSettings(max_series=10)), LIBRARY)
    assert [one.key for one in few.take(AT)] == ["max_fds"]


def test_a_user_s_pack_adds_settings(tmp_path: Path, store: EmbeddedStore, taken: Callable[..., Found]) -> None:
    file = tmp_path / "packs" / "kvrocks" / "pack.yml"
    file.parent.mkdir(parents=True)
    settings = [
        "{section: database, family: kvrocks_config_, units: {seconds: [timeout]}, important: [timeout]}",
        "{section: versions, key: kvrocks, expr: kvrocks_info, text: [version]}",
        "{section: database, key: both, expr: kvrocks_config_timeout + on (job) kvrocks_config_workers}",
    ]
    text = "pack: kvrocks\ntitle: Kvrocks\nthere_when: kvrocks_info\nsettings:\n"
    file.write_text(text + "".join(f"  - {one}\n" for one in settings), "utf-8")
    taken(
        [
            ("kvrocks_config_timeout", {}, 30),
            ("kvrocks_config_workers", {"kind": "a"}, 8),
            ("kvrocks_config_workers", {"kind": "b"}, 8),
            ("kvrocks_info", {"version": "2.9"}, 1),
        ]
    )
    found = {one.key: one for one in Snapshotter(Engine(store), Library([tmp_path / "packs"])).take(AT)}
    assert sorted(found) == ["kvrocks", "timeout", "workers"], "an expression that cannot be evaluated is left out"
    assert (found["timeout"].value, found["timeout"].unit, found["timeout"].important) == ("30", "seconds", True)
    assert found["kvrocks"].value == "2.9"
    assert not found["workers"].important


def test_an_empty_store_has_no_settings(store: EmbeddedStore) -> None:
    assert Snapshotter(Engine(store), LIBRARY).take(AT) == []


def test_series_without_a_job_are_nobodys() -> None:
    asked = Setting(section=Section.PROCESS, key="max_fds", expr="process_max_fds")
    assert list(read_series(asked, {"__name__": "process_max_fds"}, 1)) == []


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (151.0, "number", "151"),
        (0.123456789, "number", "0.123457"),
        (float("inf"), "number", "unlimited"),
        (float("nan"), "number", "unknown"),
        (0.0, "flag", "off"),
        (1_795_274_000.4, "time", "2026-11-21T15:13:20Z"),
    ],
)
def test_numbers_are_written_as_people_write_them(
    number: float, form: Literal["number", "flag", "time"], text: str
) -> None:
    assert format_value(number, form) == text
