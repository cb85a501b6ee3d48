"""Repeats taken together: runs of one scenario version, commit, dirty flag and parameters."""

from collections.abc import Collection, Sequence

from loadwatch_backend.runs.compare.schemas import CompareGroup
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_backend.runs.schemas import RunOut

COMMIT_SHOWN = 10


def identity(run: RunOut) -> tuple[object, ...]:
    """What repeats have in common; a run from a dirty tree is a repeat of nothing, since its change has no name."""
    alone = run.id if run.dirty or not (run.commit or run.parameters) else ""
    parameters = tuple(sorted(run.parameters.items()))
    return (run.scenario, run.scenario_version, run.tool, run.target_rate, run.commit, parameters, alone)


def counts(run: RunOut) -> bool:
    """Whether a run's figures are those of the system: not where it was cut off, or the generator was the limit."""
    saturated = run.generator is not None and run.generator.state == "saturated"
    return run.verdict is not Verdict.INVALID and run.state is not RunState.ABORTED and not saturated


def past_repeats(runs: Sequence[RunOut], given: Collection[str]) -> list[list[RunOut]]:
    """Repeats among earlier runs that count, without those that are given; groups of two or more."""
    members: dict[tuple[object, ...], list[RunOut]] = {}
    for run in runs:
        if run.id not in given and counts(run):
            members.setdefault(identity(run), []).append(run)
    return [group for group in members.values() if len(group) >= 2]


def group_runs(runs: Sequence[RunOut]) -> list[CompareGroup]:
    """Groups in the order of their first run; the first group is the base."""
    members: dict[tuple[object, ...], list[RunOut]] = {}
    for run in runs:
        members.setdefault(identity(run), []).append(run)
    return [
        CompareGroup(id=group[0].id, label=_label(group[0], runs), runs=[run.id for run in group], is_base=place == 0)
        for place, group in enumerate(members.values())
    ]


def series_of(runs: Sequence[RunOut]) -> list[tuple[str, str, list[RunOut]]]:
    """Runs that one line may join, with an id and what tells it from the others: of one tool, rate and parameters."""
    members: dict[tuple[object, ...], list[RunOut]] = {}
    for run in runs:
        key = (run.tool, run.target_rate, tuple(sorted(run.parameters.items())))
        members.setdefault(key, []).append(run)
    return [(group[0].id, series_label(group[0], runs), group) for group in members.values()]


def series_label(run: RunOut, runs: Sequence[RunOut]) -> str:
    """Parameters, target rate and tool, as far as they differ between the runs."""
    parts = _parameters(run, runs)
    if any(other.target_rate != run.target_rate for other in runs):
        parts.append("–" if run.target_rate is None else f"{run.target_rate:g}/s")
    if any(other.tool != run.tool for other in runs):
        parts.append(run.tool or "–")
    return " ".join(parts)


def differing(runs: Sequence[RunOut], parameter: str) -> list[str]:
    """What differs between runs that shall be repeats of one value of a parameter."""
    names = sorted({name for run in runs for name in run.parameters} - {parameter})
    facts = {
        **{name: {run.parameters.get(name) for run in runs} for name in names},
        "commit": {run.commit for run in runs},
        "target_rate": {run.target_rate for run in runs},
        "tool": {run.tool for run in runs},
    }
    return [name for name, values in facts.items() if len(values) > 1]


def _parameters(run: RunOut, runs: Sequence[RunOut]) -> list[str]:
    return [
        f"{key}={value}"
        for key, value in sorted(run.parameters.items())
        if any(other.parameters.get(key) != value for other in runs)
    ]


def _label(run: RunOut, runs: Sequence[RunOut]) -> str:
    """The parameters and the commit that tell this group from the others, else its name or id."""
    parts = _parameters(run, runs)
    if run.commit and any(other.commit != run.commit for other in runs):
        parts.append(run.commit[:COMMIT_SHOWN])
    return " ".join(parts) or run.name or run.id
