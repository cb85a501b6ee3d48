"""Fields of INFO and CLUSTER INFO under the names that redis_exporter gives them.

Source of names, labels and types: redis_exporter, exporter/exporter.go, info.go, slowlog.go and latency.go.
"""

from collections.abc import Mapping


def _fields(text: str) -> Mapping[str, str]:
    """Metrics by field, from words such as `used_memory=memory_used_bytes`; a field alone has its own name."""
    pairs = (word.partition("=") for word in text.split())
    return {field: f"redis_{name or field}" for field, _, name in pairs}


FIELDS = _fields("""
    uptime_in_seconds io_threads_active configured_hz
    connected_clients blocked_clients tracking_clients clients_in_timeout_table cluster_connections
    maxclients=max_clients client_recent_max_output_buffer=client_recent_max_output_buffer_bytes
    client_recent_max_input_buffer=client_recent_max_input_buffer_bytes
    used_memory=memory_used_bytes used_memory_rss=memory_used_rss_bytes used_memory_peak=memory_used_peak_bytes
    used_memory_lua=memory_used_lua_bytes used_memory_overhead=memory_used_overhead_bytes
    used_memory_startup=memory_used_startup_bytes used_memory_dataset=memory_used_dataset_bytes
    used_memory_scripts=memory_used_scripts_bytes maxmemory=memory_max_bytes
    total_system_memory=total_system_memory_bytes mem_fragmentation_ratio mem_fragmentation_bytes
    allocator_active=allocator_active_bytes allocator_allocated=allocator_allocated_bytes
    allocator_resident=allocator_resident_bytes mem_clients_slaves mem_clients_normal
    mem_not_counted_for_evict=mem_not_counted_for_eviction_bytes lazyfree_pending_objects active_defrag_running
    loading=loading_dump_file async_loading rdb_changes_since_last_save rdb_bgsave_in_progress
    rdb_last_save_time=rdb_last_save_timestamp_seconds rdb_last_bgsave_status
    rdb_last_bgsave_time_sec=rdb_last_bgsave_duration_sec rdb_current_bgsave_time_sec=rdb_current_bgsave_duration_sec
    rdb_last_cow_size=rdb_last_cow_size_bytes aof_enabled aof_rewrite_in_progress aof_rewrite_scheduled
    aof_last_rewrite_time_sec=aof_last_rewrite_duration_sec
    aof_current_rewrite_time_sec=aof_current_rewrite_duration_sec aof_last_cow_size=aof_last_cow_size_bytes
    aof_current_size=aof_current_size_bytes aof_base_size=aof_base_size_bytes aof_buffer_length
    aof_pending_bio_fsync aof_delayed_fsync aof_last_bgrewrite_status aof_last_write_status
    current_eviction_exceeded_time=current_eviction_exceeded_time_ms pubsub_channels pubsub_patterns
    connected_slaves repl_backlog_size=replication_backlog_bytes repl_backlog_active=repl_backlog_is_active
    repl_backlog_histlen=repl_backlog_history_bytes master_repl_offset second_repl_offset
    sync_full=replica_resyncs_full sync_partial_ok=replica_partial_resync_accepted
    sync_partial_err=replica_partial_resync_denied cluster_enabled
    cluster_state cluster_slots_assigned cluster_slots_ok cluster_slots_pfail cluster_slots_fail cluster_known_nodes
    cluster_size cluster_current_epoch cluster_my_epoch
    total_connections_received=connections_received_total rejected_connections=rejected_connections_total
    total_commands_processed=commands_processed_total total_net_input_bytes=net_input_bytes_total
    total_net_output_bytes=net_output_bytes_total rdb_saves=rdb_saves_total
    total_net_repl_input_bytes=net_repl_input_bytes_total total_net_repl_output_bytes=net_repl_output_bytes_total
    expired_keys=expired_keys_total expired_time_cap_reached_count=expired_time_cap_reached_total
    evicted_keys=evicted_keys_total evicted_clients=evicted_clients_total
    total_eviction_exceeded_time=eviction_exceeded_time_ms_total keyspace_hits=keyspace_hits_total
    keyspace_misses=keyspace_misses_total used_cpu_sys=cpu_sys_seconds_total used_cpu_user=cpu_user_seconds_total
    used_cpu_sys_children=cpu_sys_children_seconds_total used_cpu_user_children=cpu_user_children_seconds_total
    used_cpu_sys_main_thread=cpu_sys_main_thread_seconds_total
    used_cpu_user_main_thread=cpu_user_main_thread_seconds_total total_error_replies unexpected_error_replies
    client_query_buffer_limit_disconnections=client_query_buffer_limit_disconnections_total
    client_output_buffer_limit_disconnections=client_output_buffer_limit_disconnections_total
    acl_access_denied_auth=acl_access_denied_auth_total acl_access_denied_cmd=acl_access_denied_cmd_total
    cluster_stats_messages_sent=cluster_messages_sent_total
    cluster_stats_messages_received=cluster_messages_received_total
""")
"""A server has some of them only; `ok` is 1, `err` and `fail` are 0."""
