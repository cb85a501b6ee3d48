"""Ranges that the store's own engine evaluates."""

import numpy as np

from loadwatch_backend.series.promql.admission.memory import CELL_BYTES, LABELS_BYTES, Ticket
from loadwatch_backend.series.promql.value import Grid, Matrix
from loadwatch_backend.series.store.port import QueryPasser
from loadwatch_backend.series.store.prometheus.reading import matrix_rows


def pass_range(store: QueryPasser, text: str, grid: Grid, ticket: Ticket) -> Matrix:
    """What the engine gives for a range, in its own semantics; its memory stays taken.

    Raises:
        EngineAnswerError: the engine's own error.
        EngineAwayError, QueryLimitError, QueryMemoryError, CancelledError.
    """
    pairs = [
        ("query", text),
        ("start", f"{grid.start_ms / 1000:.3f}"),
        ("end", f"{grid.end_ms / 1000:.3f}"),
        ("step", f"{grid.step_ms / 1000:.3f}"),
        # VictoriaMetrics moves the steps where it may cache.
        ("nocache", "1"),
    ]
    rows = matrix_rows(b"".join(store.query("query_range", pairs, ticket.cancellation)))
    ticket.take(len(rows) * (grid.count * CELL_BYTES + LABELS_BYTES))
    values, present = np.zeros((len(rows), grid.count)), np.zeros((len(rows), grid.count), np.bool_)
    for row, (_, times, found) in enumerate(rows):
        steps = (times - grid.start_ms) // grid.step_ms
        values[row, steps], present[row, steps] = found, True
    return Matrix(labels=[labels for labels, _, _ in rows], values=values, present=present)
