"""What a run is held against: the pinned baseline of its scenario, else the run before it; and its sweep.

What findings compare with is more: a run with equal parameters, the same tool and the same rate.
"""

from collections.abc import Mapping, Sequence

from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.findings.window import Trial
from loadwatch_backend.runs.analysis.own_figures import Reference
from loadwatch_backend.runs.errors import RunNotFoundError
from loadwatch_backend.runs.registry.configuration import read_snapshots
from loadwatch_backend.runs.registry.repository import find_baseline, find_before, find_run, find_siblings
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.runs.schemas import SnapshotWhen

Facts = Mapping[tuple[str, str], float]
SECTIONS = frozenset({"cache", "tables", "host", "process"})
"""Sections whose values drift by themselves and make two equal runs differ."""
MOST_TRIALS = 100


def find_reference(session: Session, row: RunRow) -> tuple[Facts, Reference | None]:
    """Facts before the run, and the newest equal run, pinned first; none without a scenario."""
    candidates = [reference_of(session, row), *find_before(session, row, MOST_TRIALS)] if row.scenario else []
    other = next((one for one in candidates if one is not None and _is_equal(one, row)), None)
    if other is None:
        return {}, None
    reference = Reference(
        id=other.id,
        name=(other.name or other.id) + ("" if other.commit == row.commit else f" (commit {other.commit[:8] or '?'})"),
        span_ms=None if other.ended_ms is None else (other.started_ms, other.ended_ms),
        before=_before(session, other.id),
        rate=other.rate,
        p95_seconds=other.p95_seconds,
        target_rate=other.target_rate,
    )
    return _before(session, row.id), reference


def find_trials(session: Session, row: RunRow) -> Sequence[Trial]:
    """The runs that a run with parameters may be one of a sweep with; nothing for a run without a scenario."""
    if not row.scenario or not row.parameters:
        return ()
    return [
        Trial(
            name=one.name or one.id,
            parameters={parameter.name: parameter.value for parameter in one.parameters},
            good=None if one.rate is None or one.success_ratio is None else one.rate * one.success_ratio,
            target=one.target_rate,
        )
        for one in find_siblings(session, row, MOST_TRIALS)
    ]


def reference_of(session: Session, row: RunRow) -> RunRow | None:
    """The run that a run is held against; None for one without a scenario, and for the first of it."""
    if not row.scenario:
        return None
    pinned = find_baseline(session, row.scenario)
    if pinned is not None and pinned != row.id:
        try:
            return find_run(session, pinned)
        except RunNotFoundError:
            return None
    return next(iter(find_before(session, row, 1)), None)


def _is_equal(one: RunRow, row: RunRow) -> bool:
    """Whether two runs of a scenario differ in nothing that somebody set, but the commit."""

    def setting(run: RunRow) -> object:
        parameters = {parameter.name: parameter.value for parameter in run.parameters}
        return run.scenario_version, run.tool, run.target_rate, parameters

    return setting(one) == setting(row)


def _before(session: Session, run_id: str) -> Facts:
    for snapshot in read_snapshots(session, run_id):
        if snapshot.when is SnapshotWhen.BEFORE:
            return {
                (one.target, one.key): one.number
                for one in snapshot.settings
                if one.section in SECTIONS and one.number is not None
            }
    return {}
