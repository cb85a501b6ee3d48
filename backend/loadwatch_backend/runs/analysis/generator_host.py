"""CPU of the host that the load generator ran on, where an agent or a node_exporter watches it."""

import re

import numpy as np

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.series import LARGEST_VALUE
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.analysis.series import SeriesReader

HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
BUSY = (
    '1 - sum by (instance) (rate(node_cpu_seconds_total{{mode=~"idle|iowait",instance=~"{host}"}}[$window]))'
    ' / count by (instance) (node_cpu_seconds_total{{mode="idle",instance=~"{host}"}})'
)
"""The same view of a busy core as the headroom strip's."""


def read_host_cpu(series: SeriesReader, host: str, span: Span) -> tuple[float, float] | None:
    """Mean and largest busy share of all cores, 0 to 1; None where nobody watched the host."""
    if not HOST_NAME.fullmatch(host):
        return None
    pattern = host.replace(".", "[.]") + "(:[0-9]+)?"
    try:
        found = series.read(BUSY.format(host=pattern), span)
    except ProblemError:
        return None
    known = found.values[np.abs(found.values) <= LARGEST_VALUE]
    return (float(known.mean()), float(known.max())) if len(known) else None
