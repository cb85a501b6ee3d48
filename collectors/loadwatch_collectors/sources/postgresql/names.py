"""Which columns and settings the collector `postgresql` sends, under postgres_exporter's names where it has one.

Source of the names: postgres_exporter, collector/pg_stat_database.go and its neighbours, and queries.go.
"""

from collections.abc import Mapping

DATABASE = tuple(
    """
    xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated tup_deleted
    conflicts temp_files temp_bytes deadlocks blk_read_time blk_write_time sessions sessions_abandoned sessions_fatal
    sessions_killed
""".split()
)
_BGWRITER = tuple(
    """
    checkpoints_timed checkpoints_req checkpoint_write_time checkpoint_sync_time buffers_checkpoint buffers_clean
    maxwritten_clean buffers_backend buffers_backend_fsync buffers_alloc
""".split()
)
_CHECKPOINTER = tuple(
    """
    num_timed num_requested restartpoints_done write_time sync_time buffers_written
""".split()
)
_WAL = tuple(
    """
    records fpi bytes buffers_full write sync write_time sync_time
""".split()
)
COLUMNS: Mapping[str, str] = {
    **{f"pg_stat_database.{column}": f"pg_stat_database_{column}" for column in DATABASE},
    **{f"pg_stat_bgwriter.{column}": f"pg_stat_bgwriter_{column}_total" for column in _BGWRITER},
    **{f"pg_stat_checkpointer.{column}": f"pg_stat_checkpointer_{column}_total" for column in _CHECKPOINTER},
    **{f"pg_stat_wal.wal_{column}": f"pg_stat_wal_{column}_total" for column in _WAL},
}
"""The metric of a view's column; a server has some of them only."""

SETTINGS = tuple(
    """
    autovacuum autovacuum_max_workers bgwriter_delay_seconds bgwriter_lru_maxpages checkpoint_completion_target
    checkpoint_timeout_seconds deadlock_timeout_seconds default_statistics_target effective_cache_size_bytes
    effective_io_concurrency fsync full_page_writes hot_standby idle_in_transaction_session_timeout_seconds jit
    maintenance_work_mem_bytes max_connections max_locks_per_transaction
    max_parallel_workers max_parallel_workers_per_gather max_prepared_transactions max_replication_slots
    max_wal_senders max_wal_size_bytes max_worker_processes min_wal_size_bytes random_page_cost
    reserved_connections seq_page_cost shared_buffers_bytes
    superuser_reserved_connections temp_buffers_bytes track_io_timing wal_buffers_bytes work_mem_bytes
""".split()
)
"""Settings that are always sent, as metrics name them: with the base unit that their values are converted to."""
