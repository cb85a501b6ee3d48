"""What the collector `limits` sends: what the user declares."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    declared_limit="A limit that somebody declared for a resource of the target, in the unit that its label names: "
    "bytes_per_second, bytes, cores, connections, requests_per_second, queries_per_second, operations_per_second or "
    "packets_per_second.",
)
