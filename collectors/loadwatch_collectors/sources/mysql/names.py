"""Rows of SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES as samples: which are shown, and what their texts stand for.

Source of names, labels and types: mysqld_exporter, collector/global_status.go and global_variables.go.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from loadwatch_collectors.collector import Labels, Sample

STATUSES = tuple(
    """
    Aborted_clients Aborted_connects Aborted_connects_preauth Access_denied_errors Bytes_received Bytes_sent
    Com_alter_table Com_begin Com_call_procedure Com_commit Com_create_table Com_delete Com_delete_multi Com_insert
    Com_insert_select Com_load Com_lock_tables Com_replace Com_rollback Com_select Com_set_option Com_stmt_close
    Com_stmt_execute Com_stmt_prepare Com_stmt_reprepare Com_truncate Com_unlock_tables Com_update Com_update_multi
    Connection_errors_accept Connection_errors_internal Connection_errors_max_connections
    Connection_errors_peer_address Connection_errors_select Connection_errors_tcpwrap Connections
    Created_tmp_disk_tables Created_tmp_files Created_tmp_tables
    Handler_commit Handler_delete Handler_external_lock Handler_prepare Handler_read_first Handler_read_key
    Handler_read_last Handler_read_next Handler_read_prev Handler_read_rnd Handler_read_rnd_next Handler_rollback
    Handler_tmp_write Handler_update Handler_write
    Innodb_buffer_pool_bytes_data Innodb_buffer_pool_bytes_dirty Innodb_buffer_pool_pages_data
    Innodb_buffer_pool_pages_dirty Innodb_buffer_pool_pages_flushed Innodb_buffer_pool_pages_free
    Innodb_buffer_pool_pages_misc Innodb_buffer_pool_read_requests Innodb_buffer_pool_reads
    Innodb_buffer_pool_wait_free Innodb_buffer_pool_write_requests Innodb_checkpoint_age Innodb_checkpoint_max_age
    Innodb_data_fsyncs Innodb_data_pending_fsyncs Innodb_data_pending_reads Innodb_data_pending_writes Innodb_data_read
    Innodb_data_reads Innodb_data_writes Innodb_data_written Innodb_deadlocks Innodb_history_list_length
    Innodb_log_waits Innodb_log_write_requests Innodb_log_writes Innodb_os_log_fsyncs Innodb_os_log_written
    Innodb_page_size Innodb_pages_created Innodb_pages_read Innodb_pages_written Innodb_row_lock_current_waits
    Innodb_row_lock_time Innodb_row_lock_time_avg Innodb_row_lock_time_max Innodb_row_lock_waits Innodb_rows_deleted
    Innodb_rows_inserted Innodb_rows_read Innodb_rows_updated
    Max_used_connections Memory_used Open_files Open_tables Opened_tables Prepared_stmt_count Queries Questions
    Rows_read Rows_sent Select_full_join Select_scan Slow_launch_threads Slow_queries Sort_merge_passes
    Ssl_server_not_after Table_locks_immediate Table_locks_waited Table_open_cache_hits Table_open_cache_misses
    Table_open_cache_overflows Threadpool_idle_threads Threadpool_threads Threads_cached Threads_connected
    Threads_created Threads_running Uptime Uptime_since_flush_status
""".split()
)
"""The statuses that are read at each tick; a server has some of them only."""

VARIABLES = tuple(
    """
    autocommit back_log connect_timeout event_scheduler extra_max_connections innodb_buffer_pool_instances
    innodb_buffer_pool_size innodb_doublewrite innodb_flush_log_at_trx_commit innodb_io_capacity
    innodb_io_capacity_max innodb_lock_wait_timeout innodb_log_buffer_size innodb_log_file_size
    innodb_log_files_in_group innodb_open_files innodb_page_size innodb_read_io_threads innodb_read_only
    innodb_redo_log_capacity innodb_thread_concurrency innodb_write_io_threads interactive_timeout lock_wait_timeout
    log_bin long_query_time max_allowed_packet max_connect_errors max_connections max_execution_time
    max_heap_table_size max_prepared_stmt_count max_statement_time max_user_connections net_read_timeout
    net_write_timeout open_files_limit performance_schema query_cache_size read_only server_id skip_name_resolve
    slow_query_log super_read_only sync_binlog table_definition_cache table_open_cache thread_cache_size
    thread_pool_max_threads thread_pool_size tmp_table_size wait_timeout
