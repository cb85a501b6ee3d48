"""Which of the application's functions locks were waited for in: from mutex and block profiles. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.profiles.folding.known import known_frame, own_functions
from loadwatch_backend.evidence.profiles.folding.tree import add_up, column_of, stacks_of
from loadwatch_backend.evidence.profiles.model import Kind, Profile

NANO = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWaits:
    """What was waited for locks in some profiles of one kind.

    Attributes:
        kind: `mutex`: by who held the lock; `block`: by who waited.
        job: of the processes.
        seconds: waited in each second, all together: so many waited at once on average.
        functions: the part of each of the application's functions, the nearest to the lock.
    """

    kind: Kind
    job: str
    seconds: float
    functions: Mapping[str, float]


def lock_waits(profile: Profile) -> tuple[float, Mapping[str, float]]:
    """Seconds that were waited for locks, and those of them that belong to the application's functions.

    Go's mutex profile is of nothing else; in its block profile waits for channels, groups and the pool are left out,
    since workers that have nothing to do wait there, too.

    Raises:
        ProfilesDifferError: it is neither.
    """
    stacks = stacks_of(profile, [column_of(profile, "delay")])
    begins, ends = stacks.offsets[:-1], stacks.offsets[1:]
    locks = np.array([_waits(one.name) for one in stacks.functions], np.bool_)
    chosen = np.zeros(len(begins), np.bool_)
    chosen[stacks.sample_of[np.flatnonzero(locks[stacks.frames])]] = True
    values = np.where(chosen[:, None], stacks.values, 0)
    total = float(values.sum()) * NANO
    mine = np.flatnonzero(own_functions(stacks.functions)[stacks.frames])
    if not len(mine):
        return total, {}
    after = np.searchsorted(mine, begins)
    frame = mine[np.minimum(after, len(mine) - 1)]
    below = (after < len(mine)) & (frame < ends)
    sums = add_up(stacks.frames[frame[below]], values[below], len(stacks.functions))[:, 0]
    return total, {stacks.functions[place].name: float(sums[place]) * NANO for place in np.flatnonzero(sums > 0)}


def _waits(name: str) -> bool:
    return known_frame(name, Kind.BLOCK) == "lock-wait" or known_frame(name, Kind.MUTEX) == "lock-held"
