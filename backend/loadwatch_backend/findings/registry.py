"""All detectors, one line each; where two began at the same instant, the earlier one here is said first."""

from collections.abc import Sequence

from loadwatch_backend.findings.detectors import (
    application,
    baseline,
    database_connections,
    database_locks,
    database_replicas,
    database_resources,
    host,
    ingest,
    instances,
    load,
    pool,
    process,
    sockets,
    statements,
    traffic,
)
from loadwatch_backend.findings.engine import PEERS
from loadwatch_backend.findings.load import STREAMED
from loadwatch_backend.findings.measures.log_lines import LOG_METRICS
from loadwatch_backend.findings.model import Detector
from loadwatch_backend.findings.programs import INFO, START

DETECTORS: Sequence[Detector] = (
    host.host_noise,
    baseline.cold_cache,
    baseline.tables_grown,
    baseline.memory_grown,
    baseline.negative_scaling,
    instances.sick,
    instances.hotspot,
    host.host_memory_growing,
    host.host_swapping,
    traffic.mix_taken_over,
    traffic.route_bytes,
    host.network_capped,
    process.container_throttled,
    process.app_cpu_full,
    process.one_core_busy,
    database_connections.went_away,
    database_resources.storage_full,
    database_resources.memory_low,
    database_replicas.read_write_imbalance,
    database_resources.iops_full,
    database_locks.deadlocks,
    statements.n_plus_one,
    statements.scans,
    database_locks.lock_waits,
    statements.lock_waits,
    statements.prepared_twice,
    database_resources.cpu_full,
    pool.pool_per_request,
    pool.pool_unlimited,
    pool.pool_exceeds_server,
    database_connections.connections_exhausted,
    database_connections.clients_locked_out,
    pool.pool_churn,
    pool.pool_lifetime_churn,
    pool.pool_exhausted,
    pool.pool_holder,
    database_connections.cancel_storm,
    database_replicas.replica_lag,
    sockets.keep_alive_off,
    sockets.time_wait_buildup,
    sockets.time_wait_overflow,
    sockets.accept_queue_full,
    process.process_died,
    traffic.refused,
    traffic.timeouts_order,
    traffic.not_modified,
    application.function_waits,
    application.lock_stall,
    ingest.lag_growing,
    ingest.rows_lost_at_kill,
    ingest.rows_lost,
    load.generator_saturated,
    load.coordinated_omission,
    load.warm_up_in_window,
    instances.builds,
    process.limit_not_in_force,
)

METRICS = frozenset(
    {
        *STREAMED,
        *LOG_METRICS,
        INFO,
        START,
        PEERS,
        *(metric for detector in DETECTORS for metric in (*detector.needs, *detector.reads)),
    }
)
