"""Names of what the collector `timeouts` sends."""

GIVEN = "timeout_seconds"
LONGER = "timeout_longer_than_seconds"
PATH = "timeout_path_info"
