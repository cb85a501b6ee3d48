"""What the collector `process` sends."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    process_open_fds="Files and sockets that the process has open.",
    process_max_fds="Files and sockets that the process may have open: the soft limit in force.",
    process_max_fds_hard="How far the process may raise that limit itself.",
    process_unit_max_fds="LimitNOFILE of the process's systemd unit as it is today, by bound (soft, hard); another "
    "limit in force means that the unit was not restarted since, or that the process set its own.",
    process_cpu_seconds_total="CPU time used.",
    process_resident_memory_bytes="Memory in use.",
    process_virtual_memory_bytes="Address space in use.",
    process_virtual_memory_max_bytes="Address space that may be used.",
    process_threads="Threads of the process.",
    process_max_processes="Processes and threads that its user may have.",
    process_major_page_faults_total="Page faults that read from disk.",
    process_start_time_seconds="When it started, since the epoch.",
    container_spec_cpu_quota="CPU time in microseconds that the process's control group (id) may use in each period; "
    "of several, one above another, the tightest.",
    container_spec_cpu_period="That period, in microseconds.",
    container_cpu_cfs_periods_total="Periods that passed.",
    container_cpu_cfs_throttled_periods_total="Periods in which the group had used up its quota and was held back.",
    container_cpu_cfs_throttled_seconds_total="Time for which its tasks were held back.",
)