""".split()
)
"""The variables that are read; a server has some of them only."""
_CHOSEN = frozenset(VARIABLES)

TEXT_VARIABLES = (
    *("aurora_server_id", "aurora_version", "basedir", "innodb_version", "transaction_isolation", "tx_isolation"),
    *("version", "version_comment"),
)
"""Variables whose text says what the server is."""

_NEVER_SHOWN = frozenset(
    "init_connect init_replica init_slave last_gtid report_password report_user timestamp wsrep_sst_auth".split()
)
"""Variables that may hold a secret, or that differ at each look."""
_NEVER_SHOWN_PREFIXES = ("gtid_", "rand_seed", "pseudo_", "wsrep_last_")
_LONGEST_VALUE = 200

_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_WORDS: Mapping[str, float] = {
    "on": 1.0,
    "yes": 1.0,
    "off": 0.0,
    "no": 0.0,
    "disabled": 0.0,
    "connecting": 0.0,
    "primary": 1.0,
    "non-primary": 0.0,
    "disconnected": 0.0,
}
_TIME = "%b %d %H:%M:%S %Y GMT"

_FAMILY = re.compile(
    r"(com|handler|connection_errors|innodb_buffer_pool_pages|innodb_rows|performance_schema)_(.+)", re.DOTALL
)
_PAGE_STATES = frozenset({"data", "free", "misc", "old"})
_FAMILIES: Mapping[str, tuple[str, str]] = {
    "com": ("mysql_global_status_commands_total", "command"),
    "handler": ("mysql_global_status_handlers_total", "handler"),
    "connection_errors": ("mysql_global_status_connection_errors_total", "error"),
    "innodb_rows": ("mysql_global_status_innodb_row_ops_total", "operation"),
    "performance_schema": ("mysql_global_status_performance_schema_lost_total", "instrumentation"),
}

_KNOWN: dict[str, tuple[str, Labels] | None] = {}
_MOST_KNOWN = 5000


def parse_number(text: str | None) -> float | None:
    """The number that a variable's text stands for; None when it stands for none. Times are seconds since the epoch."""
    if not text:
        return None
    first = text[0]
    if first.isdecimal() or first == "-":
        try:
            return float(text) if "_" not in text else None
        except ValueError:
            return None
    word = _WORDS.get(text.lower())
    if word is None and text.endswith(" GMT"):
        try:
            return datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return None
    return word


def status_series(name: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Metric and labels of a status; None for the one that the exporter leaves out as the sum of others."""
    key = name.lower()
    family = _FAMILY.fullmatch(key)
    if family is None:
        return f"mysql_global_status_{_NOT_A_NAME.sub('_', key)}", ()
    if family[1] != "innodb_buffer_pool_pages":
        metric, label = _FAMILIES[family[1]]
        return metric, ((label, family[2]),)
    if family[2] == "total":
        return None
    if family[2] == "dirty":
        return "mysql_global_status_buffer_pool_dirty_pages", ()
    if family[2] in _PAGE_STATES:
        return "mysql_global_status_buffer_pool_pages", (("state", family[2]),)
    return "mysql_global_status_buffer_pool_page_changes_total", (("operation", family[2]),)


def status_samples(rows: Iterable[tuple[str | None, ...]]) -> list[Sample]:
    """The samples of `SHOW GLOBAL STATUS`; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in rows:
        value = parse_number(text)
        if value is None or name is None:
            continue
        if name not in _KNOWN:
            if len(_KNOWN) > _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[name] = status_series(name)
        series = _KNOWN[name]
        if series is not None:
            samples.append(Sample(series[0], value, series[1]))
    return samples


def variable_samples(variables: Mapping[str, str]) -> list[Sample]:
    """The samples of `SHOW GLOBAL VARIABLES`, names in lower case; texts that are no number are left out."""
    samples: list[Sample] = []
    for name, text in variables.items():
        value = parse_number(text)
        if value is not None:
            samples.append(Sample(f"mysql_global_variables_{_NOT_A_NAME.sub('_', name)}", value))
    return samples


def other_variable_samples(variables: Mapping[str, str], *, all_numbers: bool) -> list[Sample]:
    """`mysql_global_variables_info` of the variables that `variable_samples` leaves out, names in lower case.

    Args:
        variables: all of `SHOW GLOBAL VARIABLES`; those without a value are left out.
        all_numbers: whether every number has a metric of its own, not only the chosen ones.
    """
    samples: list[Sample] = []
    for name, text in variables.items():
        if not text or name in _NEVER_SHOWN or name.startswith(_NEVER_SHOWN_PREFIXES):
            continue
        if (all_numbers or name in _CHOSEN) and parse_number(text) is not None:
            continue
        value = text.encode()[:_LONGEST_VALUE].decode(errors="ignore")
        samples.append(Sample("mysql_global_variables_info", 1.0, (("value", value), ("variable", name))))
    return samples
