"""What is looked at in a snapshot: data, read by `take.py`. Names of metrics are those of the established exporters.

To add something: one `SettingQuery` here; a metric that no target has costs one look-up by name.
"""

from loadwatch_backend.runs.snapshots.aws import CLOUD
from loadwatch_backend.runs.snapshots.mysql_variables import DRIFTING, FLAGS, IMPORTANT, UNITS
from loadwatch_backend.runs.snapshots.query import Form, Section, SettingQuery

_TARGET = "job, instance"


def _by_target(aggregate: str, inner: str) -> str:
    return f"{aggregate} by ({_TARGET}) ({inner})"


POOL = (
    SettingQuery(section=Section.POOL, key="max_open_connections {db_name}", expression="go_sql_max_open_connections"),
    SettingQuery(section=Section.POOL, key="max_idle_connections {db_name}", expression="go_sql_max_idle_connections"),
    SettingQuery(
        section=Section.POOL,
        key="connection_max_lifetime {db_name}",
        expression="go_sql_connection_max_lifetime_seconds",
        unit="seconds",
    ),
    SettingQuery(
        section=Section.POOL,
        key="connection_max_idle_time {db_name}",
        expression="go_sql_connection_max_idle_time_seconds",
        unit="seconds",
    ),
    SettingQuery(section=Section.POOL, key="max_connections {pool}", expression="hikaricp_connections_max"),
    SettingQuery(section=Section.POOL, key="min_connections {pool}", expression="hikaricp_connections_min"),
    SettingQuery(section=Section.POOL, key="max_connections {pool_name}", expression="db_client_connections_max"),
    SettingQuery(section=Section.POOL, key="max_connections", expression="pgxpool_max_conns"),
    SettingQuery(section=Section.POOL, key="ingest_queue_limit", expression="ingest_queue_limit"),
)

DATABASE = (
    SettingQuery(
        section=Section.DATABASE,
        key="{name}",
        expression='{__name__=~"mysql_global_variables_.+", __name__!="mysql_global_variables_info"}',
        prefix="mysql_global_variables_",
        chosen=IMPORTANT,
        drifting=DRIFTING,
        flags=FLAGS,
        units=UNITS,
    ),
    SettingQuery(
        section=Section.DATABASE,
        key="{variable}",
        expression="mysql_global_variables_info",
        form=Form.TEXT,
        text=("value",),
        chosen=IMPORTANT,
        drifting=DRIFTING,
        units=UNITS,
    ),
    SettingQuery(
        section=Section.DATABASE,
        key="transaction_isolation",
        expression="mysql_transaction_isolation",
        form=Form.TEXT,
        text=("level",),
    ),
    SettingQuery(
        section=Section.DATABASE,
        key="role",
        expression="mysql_server_role_info",
        form=Form.TEXT,
        text=("role", "platform"),
    ),
    SettingQuery(
        section=Section.DATABASE,
        key="{name}",
        expression='{__name__=~"pg_settings_.+"}',
        prefix="pg_settings_",
        chosen=frozenset({"max_connections", "shared_buffers_bytes", "work_mem_bytes", "max_wal_size_bytes"}),
    ),
    SettingQuery(section=Section.DATABASE, key="maxclients", expression="redis_config_maxclients"),
    SettingQuery(section=Section.DATABASE, key="maxmemory", expression="redis_memory_max_bytes", unit="bytes"),
)

