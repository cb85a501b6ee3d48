"""Repeats taken together: runs of one scenario version, commit, dirty flag and parameters."""

from collections.abc import Sequence

from loadwatch_backend.compare.schemas import CompareGroup
from loadwatch_backend.runs.schemas import RunOut

COMMIT_SHOWN = 10


def identity(run: RunOut) -> tuple[object, ...]:
    """What repeats have in common; a run from a dirty tree is a repeat of nothing, since its change has no name."""
    alone = run.id if run.dirty or not (run.commit or run.parameters) else ""
    parameters = tuple(sorted(run.parameters.items()))
    return (run.scenario, run.scenario_version, run.tool, run.target_rate, run.commit, parameters, alone)


def group_runs(runs: Sequence[RunOut]) -> list[CompareGroup]:
    """Groups in the order of their first run; the first group is the base."""
    members: dict[tuple[object, ...], list[RunOut]] = {}
    for run in runs:
        members.setdefault(identity(run), []).append(run)
    return [
        CompareGroup(id=group[0].id, label=_label(group[0], runs), runs=[run.id for run in group], is_base=place == 0)
        for place, group in enumerate(members.values())
    ]


def _label(run: RunOut, runs: Sequence[RunOut]) -> str:
    """The parameters and the commit that tell this group from the others, else its name or id."""
    parts = [
        f"{key}={value}"
        for key, value in sorted(run.parameters.items())
        if any(other.parameters.get(key) != value for other in runs)
    ]
    if run.commit and any(other.commit != run.commit for other in runs):
        parts.append(run.commit[:COMMIT_SHOWN])
    return " ".join(parts) or run.name or run.id
