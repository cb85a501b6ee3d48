"""What the agent tells of each of its collectors, and of itself."""

from loadwatch_formats.metrics.model import describe

HEALTH = describe(
    up="1 when the collector read its source at this tick, 0 when it failed.",
    scrape_duration_seconds="Time that one read of the source took.",
    scrape_samples_scraped="Samples that one read of the source gave.",
    collector_cpu_seconds_total="CPU time that the collector has used since the agent's start.",
    collector_agent_info="1, with host, process and start of the agent that reads the source: two at once are one "
    "agent too many.",
    collector_target_info="1, with the address (host and port) that the source asks, or at which its process listens: "
    "targets of one address are one program.",
    collector_error_info="1 while the collector fails, with its error as label.",
)

AGENT = describe(
    agent_spool_bytes="Bytes that wait on disk for the server.",
    agent_spool_samples="Samples that wait for the server.",
    agent_spool_dropped_samples_total="Samples given up since the spool was made: beyond its limits, damaged on "
    "disk, or refused by the server.",
    agent_spool_writable="1 while the spool can be written.",
    agent_sent_samples_total="Samples that the server has taken.",
    agent_refused_samples_total="Samples that the server refused for good.",
    agent_failed_requests_total="Requests that failed and were tried again.",
    agent_clock_skew_seconds="By how much this host's own clock is ahead of the server's.",
    agent_clock_correction_seconds="What is taken from this host's clock to stamp samples; 0 while that clock is "
    "about right.",
)

METRICS = (*HEALTH, *AGENT)
