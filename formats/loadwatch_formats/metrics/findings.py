"""What the server says of the present in its own store, for rules."""

from loadwatch_formats.metrics.model import describe

METRICS = describe(
    loadwatch_finding="1 while a finding of the last five minutes stands, by id, severity, certainty, and the job and "
    "instance that it is about.",
)
