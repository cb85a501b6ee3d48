"""A run with everything in it, for reports."""

import numpy as np
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.records.model import Seconds
from loadwatch_backend.findings.documents import headline_of
from loadwatch_backend.findings.schemas import DiagnosisOut, FindingOut
from loadwatch_backend.runs.analysis.schemas import (
    ClockOut,
    EndpointOut,
    FiguresOut,
    GeneratorCheck,
    LatencyOut,
    RampOut,
    RampStep,
    ReconciliationOut,
    ReconciliationStep,
    RemarkOut,
    ResourceReached,
    SteadyWindow,
    ThresholdOut,
    ThresholdState,
    WindowSource,
)
from loadwatch_backend.runs.annotations.schemas import AnnotationOut
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_backend.runs.key_figures import key_figures
from loadwatch_backend.runs.report.model import Report
from loadwatch_backend.runs.report.service import load_charts
from loadwatch_backend.runs.reviews.schemas import MeasuredImpact, ReviewOut
from loadwatch_backend.runs.schemas import ImportOut, RunOut
from loadwatch_backend.runs.snapshots import Change, ConfigurationDifference
from loadwatch_formats.outcomes import OUTCOMES

from backend.tests.findings.said import diagnosis

START_MS = 1_795_252_714_000
NASTY = 'pool <script>alert("1")</script> | waits'

LATENCY = LatencyOut(min=0.01, mean=0.2, p50=0.1, p90=0.3, p95=0.4, p99=0.8, max=3.2)
FIGURES = FiguresOut(
    requests=9_000,
    duration_seconds=20,
    rate=450,
    success_ratio=0.71,
    latency_seconds=LATENCY,
    outcomes={"ok": 6_385, "timeout": 2_615, "dns": 0},
    status_codes={"0": 2_615, "200": 6_385},
    bytes_in=19_155,
    bytes_out=0,
)


def judged(*findings: FindingOut, **changes: object) -> RunOut:
    """A run of which this is said, with its headline."""
    found = diagnosis(*findings, from_ms=START_MS, to_ms=START_MS + 22_000)
    kept = DiagnosisOut.model_validate(found.model_dump(include=set(DiagnosisOut.model_fields)))
    kept = kept.model_copy(update=changes)
    return make_run(
        findings=list(findings), diagnosis=kept.model_copy(update={"headline": headline_of(kept, findings)})
    )


def make_run(**changes: object) -> RunOut:
    """A run that failed with timeouts."""
    threshold = ThresholdOut(
        expression="p95<300ms",
        metric="p95",
        operator="<",
        limit=0.3,
        unit="seconds",
        actual=0.4,
        window="steady",
        state=ThresholdState.FAILED,
        detail="",
    )
    reconciliation = ReconciliationOut(
        steps=[
            ReconciliationStep(id="sent", count=9_000, source="records", missing=None),
            ReconciliationStep(id="accepted", count=8_990, source="ingest_accepted_total", missing=10),
        ],
        place="network-or-client",
        detail="",
    )
    run = RunOut(
        id="20261121-091834-ab12",
        name=NASTY,
        scenario="measure",
        tool="vegeta",
        target_rate=450,
        parameters={"pool": "30"},
        commit="792c807aa",
        dirty=True,
        state=RunState.FINISHED,
        silent=False,
        verdict=Verdict.FAILED,
        verdict_reasons=["p95<300ms"],
        key_figures=key_figures(
            whole=FIGURES,
            steady=FIGURES,
            target_rate=450,
            thresholds=[threshold],
            reconciliation=reconciliation,
        ),
        is_baseline=False,
        baseline="base-1",
        started_at="2026-11-21T09:18:34.000Z",
        ended_at="2026-11-21T09:18:56.000Z",
        started_ms=START_MS,
        ended_ms=START_MS + 22_000,
        created_ms=START_MS,
        updated_ms=START_MS,
        exit_code=0,
        abort_reason="",
        requests=FIGURES.requests,
        success_ratio=FIGURES.success_ratio,
        rate=FIGURES.rate,
        latency_seconds=LATENCY,
        outcomes=FIGURES.outcomes,
        status_codes=FIGURES.status_codes,
        bytes_in=FIGURES.bytes_in,
        bytes_out=FIGURES.bytes_out,
        endpoints=[EndpointOut(name=f"GET /{place}", **FIGURES.model_dump()) for place in range(60)],
        errors=[("context deadline exceeded", 2_615)],
        steady_window=SteadyWindow(
            from_seconds=3,
            to_seconds=18,
            from_ms=START_MS + 3_000,
            to_ms=START_MS + 18_000,
            source=WindowSource.FOUND,
            reason="stable",
            found=None,
        ),
        steady=FIGURES,
        thresholds=[threshold],
        expectations=[],
        own_figures=[],
        ramp=RampOut(
            sustained_rate=400,
            knee_rate=420,
            knee_seconds=12,
            steps=[
                RampStep(
                    from_seconds=0,
                    to_seconds=10,
                    offered_rate=400,
                    ok_rate=399,
                    p95_seconds=0.2,
                    failure_ratio=0.001,
                    held=True,
                )
            ],
        ),
        resources=[
            ResourceReached(
                resource="pool_connections",
                title="Connection pool",
                title_ja="コネクションプール",
                unit="count",
                name="127.0.0.1:18081 main",
                labels={},
                used_max=30,
                limit=30,
                ratio_max=1,
                at_ms=START_MS + 2_000,
                exhausted=True,
                first_full_ms=START_MS + 2_000,
            )
        ],
        findings=[],
        diagnosis=None,
        reconciliation=reconciliation,
        generator=GeneratorCheck(
            state="ok",
            reasons=[],
            target_rate=450,
            reached_rate=450,
            dropped_iterations=None,
            cpu_max=None,
            detail="",
        ),
        clock=ClockOut(skew_seconds=0.02, skew_end_seconds=None, jumped=False),
        source=ImportOut(
            format="vegeta-csv",
            filename="v.csv.gz",
            bytes=1,
            sha256="ab" * 32,
            has_records=True,
            imported_ms=START_MS,
            seconds=1,
        ),
        remarks=[RemarkOut(kind="distortion", code="x", text="vegeta's are estimates", place=None, figures={})],
        sparkline=[],
        progress=None,
        has_snapshots=True,
    )
    return run.model_copy(update=changes)


