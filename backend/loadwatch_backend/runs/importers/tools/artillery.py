"""Artillery's JSON report (`artillery run --output`, checked against 2.0.34): totals, and the same for each 10 seconds.

Times are milliseconds. Percentiles come from a sketch with 1 % relative error (@artilleryio/sketches-js), each period
has its own. `http.response_time` has answered requests only. In current files `histograms` repeats `summaries`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Endpoint, Latency, Seconds
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink
from loadwatch_backend.runs.importers.outcomes import (
    SORTER,
    Period,
    figures,
    outcomes_of_counts,
    ranked_errors,
    seconds_of_periods,
)
from loadwatch_backend.runs.importers.reading.documents import (
    count,
    epoch_ms,
    items,
    latency_of,
    mapping,
    only,
    read_document,
)

PERIOD_MS = 10_000
_CODES, _ERRORS = "http.codes.", "errors."
_ENDPOINT = "plugins.metrics-by-endpoint."
_RESPONSE_TIME = "http.response_time"


def read_artillery(parts: Sequence[Part], sink: Sink) -> None:
    part = only(parts, sink)
    document = read_document(part, "Artillery's report")
    aggregate = mapping(document.get("aggregate"))
    counters = mapping(aggregate.get("counters"))
    if not counters and "scenariosCreated" in aggregate:
        raise UnreadableFileError(
            f"{part.name}: this is a report of Artillery 1, which has other names for everything. Repeat the test "
            "with Artillery 2."
        )
    if not any(name.startswith("http.") for name in counters):
        raise UnreadableFileError(
            f"{part.name}: there is no HTTP request in Artillery's report; its counters are "
            f"{', '.join(list(counters)[:10]) or 'none'}."
        )
    start, end = epoch_ms(aggregate.get("firstMetricAt")), epoch_ms(aggregate.get("lastMetricAt"))
    codes, errors, outcomes = _outcomes(counters)
    missing = count(counters.get("http.requests")) - sum(outcomes.values())
    if missing > 0:  # errors without a known text, and requests under way when the test ended
        outcomes[Outcome.OTHER] += missing
    total = figures(
        outcomes=outcomes,
        duration_seconds=max(0, end - start) / 1000 if start is not None and end is not None else None,
        latency=_latency(mapping(aggregate.get("summaries")).get(_RESPONSE_TIME)),
        status_codes=codes,
        bytes_in=count(counters.get("http.downloaded_bytes")),
    )
    periods = [period for period in map(_period, items(document.get("intermediate"))) if period is not None]
    seconds = seconds_of_periods(periods)
    endpoints = _endpoints(counters, mapping(aggregate.get("summaries")), total.duration_seconds)
    sink.aggregate(total, endpoints, ranked_errors(errors.items()), seconds, (start, end))
    _remarks(sink, counters, outcomes, total.requests, seconds)


def _outcomes(counters: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int], Counter[Outcome]]:
    """Status codes, errors and outcomes of one set of counters.

    A failed capture or expectation is an error of a request that was answered, so it is no request of its own.
    """
    codes = {name[len(_CODES) :]: count(n) for name, n in counters.items() if name.startswith(_CODES)}
    errors = {name[len(_ERRORS) :]: count(n) for name, n in counters.items() if name.startswith(_ERRORS)}
    network: dict[str, int] = {}
    asserted = 0
    for text, n in errors.items():
        kind = SORTER.of_error(text)
        if kind is Outcome.ASSERTION:
            asserted += n
        elif kind is not Outcome.OTHER:
            network[text] = n
    outcomes = outcomes_of_counts(codes, network.items())
    moved = min(asserted, outcomes[Outcome.OK])
    outcomes[Outcome.OK] -= moved
    outcomes[Outcome.ASSERTION] += moved
    return codes, errors, outcomes


def _latency(summary: object) -> Latency:
    found = mapping(summary)
    return latency_of({"p50": found.get("median"), **found}, factor=1e-3)


def _endpoints(counters: Mapping[str, Any], summaries: Mapping[str, Any], duration: float) -> Sequence[Endpoint]:
    """Endpoints of the plug-in metrics-by-endpoint, the only place where endpoints are told apart."""
    codes: dict[str, dict[str, int]] = {}
    errors: dict[str, dict[str, int]] = {}
    for counter, n in counters.items():
        if not counter.startswith(_ENDPOINT):
            continue
        rest = counter[len(_ENDPOINT) :]
        for middle, found in ((".codes.", codes), (".errors.", errors)):
            name, cut, last = rest.rpartition(middle)
            if cut:
                found.setdefault(name, {})[last] = count(n)
    endpoints = [
        Endpoint(
            name=name,
            figures=figures(
                outcomes=outcomes_of_counts(codes.get(name, {}), errors.get(name, {}).items()),
                duration_seconds=duration,
                latency=_latency(summaries.get(f"{_ENDPOINT}response_time.{name}")),
                status_codes=codes.get(name, {}),
            ),
        )
        for name in dict.fromkeys([*codes, *errors])
    ]
    return sorted(endpoints, key=lambda endpoint: -endpoint.figures.requests)


def _period(intermediate: Mapping[str, Any]) -> Period | None:
    begun = epoch_ms(intermediate.get("period"))
    if begun is None:
        return None
    counters = mapping(intermediate.get("counters"))
    latency = _latency(mapping(intermediate.get("summaries")).get(_RESPONSE_TIME))
    first = epoch_ms(intermediate.get("firstMetricAt")) or begun
    last = epoch_ms(intermediate.get("lastMetricAt")) or begun + PERIOD_MS - 1
    answered = latency.max is not None
    return Period(
        start_ms=max(first, begun),
        end_ms=min(last, begun + PERIOD_MS - 1) + 1,
        outcomes=_outcomes(counters)[2],
        latency=np.array(
            [np.nan if v is None else v for v in (latency.p50, latency.p90, latency.p95, latency.p99, latency.max)]
        )
        if answered
        else None,
        bytes_in=count(counters.get("http.downloaded_bytes")),
        users=None,
    )


def _remarks(
    sink: Sink, counters: Mapping[str, Any], outcomes: Mapping[Outcome, int], requests: int, seconds: Seconds | None
) -> None:
    sink.remark(
        "artillery-estimates", figures={"answered": count(counters.get("http.responses")), "requests": requests}
    )
    if seconds is not None:
        sink.remark("artillery-ten-seconds")
    if not any(name.startswith(_ENDPOINT) for name in counters):
        sink.remark("artillery-no-endpoints")
    if outcomes.get(Outcome.OTHER):
        sink.remark("artillery-unexplained", figures={"requests": outcomes[Outcome.OTHER]})


def _recognise(head: bytes) -> int:
    if head.lstrip()[:1] != b"{" or b'"aggregate"' not in head:
        return 0
    return 90 if any(word in head for word in (b'"vusers.', b'"firstCounterAt"', b'"scenariosCreated"')) else 0


ARTILLERY = Importer("artillery-json", "Artillery's JSON report (`--output`)", _recognise, read_artillery)
