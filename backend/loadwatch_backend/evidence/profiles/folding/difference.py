"""Two profiles side by side, function by function and stack by stack, as they are or for each request."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.folding.stacks import Stacks, column_of, joined, stacks_of
from loadwatch_backend.evidence.profiles.folding.tree import FunctionTable, Tree, table_of
from loadwatch_backend.evidence.profiles.model import Ints, Profile, ProfilesDifferError, SampleType

NOW, BASE = 0, 1
"""The columns of everything that is side by side."""
SMALLEST_SHARE = 0.005
"""Of its side, for a stack to be called new or gone."""
LEAST_SAMPLES = 5
"""The same of a sampled profile: what has five samples on one side has none on the other by chance in one of 150."""
_SAMPLED = ("cpu", "alloc_space", "inuse_space")
"""Types whose values are a multiple of the profile's period, or more."""
MOST_STACKS = 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """How many requests were answered while each profile was taken; both above zero."""

    now: float
    base: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two profiles in one: the values have two columns, `NOW` and `BASE`.

    Attributes:
        least: a stack with less may be missing on the other side by chance.
    """

    type: SampleType
    stacks: Stacks
    table: FunctionTable
    requests: Requests | None
    least: int = 0

    @property
    def total(self) -> int:
        """What pprof takes shares of in a difference: the base, or both where the base is empty."""
        return self.table.total[BASE] or self.table.total[NOW]

    @property
    def flat(self) -> Ints:
        """Now less base, of each function, as pprof's `-diff_base`."""
        return self.table.flat[:, NOW] - self.table.flat[:, BASE]

    @property
    def cum(self) -> Ints:
        """Now less base, of each function with all it calls."""
        return self.table.cum[:, NOW] - self.table.cum[:, BASE]

    def per_request(self, values: Ints) -> Floats:
        """(…, 2) for each request.

        Raises:
            ProfilesDifferError: the requests are not known.
        """
        if self.requests is None:
            raise ProfilesDifferError("The requests of both profiles are not known: no value for each request.")
        return values / np.array([self.requests.now, self.requests.base])


@dataclass(frozen=True, slots=True, kw_only=True)
class StackChange:
    """A stack that one side has and the other has not; the leaf first."""

    functions: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StackChanges:
    """Stacks of one side only, the largest first.

    Attributes:
        stacks: at most `MOST_STACKS`.
        count: all that are large enough.
        smaller: those that may be missing on the other side by chance.
    """

    stacks: Sequence[StackChange]
    count: int
    smaller: int


def side_by_side(
    profile: Profile, base: Profile, sample_type: str | None = None, requests: Requests | None = None
) -> Sides:
    """Both profiles by one type of their values.

    Raises:
        ProfilesDifferError: one has no such type, or counts it in another unit; or values for each request are
            wanted of something that does not grow with requests, such as memory in use.
    """
    column = column_of(profile, sample_type)
    kind = profile.types[column]
    other = column_of(base, kind.name)
    if base.types[other].unit != kind.unit:
        raise ProfilesDifferError(f"The profiles count {kind.name} in {kind.unit} and in {base.types[other].unit}.")
    if requests is not None:
        check_requests(kind, requests)
    stacks = joined(stacks_of(profile, [column]), stacks_of(base, [other]))
    least = LEAST_SAMPLES * max(profile.period, base.period) if kind.name in _SAMPLED else 0
    if kind.name == "samples":
        least = LEAST_SAMPLES
    return Sides(type=kind, stacks=stacks, table=table_of(stacks), requests=requests, least=least)


def check_requests(kind: SampleType, requests: Requests) -> None:
    """Refuse values for each request where they mean nothing.

    Raises:
        ProfilesDifferError: it says why.
    """
    if not kind.accumulates:
        raise ProfilesDifferError(
            f"{kind.name} says how much there is at one moment: it does not belong to requests, so there is no value"
            " for each of them."
        )
    if requests.now <= 0 or requests.base <= 0:
        raise ProfilesDifferError("Values for each request need a number of requests above zero on both sides.")


def new_stacks(tree: Tree, least: int = 0) -> StackChanges:
    """Stacks that the base has not, with at least `least`; of a tree of both sides that was not trimmed."""
    return _only(tree, NOW, least)


def gone_stacks(tree: Tree, least: int = 0) -> StackChanges:
    """Stacks that only the base has, with at least `least`."""
    return _only(tree, BASE, least)


def _only(tree: Tree, side: int, least: int) -> StackChanges:
    own = tree.own[:, side]
    alone = np.flatnonzero((own != 0) & (tree.own[:, 1 - side] == 0) & (tree.hidden == 0) & (tree.parent >= 0))
    enough = max(SMALLEST_SHARE * float(np.abs(own).sum()), float(least))
    large = alone[np.abs(own[alone]) >= enough]
    large = large[np.argsort(-np.abs(own[large]), kind="stable")]
    return StackChanges(
        stacks=[StackChange(functions=_path(tree, int(node)), value=int(own[node])) for node in large[:MOST_STACKS]],
        count=len(large),
        smaller=len(alone) - len(large),
    )


def _path(tree: Tree, node: int) -> tuple[str, ...]:
    names: list[str] = []
    while node > 0:
        names.append(tree.functions[int(tree.function[node])].name)
        node = int(tree.parent[node])
    return tuple(names)
