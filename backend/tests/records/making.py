"""Load results and records for tests, made the way an import makes them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from loadwatch_backend.evidence.records import result_file
from loadwatch_backend.evidence.records.accumulator import Accumulator
from loadwatch_backend.evidence.records.columns import Columns
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray, LoadResult
from loadwatch_formats.outcomes import Outcome

START_MS = 1_795_252_700_000
_STATUS = {Outcome.OK: 200, Outcome.HTTP_4XX: 404, Outcome.HTTP_5XX: 500, Outcome.ASSERTION: 200}


def make_records(
    *,
    requests: int = 1_000,
    seconds: float = 10.0,
    start_ms: int = START_MS,
    latency_ms: float | IntArray = 20.0,
    failures: Sequence[tuple[Outcome, float]] = (),
    endpoints: Sequence[str] = ("GET http://app/",),
    seed: int = 1,
) -> Columns:
    """Requests evenly spread over `seconds`.

    Args:
        requests: how many.
        seconds: between the first start and the end of the last gap.
        start_ms: of the first.
        latency_ms: the median of log-normal latencies, or the nanoseconds of each request.
        failures: outcomes with their share of all requests.
        endpoints: taken in turn.
        seed: equal seeds make equal records.
    """
    random = np.random.default_rng(seed)
    step = seconds * 1e9 / max(1, requests)
    time_ns = start_ms * 1_000_000 + (np.arange(requests) * step).astype(np.int64)
    if isinstance(latency_ms, np.ndarray):
        latency_ns = latency_ms
    else:
        latency_ns = (random.lognormal(np.log(latency_ms * 1e6), 0.5, requests)).astype(np.int64)
    outcome = np.zeros(requests, dtype=np.uint8)
    status = np.full(requests, 200, dtype=np.int32)
    draw = random.random(requests)
    low = 0.0
    for kind, share in failures:
        hit = (draw >= low) & (draw < low + share)
        outcome[hit] = OUTCOME_CODES[kind]
        status[hit] = _STATUS.get(kind, 0)
        low += share
    return Columns(
        time_ns=time_ns,
        latency_ns=latency_ns,
        status=status,
        outcome=outcome,
        endpoint=(np.arange(requests) % len(endpoints)).astype(np.int32),
        bytes_in=np.full(requests, 3, dtype=np.int64),
        bytes_out=np.zeros(requests, dtype=np.int64),
        error=np.where(outcome > 0, outcome.astype(np.int32) - 1, -1).astype(np.int32),
    )


def make_result(
    directory: Path,
    records: Columns | None = None,
    *,
    endpoints: Sequence[str] = ("GET http://app/",),
    tool: str = "vegeta",
    target_users: float | None = None,
) -> LoadResult:
    """Writes all files of a run into `directory`, which is made if need be, and gives its result.

    Args:
        directory: of the run.
        records: by default those of `make_records()`.
        endpoints: names of the codes in the records.
        tool: the load tool it says it is of.
        target_users: active users throughout.
    """
    directory.mkdir(parents=True, exist_ok=True)
    records = make_records(endpoints=endpoints) if records is None else records
    files = RunFiles(directory)
    accumulator = Accumulator(files.records)
    names = np.arange(len(endpoints), dtype=np.int32)
    accumulator.endpoints.encode(names, list(endpoints))
    texts = [kind.value for kind in list(Outcome)[1:]]
    accumulator.errors.encode(np.arange(len(texts), dtype=np.int32), texts)
    accumulator.add(records)
    if target_users is not None and len(records.time_ns):
        accumulator.users(records.time_ns[:1] // 1_000_000, np.array([target_users]))
    summary = accumulator.finish()
    result = LoadResult(
        format=f"{tool}-csv",
        tool=tool,
        tool_version=None,
        name=None,
        start_ms=None if summary.first_ns is None else summary.first_ns // 1_000_000,
        end_ms=None if summary.end_ns is None else -(-summary.end_ns // 1_000_000),
        figures=summary.figures,
        endpoints=tuple(summary.endpoints),
        errors=tuple(summary.errors),
        seconds=summary.seconds,
        remarks=(),
        has_records=summary.figures.requests > 0,
    )
    result_file.save(result, files)
    return result
