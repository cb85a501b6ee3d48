"""What the collector `process` sends."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    process_open_fds="Files and sockets that the process has open.",
    process_max_fds="Files and sockets that the process may have open.",
    process_cpu_seconds_total="CPU time used.",
    process_resident_memory_bytes="Memory in use.",
    process_virtual_memory_bytes="Address space in use.",
    process_virtual_memory_max_bytes="Address space that may be used.",
    process_threads="Threads of the process.",
    process_max_processes="Processes and threads that its user may have.",
    process_major_page_faults_total="Page faults that read from disk.",
    process_start_time_seconds="When it started, since the epoch.",
)
