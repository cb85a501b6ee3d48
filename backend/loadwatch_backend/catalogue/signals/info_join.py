"""Labels of info series put on other series, as they were at each time: a failover moves a line from reader to writer.

PromQL's `* on (name) group_left (role) info` does the same with one look-back for both sides. Late values are looked up
with the period of one value, facts with minutes, so the join is made here. Pure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.signals.model import InfoJoin

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Labels = Mapping[str, str]


def join_info(
    facts: InfoJoin, labels: Sequence[Labels], values: FloatArray, info: Sequence[Labels], present: BoolArray
) -> tuple[list[Labels], FloatArray]:
    """Series with the labels `facts.take` of the info series that held at each time.

    Args:
        facts: what is joined.
        labels: of the series.
        values: [series, steps], NaN where there is none.
        info: labels of the info series.
        present: [info, steps], whether each info series was there, on the same steps.

    Returns:
        Labels and values; a series whose facts change becomes two, each with its own part of the values. A time without
        facts takes the ones before it, else the ones after it. Without any facts a series stays as it is.
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(info):
        places.setdefault(_key(facts, one), []).append(index)
    found: list[Labels] = []
    rows: list[FloatArray] = []
    for row, one in enumerate(labels):
        candidates = places.get(_key(facts, one), [])
        taken = [tuple(info[index].get(label, "") for label in facts.take) for index in candidates]
        chosen = _choose(present[candidates]) if candidates else None
        if chosen is None:
            found.append(one)
            rows.append(values[row])
            continue
        for text in dict.fromkeys(taken):
            here = np.isin(chosen, [place for place, other in enumerate(taken) if other == text])
            part = np.where(here, values[row], np.nan)
            if not np.isnan(part).all():
                found.append({**one, **{label: value for label, value in zip(facts.take, text, strict=True) if value}})
                rows.append(part)
    return found, np.array(rows).reshape(len(rows), values.shape[1])


def _key(facts: InfoJoin, labels: Labels) -> tuple[str, ...]:
    return tuple(labels.get(label, "") for label in facts.on)


def _choose(present: BoolArray) -> IntArray | None:
    """For each step the info series that holds: of several the one that began last. None when none ever does."""
    rows, steps = present.shape
    began = np.where(present.any(axis=1), present.argmax(axis=1), -1)
    order = np.argsort(began, kind="stable")
    chosen = np.full(steps, -1, np.int64)
    for place in order.tolist():
        chosen[present[place]] = place
    known = np.flatnonzero(chosen >= 0)
    if rows == 0 or len(known) == 0:
        return None
    before = np.searchsorted(known, np.arange(steps, dtype=np.int64), side="right") - 1
    return chosen[known[np.maximum(before, 0)]]
