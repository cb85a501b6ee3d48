"""What is known of single MySQL and MariaDB variables; all others are shown on demand, as plain numbers or texts."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMPORTANT = _names("""
    autocommit back_log binlog_format binlog_row_image character_set_server collation_server connect_timeout
    default_storage_engine event_scheduler extra_max_connections innodb_adaptive_hash_index
    innodb_buffer_pool_instances innodb_buffer_pool_size innodb_dedicated_server innodb_doublewrite
    innodb_flush_log_at_trx_commit innodb_flush_method innodb_io_capacity innodb_io_capacity_max
    innodb_lock_wait_timeout innodb_log_buffer_size innodb_log_file_size innodb_log_files_in_group
    innodb_read_io_threads innodb_read_only innodb_redo_log_capacity innodb_thread_concurrency
    innodb_write_io_threads interactive_timeout log_bin long_query_time max_allowed_packet max_connect_errors
    max_connections max_execution_time max_heap_table_size max_prepared_stmt_count max_statement_time
    max_user_connections net_read_timeout net_write_timeout open_files_limit performance_schema query_cache_size
    query_cache_type read_only skip_name_resolve slow_query_log sql_mode super_read_only sync_binlog
    table_definition_cache table_open_cache thread_cache_size thread_handling thread_pool_max_threads
    thread_pool_size tmp_table_size transaction_isolation tx_isolation wait_timeout
""")
"""Shown at once: they decide what a load test can reach, or how durable a commit is."""

DRIFTING = _names("""
    error_count gtid_binlog_pos gtid_binlog_state gtid_current_pos gtid_executed gtid_owned
    gtid_purged gtid_slave_pos hostname identity insert_id last_insert_id last_gtid log_bin_basename log_bin_index
    pseudo_thread_id rand_seed1 rand_seed2 server_uuid timestamp warning_count wsrep_last_written_gtid
    general_log_file slow_query_log_file log_error pid_file socket port report_port datadir tmpdir
    innodb_fast_shutdown
""")
"""Nobody sets these for a load test: they say where the server is, or change by themselves."""

FLAGS = _names("""
    autocommit event_scheduler innodb_adaptive_hash_index innodb_dedicated_server innodb_doublewrite innodb_read_only
    log_bin performance_schema read_only skip_name_resolve slow_query_log super_read_only
""")
"""On or off."""

UNITS = {
    **dict.fromkeys(
        _names("""
            innodb_buffer_pool_chunk_size innodb_buffer_pool_size innodb_log_buffer_size innodb_log_file_size
            innodb_redo_log_capacity join_buffer_size key_buffer_size max_allowed_packet max_heap_table_size
            query_cache_size read_buffer_size read_rnd_buffer_size sort_buffer_size thread_stack tmp_table_size
            innodb_page_size max_binlog_size
        """),
        "bytes",
    ),
    **dict.fromkeys(
        _names("""
            connect_timeout innodb_lock_wait_timeout interactive_timeout lock_wait_timeout long_query_time
            max_statement_time net_read_timeout net_write_timeout wait_timeout
        """),
        "seconds",
    ),
    "max_execution_time": "milliseconds",
}
