"""Instances of a job beside each other, and which of them is far from the others. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.window import BoolArray, Table, Window

LEAST_PEERS = 3
FAR = 3.0
"""Times the median of its equals."""
FAR_SPREADS = 6.0
SPREAD = 1.4826
"""Median absolute deviation to standard deviation, of a normal distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """A figure of the instances of one job; `values` is [instance, instant], NaN where an instance is silent."""

    job: str
    instances: list[str]
    values: FloatArray

    def others(self, place: int) -> FloatArray:
        """[instant]: the median of all but one; NaN where fewer than two of them are known."""
        rest = np.delete(self.values, place, axis=0)
        known = np.isfinite(rest)
        enough = known.sum(axis=0) >= 2
        filled = np.where(known | ~enough, rest, np.nan)
        result = np.full(rest.shape[1], np.nan)
        result[enough] = np.nanmedian(filled[:, enough], axis=0)
        return result


def jobs_of(table: Table) -> Iterator[tuple[str, Table]]:
    for labels, group in table.by("job"):
        if labels.get("job"):
            yield labels["job"], group


def instances_of(table: Table) -> dict[str, Table]:
    return {labels["instance"]: group for labels, group in table.by("instance") if labels.get("instance")}


def peers(window: Window, job: str, figures: Mapping[str, FloatArray]) -> Peers | None:
    """Those instances that are known in half of the focus; None of fewer than three."""
    known = {
        instance: values
        for instance, values in figures.items()
        if float(np.isfinite(window.inside(values)).mean()) >= 0.5
    }
    if len(known) < LEAST_PEERS:
        return None
    names = sorted(known)
    return Peers(job=job, instances=names, values=np.stack([known[name] for name in names]))


def far_above(levels: FloatArray, floor: float) -> BoolArray:
    """[instance]: whether a level is far above those of the others, which agree; `floor` is the least that counts.

    By median and median absolute deviation (P. J. Rousseeuw, C. Croux, Alternatives to the Median Absolute Deviation,
    JASA 88, 1993), so that one that is ill does not move what is usual. None when it holds for half of them or more.
    """
    middle = float(np.median(levels))
    spread = SPREAD * float(np.median(np.abs(levels - middle)))
    far = levels >= max(floor, FAR * middle, middle + FAR_SPREADS * spread)
    return far if 2 * int(far.sum()) < len(levels) else np.zeros(len(levels), dtype=np.bool_)
