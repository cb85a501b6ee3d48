"""What a run tells of itself reaches the findings: its generator, its counts, its steady window."""

from loadwatch_backend.findings.read import Span as FoundSpan
from loadwatch_backend.runs.analysis.analyst import about
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.analysis.phases import Shape
from loadwatch_backend.runs.analysis.schemas import (
    GeneratorCheck,
    ReconciliationOut,
    ReconciliationStep,
    SteadyWindow,
    WindowSource,
)

from backend.tests.runs.analysis.building import subject

CHECK = GeneratorCheck(
    state="saturated",
    reasons=["rate-not-reached"],
    target_rate=1_000.0,
    reached_rate=600.0,
    dropped_iterations=None,
    cpu_max=None,
    process_cores=None,
    remarks=[],
    detail="",
)


def _shape(source: WindowSource) -> Shape:
    window = SteadyWindow(
        from_seconds=5.0, to_seconds=55.0, from_ms=5_000, to_ms=55_000, source=source, reason="", found=None
    )
    return Shape(window=window, steady=Span(5_000, 55_000), offered=None, rising=None)


def test_generator_counts_and_steady_window_are_told() -> None:
    steps = [
        ReconciliationStep(id="sent", count=10.0, source="result", missing=None),
        ReconciliationStep(id="answered_ok", count=9.0, source="result", missing=1.0),
        ReconciliationStep(id="accepted", count=8.0, source="ingest_accepted_total", missing=1.0),
        ReconciliationStep(id="stored", count=7.0, source="ingest_stored_total", missing=1.0),
        ReconciliationStep(id="rows", count=6.0, source="table_rows", missing=1.0),
    ]
    told = about(subject(), CHECK, ReconciliationOut(steps=steps, place="none", detail=""), _shape(WindowSource.FOUND))
    assert told.generator is not None
    assert (told.generator.state, told.generator.reached_rate, told.generator.dropped) == ("saturated", 600.0, 0)
    assert told.counts is not None
    assert (told.counts.sent, told.counts.answered, told.counts.rows) == (10.0, 9.0, 6.0)
    assert told.steady == FoundSpan(from_ms=5_000, to_ms=55_000)


def test_rows_of_a_table_stand_in_for_what_was_stored_and_a_whole_run_is_no_steady_window() -> None:
    stored = ReconciliationStep(id="stored", count=7.0, source="table_rows", missing=None)
    told = about(
        subject(), CHECK, ReconciliationOut(steps=[stored], place="none", detail=""), _shape(WindowSource.WHOLE)
    )
    assert told.counts is not None
    assert told.counts.rows == 7.0
    assert told.steady is None


def test_counts_that_are_mixed_with_another_runs_are_not_told() -> None:
    stored = ReconciliationStep(id="stored", count=7.0, source="table_rows", missing=None)
    mixed = ReconciliationOut(steps=[stored], place="none", detail="", mixed_with=["next"])
    told = about(subject(), CHECK, mixed, _shape(WindowSource.WHOLE))
    assert told.counts is not None
    assert told.counts.rows is None


def test_a_run_that_nobody_counted_tells_no_counts() -> None:
    told = about(subject(), CHECK, None, _shape(WindowSource.WHOLE))
    assert told.counts is not None
    assert told.counts.accepted is None