def make_seconds(count: int = 22) -> Seconds:
    """Seconds with timeouts that grow, and one second without a request."""
    outcomes = np.zeros((count, len(OUTCOMES)), np.int64)
    outcomes[:, 0] = 300
    outcomes[:, 1] = np.linspace(0, 200, count)
    outcomes[7] = 0
    latency = np.sort(np.random.default_rng(1).exponential(0.5, (count, 5)), axis=1)
    latency[7] = np.nan
    return Seconds(
        start_ms=START_MS, outcomes=outcomes, latency=latency, bytes_in=None, bytes_out=None, users=None, exact=True
    )


def make_review() -> ReviewOut:
    """A review that somebody wrote."""
    impact = MeasuredImpact(
        expression="p95<300ms",
        expected=0.3,
        actual=0.4,
        unit="seconds",
        baseline=0.5,
        state=ThresholdState.FAILED,
        detail="",
    )
    # Of what nobody expected a figure nobody can say that it passed.
    watched = impact.model_copy(update={"expression": "cpu_seen", "expected": None, "state": ThresholdState.PASSED})
    return ReviewOut(
        version=1,
        author="kana",
        updated_ms=START_MS,
        measured=[impact, watched],
        standings=[],
        scored=[],
        approach="Bounded pool\nof 30",
        outcome="<b>waits</b>",
        attendees=["a", "b"],
    )


def make_report(language: Language = Language.EN, **changes: object) -> Report:
    """The run with a baseline, a difference, a review and an annotation."""
    run = make_run(**changes)
    notes = [
        AnnotationOut(
            id=1,
            author="kana",
            text="deployed <b>",
            start_ms=START_MS + 9_000,
            end_ms=None,
            tags=[],
            commit="792c807",
            issue="https://issues.example/27",
            created_ms=START_MS + 9_000,
            updated_ms=START_MS + 9_000,
        )
    ]
    change = Change(
        target="app",
        section="pool",
        key="go_sql_max_open_connections",
        before="0",
        after="30",
        unit="count",
        deliberate=True,
        important=True,
    )
    charts = load_charts(run, make_seconds(), notes, language)
    return Report(
        run=run,
        baseline=run.model_copy(update={"id": "base-1", "steady": FIGURES.model_copy(update={"rate": 400.0})}),
        difference=ConfigurationDifference(base="base-1", run=run.id, changes=[change], missing=None),
        review=make_review(),
        notes=notes,
        opening=charts[:2],
        charts=charts[2:],
        made_ms=START_MS,
    )