PROCESS = (
    SettingQuery(section=Section.PROCESS, key="max_fds", expression=_by_target("min", "process_max_fds")),
    SettingQuery(
        section=Section.PROCESS,
        key="max_fds_hard",
        expression=_by_target("min", "process_max_fds_hard"),
        important=False,
    ),
    SettingQuery(
        section=Section.PROCESS, key="{unit} LimitNOFILE {bound}", expression="process_unit_max_fds", important=False
    ),
    SettingQuery(
        section=Section.PROCESS,
        key="cpu_quota_cores {id}",
        expression="container_spec_cpu_quota / container_spec_cpu_period",
    ),
    SettingQuery(section=Section.PROCESS, key="max_processes", expression=_by_target("min", "process_max_processes")),
    SettingQuery(
        section=Section.PROCESS,
        key="max_virtual_memory",
        expression=_by_target("min", "process_virtual_memory_max_bytes"),
        unit="bytes",
        important=False,
    ),
    SettingQuery(
        section=Section.PROCESS,
        key="resident_memory",
        expression=_by_target("sum", "process_resident_memory_bytes"),
        unit="bytes",
        deliberate=False,
        important=False,
    ),
    SettingQuery(section=Section.PROCESS, key="gomaxprocs", expression="go_sched_gomaxprocs_threads"),
    SettingQuery(
        section=Section.PROCESS,
        key="gomemlimit",
        expression="go_gc_gomemlimit_bytes",
        unit="bytes",
    ),
    SettingQuery(section=Section.PROCESS, key="gogc", expression="go_gc_gogc_percent"),
    SettingQuery(
        section=Section.PROCESS,
        key="max_heap",
        expression=_by_target("sum", 'jvm_memory_max_bytes{area="heap"}'),
        unit="bytes",
    ),
    # The newest of several: a restart of any of them shows.
    SettingQuery(
        section=Section.PROCESS,
        key="started",
        expression=_by_target("max", "process_start_time_seconds"),
        form=Form.TIME,
        deliberate=False,
    ),
    SettingQuery(
        section=Section.PROCESS,
        key="database_started",
        expression="timestamp(mysql_global_status_uptime) - mysql_global_status_uptime",
        form=Form.TIME,
        deliberate=False,
    ),
)

KERNEL = (
    SettingQuery(
        section=Section.KERNEL,
        key="{name}",
        expression='{__name__=~"kernel_.+"}',
        prefix="kernel_",
        chosen=frozenset(
            "tcp_max_tw_buckets tcp_tw_reuse ephemeral_ports somaxconn tcp_max_syn_backlog file_max nr_open".split()
        ),
        units={"tcp_fin_timeout_seconds": "seconds"},
    ),
    SettingQuery(
        section=Section.KERNEL,
        key="{name} {index}",
        expression='{__name__=~"node_sysctl_.+", __name__!="node_sysctl_info"}',
        prefix="node_sysctl_",
        chosen=frozenset(
            {
                *("net_ipv4_ip_local_port_range 0", "net_ipv4_ip_local_port_range 1", "net_ipv4_tcp_syncookies"),
                *(
                    "net_core_somaxconn",
                    "net_ipv4_tcp_max_tw_buckets",
                    "net_ipv4_tcp_tw_reuse",
                    "fs_file_max",
                    "fs_nr_open",
                ),
                *("net_ipv4_tcp_max_syn_backlog", "net_core_netdev_max_backlog", "vm_swappiness"),
                "net_netfilter_nf_conntrack_max",
            }
        ),
    ),
    SettingQuery(
        section=Section.KERNEL,
        key="{name}",
        expression="node_sysctl_info",
        form=Form.TEXT,
        text=("value",),
    ),
    SettingQuery(section=Section.KERNEL, key="conntrack_limit", expression="node_nf_conntrack_entries_limit"),
    SettingQuery(section=Section.KERNEL, key="file_handles_limit", expression="node_filefd_maximum", important=False),
    SettingQuery(
        section=Section.KERNEL,
        key="accept_queue_limit port {port}",
        expression=f"min by ({_TARGET}, port) (tcp_accept_queue_limit)",
    ),
)

HOST = (
    SettingQuery(section=Section.HOST, key="memory", expression="node_memory_MemTotal_bytes", unit="bytes"),
    SettingQuery(section=Section.HOST, key="swap", expression="node_memory_SwapTotal_bytes", unit="bytes"),
    SettingQuery(
        section=Section.HOST,
        key="cpus",
        expression=_by_target("count", 'node_cpu_seconds_total{mode="idle"}'),
    ),
    SettingQuery(section=Section.HOST, key="cpus", expression="machine_cpu_cores"),
    SettingQuery(section=Section.HOST, key="declared {resource} {unit}", expression="declared_limit"),
    SettingQuery(
        section=Section.HOST,
        key="booted",
        expression=_by_target("max", "node_boot_time_seconds"),
        form=Form.TIME,
        deliberate=False,
    ),
)

INSTANCES = (
    SettingQuery(
        section=Section.INSTANCES, key="instances", expression="count by (job) (count by (job, instance) (up))"
    ),
    SettingQuery(
        section=Section.INSTANCES,
        key="instances_up",
        expression="sum by (job) (max by (job, instance) (up))",
        deliberate=False,
    ),
    SettingQuery(
        section=Section.INSTANCES,
        key="processes",
        expression=_by_target("count", "process_start_time_seconds"),
    ),
)

