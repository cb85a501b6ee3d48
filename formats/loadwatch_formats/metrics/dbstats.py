"""What the collector `dbstats` sends: Go's sql.DBStats, and the counters of the application itself."""

from loadwatch_formats.metrics.model import describe

METRICS = (
    *describe(
        go_sql_max_open_connections="Maximum number of open connections; 0 is unlimited.",
        go_sql_max_idle_connections="Most connections that are kept idle, as set; 0 keeps none.",
        go_sql_connection_max_lifetime_seconds="Age at which a connection is closed, as set; 0 is never.",
        go_sql_connection_max_idle_time_seconds="Idle time after which a connection is closed, as set; 0 is never.",
        go_sql_open_connections="Connections that are in use, idle, or being dialled; can exceed the server's "
        "max_connections.",
        go_sql_in_use_connections="Connections in use.",
        go_sql_idle_connections="Idle connections.",
        go_sql_wait_count_total="Waits for a connection; counted when a wait begins.",
        go_sql_wait_duration_seconds_total="Time waited for connections; counted when a wait ends.",
        go_sql_max_idle_closed_total="Connections closed because of SetMaxIdleConns.",
        go_sql_max_idle_time_closed_total="Connections closed because of SetConnMaxIdleTime.",
        go_sql_max_lifetime_closed_total="Connections closed because of SetConnMaxLifetime.",
        ingest_accepted_total="Requests the application took on.",
        ingest_stored_total="Rows the application wrote to its database.",
        ingest_failed_total="Accepted requests whose rows could not be written.",
        ingest_rejected_total="Requests refused because the queue was full.",
        ingest_queue_length="Accepted requests that are not written yet.",
        ingest_queue_limit="Most requests the queue can hold.",
        ingest_lag_seconds="Time from accepting a request to its row being written, least and most since the last "
        "read.",
        ingest_oldest_seconds="Age of the oldest request not written yet.",
        http_requests_in_flight="Requests being handled now.",
        http_invalid_requests_total="Requests answered 400.",
        http_accept_errors_total="Connections that could not be accepted, such as for lack of file descriptors.",
        go_goroutines="Goroutines that exist now.",
        go_sched_gomaxprocs_threads="Threads that may run Go code at once.",
        go_memstats_heap_alloc_bytes="Bytes of allocated heap objects.",
    ),
    *describe(
        "info",
        go_info="Version of Go that the application was built with; 1.",
        go_build_info="The application's build: its module, version and commit, as far as it says; 1.",
    ),
)
