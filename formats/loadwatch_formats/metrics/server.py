"""What the server tells of itself at /metrics, beside what every process does (`process_*`)."""

from loadwatch_formats.metrics.model import describe

METRICS = (
    *describe("info", loadwatch_build_info="The version that runs."),
    *describe(
        "histogram", loadwatch_http_request_duration_seconds="Time from a request's first byte to its answer's last."
    ),
    *describe(
        loadwatch_http_refusals_total="Requests refused before or by a route, by the code of their problem details.",
        loadwatch_http_connections="Connections of clients.",
        loadwatch_http_connections_limit="Connections that there may be, by the limit of open files.",
        loadwatch_http_connections_ended_total="Connections that were refused or ended, by reason: all and address "
        "(too many in all, of one address), head and body (nothing came further for 20 to 40 seconds).",
        loadwatch_ingest_requests_total="Remote-write requests taken.",
        loadwatch_ingest_samples_total="Samples taken.",
        loadwatch_ingest_rejected_requests_total="Remote-write requests refused, by reason.",
        loadwatch_ingest_rejected_samples_total="Samples refused, by reason; the other samples of their requests were "
        "taken.",
        loadwatch_ingest_skipped_exemplars_total="Exemplars left out: they are not stored.",
        loadwatch_ingest_skipped_histograms_total="Native histograms left out: they are not stored.",
        loadwatch_ingest_skipped_metadata_total="Metadata left out because that of too many metrics is known.",
        loadwatch_ingest_sender_series="Active series by sender (token, or address where there is none): sent within "
        "the last hour. 200 senders are told apart, the others share one value.",
        loadwatch_ingest_sender_new_series="Series that a sender added within the last hour, by sender.",
        loadwatch_ingest_sender_rejected_samples_total="Samples refused for a limit of their sender, by sender.",
        loadwatch_store_series="Series in the store.",
        loadwatch_store_samples_appended_total="Samples written to disk.",
        loadwatch_store_commits_total="Commits to disk.",
        loadwatch_store_failed_commits_total="Commits that the disk refused.",
        loadwatch_store_busy_rejections_total="Batches refused because too many samples were waiting for the disk.",
        loadwatch_store_queued_samples="Samples that wait for the disk.",
        loadwatch_store_head_bytes="Memory that the newest samples take.",
        loadwatch_store_head_blocks="Blocks that the newest samples are in.",
        loadwatch_store_sealed_rows_total="Samples that were sealed.",
        loadwatch_store_deleted_rows_total="Samples deleted by age.",
        loadwatch_store_database_bytes="Size of the samples' database file.",
        loadwatch_store_checked_blocks_total="Blocks of the samples' file whose checksum was looked at; all of them "
        "after a start, and once a day.",
        loadwatch_store_mended_blocks_total="Blocks of which one wrong byte was put right: disk or memory fails.",
        loadwatch_store_clock_jump_seconds="By how much this machine's clock has jumped (or differs from the newest "
        "sample at a start), as long as that is not believed: for 15 minutes nothing more is deleted for its age.",
        loadwatch_store_damaged_hours="Hours of which damage of the disk took samples or rollups; at least 1 while any "
        "part of the file is damaged.",
        loadwatch_store_engine_queue_samples="Samples that wait on disk for the second engine.",
        loadwatch_store_engine_queue_bytes="Disk that they take.",
        loadwatch_store_engine_queue_seconds="How long the oldest of them has waited.",
        loadwatch_store_engine_queue_ratio="How full the queue is, by bytes or by age, whichever is nearer its limit; "
        "at 1 new samples are refused.",
        loadwatch_store_engine_delivered_samples_total="Samples that the second engine has taken.",
        loadwatch_store_engine_dropped_samples_total="Samples that it refused for good, or that were damaged on disk.",
        loadwatch_store_engine_retries_total="Attempts to deliver that failed: it was away, or told us to wait.",
        loadwatch_queries_total="Queries that got their turn, by queue.",
        loadwatch_queries_running="Queries that are evaluated at this moment, by queue.",
        loadwatch_queries_concurrent_max="Queries that may be evaluated at once, by queue.",
        loadwatch_queries_waiting="Queries that wait for their turn, by queue.",
        loadwatch_query_wait_seconds_total="Time that queries waited for their turn, by queue.",
        loadwatch_queries_refused_total="Queries that were not evaluated, by reason: full and waited (503), gone "
        "(their client), stopping.",
        loadwatch_query_memory_bytes="Memory that queries have taken, by who asks.",
        loadwatch_query_memory_limit_bytes="Memory that queries may take together, by who asks.",
        loadwatch_queries_too_large_total="Queries refused because one alone would have taken more memory than one "
        "may, by who asks.",
        loadwatch_access_refused_tokens_total="Requests with a token that nobody knows.",
        loadwatch_access_failed_logins_total="Attempts to sign in that failed.",
        loadwatch_access_ignored_headers_total="User headers that did not come from a trusted proxy.",
        loadwatch_audit_suppressed_total="Audit entries of strangers left out because their address made too many in "
        "a minute.",
        loadwatch_audit_failed_total="Audit entries that the database refused.",
        loadwatch_ingest_newest_sample_ahead_seconds="How far ahead of this server's clock the newest sample of a "
        "sender is that was or is 10 s ahead.",
        loadwatch_live_streams="Open streams of news, one for each open page.",
        loadwatch_imports_total="Result files imported.",
        loadwatch_imports_failed_total="Result files refused or not imported, by the code of their problem.",
        loadwatch_imports_waiting="Result files that wait to be imported, or are at this moment.",
        loadwatch_imports_received_bytes_total="Bytes of result files received.",
        loadwatch_archives_refused_total="Archives of runs that were not taken in, by the code of their problem.",
        loadwatch_rule_evaluations_total="Evaluations of rules.",
        loadwatch_rule_evaluation_failures_total="Evaluations of rules that failed; their alerts stay as they were.",
        loadwatch_rule_evaluation_seconds_total="Time that evaluations of rules took.",
        loadwatch_rule_group_evaluations_missed_total="Evaluations of groups of rules that came too late to be made.",
        loadwatch_alerts="Alerts, by state; 0 while another server evaluates.",
        loadwatch_database_up="1 while the database of runs, alerts and users answers and takes what is written; "
        "without it no rule is evaluated.",
        loadwatch_leader="1 on the server that evaluates rules and sends notifications.",
        loadwatch_deliveries="Messages in the log, which holds 30 days, by state.",
        loadwatch_delivery_oldest_waiting_seconds="Age of the oldest message that waits or is being sent; 0 when none "
        "does.",
        loadwatch_integration_failing_seconds="For how long an integration has not taken messages that wait for it; "
        "by receiver/integration.",
        loadwatch_delivery_attempts_total="Attempts to send a message, by outcome.",
        loadwatch_delivery_attempts_by_kind_total="Attempts to send a message, by the kind of the integration.",
        loadwatch_delivery_attempt_seconds_total="Time that attempts took.",
        loadwatch_heartbeats_total="Signs of life, by outcome; withheld: no rules were evaluated here, or the "
        "database did not answer.",
    ),
)
