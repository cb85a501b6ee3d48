"""What the three encodings of vegeta's results share (vegeta 12, lib/results.go and lib/attack.go)."""

from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.sink import Sink

QUERY = r"[?#].*$"
"""Cut from URLs: the query string would make every request an endpoint of its own."""
NO_TARGET = "vegeta"
"""The endpoint where an old file names no target."""


def estimates(sink: Sink) -> None:
    """Says so: vegeta keeps no latencies for its report: its percentiles come from a t-digest (lib/metrics.go)."""
    sink.remark(
        RemarkKind.DISTORTION,
        "vegeta-estimates",
        "vegeta's own report estimates its percentiles (t-digest), so they differ slightly; "
        "these are the latencies that were measured.",
    )
