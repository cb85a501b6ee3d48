"""GET /prometheus/federate: the newest sample of each series that is selected, for another Prometheus to scrape.

Source: web/federate.go of Prometheus.
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from fastapi import APIRouter, Request, Response

from loadwatch_backend.promql.admission.memory import LABELS_BYTES, READ_BYTES, Ticket
from loadwatch_backend.promql.admission.reading import read_within
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.errors import QueryTooLargeError
from loadwatch_backend.promql.http.describe import RESPONSES, documented
from loadwatch_backend.promql.http.endpoints import PromqlEngine, Query, QueryQueues
from loadwatch_backend.promql.http.exposition import Exposed, format_for, lines_of
from loadwatch_backend.promql.http.response import in_pieces
from loadwatch_backend.promql.http.streaming import answer
from loadwatch_backend.promql.labels import METRIC_NAME, LabelKey, label_key
from loadwatch_backend.store.port import STALE_NAN_BITS, ManySelector, Matcher, Reading, Selection

federation_router = APIRouter(prefix="/prometheus", tags=["prometheus"])

_LINE_BYTES = 60
"""Of a sample on the page besides its labels."""


@federation_router.get(
    "/federate",
    summary="Newest samples, for another Prometheus to scrape",
    responses=RESPONSES,
    openapi_extra=documented("match[]"),
)
async def federate(request: Request, engine: PromqlEngine, queries: QueryQueues, parameters: Query) -> Response:
    """The newest sample within the look-back of each series that any selector matches, unless it is a stale marker."""
    matchers, now_ms = parameters.matchers(), int(time.time() * 1000)
    text_format = format_for(request.headers.get("accept", ""))

    def write(ticket: Ticket) -> Iterator[bytes]:
        samples = _newest(engine, ticket, matchers, now_ms)
        size = sum(_LINE_BYTES + sum(len(name) + len(value) + 4 for name, value in one.labels) for one in samples)
        if size > engine.settings.answer_bytes:
            raise QueryTooLargeError(
                f"the page may have {size} bytes, more than {engine.settings.answer_bytes}: select fewer series, or"
                " raise LOADWATCH_QUERY_ANSWER_BYTES"
            )
        return in_pieces(lines_of(samples, text_format))

    return await answer(request, queries.api, write, text_format.media_type)


def _newest(engine: Engine, ticket: Ticket, matchers: Sequence[tuple[Matcher, ...]], now_ms: int) -> Sequence[Exposed]:
    """In the order of metrics, then of labels."""
    if not matchers:
        return ()
    start_ms, store = now_ms - engine.settings.lookback_ms, engine.store

    def read(reading: Reading) -> Sequence[Selection]:
        if isinstance(store, ManySelector):
            return store.select_newest(matchers, start_ms, now_ms, reading)
        return [store.select(one, start_ms, now_ms, reading) for one in matchers]

    found: dict[LabelKey, Exposed] = {}
    for selection in read_within(ticket, ticket.room_bytes // 2 // READ_BYTES, read):
        engine.check_size(0, len(found) + len(selection.labels), 1)
        ticket.take(len(selection.labels) * LABELS_BYTES)
        # Every series that is there has a sample.
        last = selection.offsets[1:] - 1
        stale = selection.values[last].view(np.uint64) == STALE_NAN_BITS
        for labels, time_ms, value, ended in zip(
            selection.labels,
            selection.timestamps[last].tolist(),
            selection.values[last].tolist(),
            stale.tolist(),
            strict=True,
        ):
            if not ended:
                key = label_key(labels)
                found[key] = Exposed(key, time_ms, value)
    return sorted(found.values(), key=lambda one: (dict(one.labels).get(METRIC_NAME, ""), one.labels))
