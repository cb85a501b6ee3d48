"""All detectors, one line each; where two began at the same instant, the earlier one here is said first."""

from collections.abc import Sequence

from loadwatch_backend.findings.detectors.application import function_waits, lock_stall
from loadwatch_backend.findings.detectors.baseline import cold_cache, memory_grown, negative_scaling, tables_grown
from loadwatch_backend.findings.detectors.database import (
    cancel_storm,
    clients_locked_out,
    connections_exhausted,
    deadlocks,
    iops_full,
    lock_waits,
    memory_low,
    read_write_imbalance,
    replica_lag,
    storage_full,
    went_away,
)
from loadwatch_backend.findings.detectors.database import cpu_full as database_cpu_full
from loadwatch_backend.findings.detectors.host import memory_growing, network_capped, noise, swapping
from loadwatch_backend.findings.detectors.ingest import lag_growing, queue_full, rows_lost, rows_lost_at_kill
from loadwatch_backend.findings.detectors.instances import builds, hotspot, sick
from loadwatch_backend.findings.detectors.load import coordinated_omission, generator_saturated, warm_up
from loadwatch_backend.findings.detectors.pool import (
    churn,
    exceeds_server,
    exhausted,
    holder,
    lifetime_churn,
    per_request,
    unlimited,
)
from loadwatch_backend.findings.detectors.process import (
    cpu_full,
    died,
    file_descriptors,
    limit_not_in_force,
    one_core,
    throttled,
)
from loadwatch_backend.findings.detectors.sockets import (
    accept_queue,
    ephemeral_ports,
    keep_alive_off,
    time_wait_buildup,
    time_wait_overflow,
)
from loadwatch_backend.findings.detectors.statements import lock_waits as statement_lock_waits
from loadwatch_backend.findings.detectors.statements import n_plus_one, prepared_twice, scans
from loadwatch_backend.findings.detectors.traffic import (
    mix_taken_over,
    not_modified,
    refused,
    route_bytes,
    timeouts_order,
)
from loadwatch_backend.findings.load import STREAMED
from loadwatch_backend.findings.model import Detector
from loadwatch_backend.findings.programs import INFO, START
from loadwatch_backend.findings.seen.log_lines import LOG_METRICS

DETECTORS: Sequence[Detector] = (
    noise.DETECTOR,
    cold_cache.DETECTOR,
    tables_grown.DETECTOR,
    memory_grown.DETECTOR,
    negative_scaling.DETECTOR,
    sick.DETECTOR,
    hotspot.DETECTOR,
    memory_growing.DETECTOR,
    swapping.DETECTOR,
    mix_taken_over.DETECTOR,
    route_bytes.DETECTOR,
    network_capped.DETECTOR,
    throttled.DETECTOR,
    cpu_full.DETECTOR,
    one_core.DETECTOR,
    went_away.DETECTOR,
    storage_full.DETECTOR,
    memory_low.DETECTOR,
    read_write_imbalance.DETECTOR,
    iops_full.DETECTOR,
    deadlocks.DETECTOR,
    n_plus_one.DETECTOR,
    scans.DETECTOR,
    lock_waits.DETECTOR,
    statement_lock_waits.DETECTOR,
    prepared_twice.DETECTOR,
    database_cpu_full.DETECTOR,
    per_request.DETECTOR,
    unlimited.DETECTOR,
    exceeds_server.DETECTOR,
    connections_exhausted.DETECTOR,
    clients_locked_out.DETECTOR,
    churn.DETECTOR,
    lifetime_churn.DETECTOR,
    exhausted.DETECTOR,
    holder.DETECTOR,
    cancel_storm.DETECTOR,
    replica_lag.DETECTOR,
    keep_alive_off.DETECTOR,
    time_wait_buildup.DETECTOR,
    time_wait_overflow.DETECTOR,
    ephemeral_ports.DETECTOR,
    file_descriptors.DETECTOR,
    accept_queue.DETECTOR,
    died.DETECTOR,
    refused.DETECTOR,
    timeouts_order.DETECTOR,
    not_modified.DETECTOR,
    function_waits.DETECTOR,
    lock_stall.DETECTOR,
    lag_growing.DETECTOR,
    queue_full.DETECTOR,
    rows_lost_at_kill.DETECTOR,
    rows_lost.DETECTOR,
    generator_saturated.DETECTOR,
    coordinated_omission.DETECTOR,
    warm_up.DETECTOR,
    builds.DETECTOR,
    limit_not_in_force.DETECTOR,
)

METRICS = frozenset(
    {
        *STREAMED,
        *LOG_METRICS,
        INFO,
        START,
        *(metric for detector in DETECTORS for metric in (*detector.needs, *detector.reads)),
    }
)
"""All that a window has to hold."""