VERSIONS = (
    SettingQuery(
        section=Section.VERSIONS,
        key="mysql",
        expression="mysql_version_info",
        form=Form.TEXT,
        text=("version", "version_comment"),
    ),
    SettingQuery(section=Section.VERSIONS, key="go", expression="go_info", form=Form.TEXT, text=("version",)),
    SettingQuery(
        section=Section.VERSIONS,
        key="python",
        expression="python_info",
        form=Form.TEXT,
        text=("implementation", "version"),
    ),
    SettingQuery(
        section=Section.VERSIONS, key="jvm", expression="jvm_info", form=Form.TEXT, text=("version", "runtime")
    ),
    SettingQuery(
        section=Section.VERSIONS, key="jvm", expression="jvm_runtime_info", form=Form.TEXT, text=("version", "runtime")
    ),
    SettingQuery(
        section=Section.VERSIONS,
        key="kernel",
        expression="node_uname_info",
        form=Form.TEXT,
        text=("sysname", "release", "machine"),
    ),
    SettingQuery(
        section=Section.VERSIONS,
        key="os",
        expression="node_os_info",
        form=Form.TEXT,
        text=("pretty_name",),
    ),
    SettingQuery(
        section=Section.VERSIONS,
        key="redis",
        expression="redis_instance_info",
        form=Form.TEXT,
        text=("redis_version",),
    ),
    SettingQuery(
        section=Section.VERSIONS, key="postgresql", expression="pg_static", form=Form.TEXT, text=("short_version",)
    ),
    # mysqld_exporter_build_info, prometheus_build_info, and what an application says of itself.
    SettingQuery(
        section=Section.VERSIONS,
        key="{name}",
        expression='{__name__=~".+_build_info"}',
        prefix="",
        form=Form.TEXT,
        text=("version", "revision"),
    ),
)

_FILL = "mysql_global_status_innodb_buffer_pool_bytes_data / mysql_global_variables_innodb_buffer_pool_size"
_DIRTY = "mysql_global_status_innodb_buffer_pool_bytes_dirty / mysql_global_variables_innodb_buffer_pool_size"
_MISSES = (
    "rate(mysql_global_status_innodb_buffer_pool_reads[5m])"
    " / (rate(mysql_global_status_innodb_buffer_pool_read_requests[5m]) > 0)"
)

CACHE = (
    SettingQuery(section=Section.CACHE, key="buffer_pool_filled", expression=_FILL, unit="ratio", deliberate=False),
    SettingQuery(section=Section.CACHE, key="buffer_pool_dirty", expression=_DIRTY, unit="ratio", deliberate=False),
    SettingQuery(section=Section.CACHE, key="buffer_pool_misses", expression=_MISSES, unit="ratio", deliberate=False),
    SettingQuery(
        section=Section.CACHE,
        key="buffer_pool_data",
        expression="mysql_global_status_innodb_buffer_pool_bytes_data",
        unit="bytes",
        deliberate=False,
        important=False,
    ),
    SettingQuery(
        section=Section.CACHE,
        key="page_cache",
        expression="node_memory_Cached_bytes",
        unit="bytes",
        deliberate=False,
        important=False,
    ),
    SettingQuery(
        section=Section.CACHE,
        key="memory_available",
        expression="node_memory_MemAvailable_bytes",
        unit="bytes",
        deliberate=False,
        important=False,
    ),
)

TABLES = (
    SettingQuery(
        section=Section.TABLES,
        key="rows {schema}.{table}",
        expression=f"max by ({_TARGET}, schema, table) (mysql_info_schema_table_rows)",
        unit="rows",
        deliberate=False,
    ),
    SettingQuery(
        section=Section.TABLES,
        key="size {schema}.{table}",
        expression=(
            f'sum by ({_TARGET}, schema, table) (mysql_info_schema_table_size{{component=~"data_length|index_length"}})'
        ),
        unit="bytes",
        deliberate=False,
        important=False,
    ),
    SettingQuery(section=Section.TABLES, key="rows {table}", expression="table_rows", unit="rows", deliberate=False),
    SettingQuery(
        section=Section.TABLES,
        key="rows {schemaname}.{relname}",
        expression="pg_stat_user_tables_n_live_tup",
        unit="rows",
        deliberate=False,
    ),
)

FACTS: tuple[SettingQuery, ...] = (
    *POOL,
    *DATABASE,
    *PROCESS,
    *KERNEL,
    *HOST,
    *CLOUD,
    *INSTANCES,
    *VERSIONS,
    *CACHE,
    *TABLES,
)
