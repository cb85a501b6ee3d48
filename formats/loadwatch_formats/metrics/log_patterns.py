"""What the collector `log_patterns` sends."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    log_messages_total="Lines of a log by their pattern (pattern_id) and level since the agent follows it; those "
    "beyond the patterns that are told apart have the id other.",
    log_pattern_info="The text of a pattern, without what varies and without what may be a secret; 1.",
    log_lines_total="Lines that were read, by result: counted, continued (they go on from the one before), too_long.",
)
