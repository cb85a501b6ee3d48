"""What the collector `pprof` sends: that a process can be asked for profiles, and for which."""

from loadwatch_formats.metrics.model import describe

SOURCE = "profile_source_info"

METRICS = describe(
    "info",
    profile_source_info="A process that profiles can be taken of: their kinds, and how many seconds one lasts; 1.",
)
