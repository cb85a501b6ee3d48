"""All stacks as one tree, from the root: what a flame graph draws. Bounded, and what was left out is in it as such."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.model import Function, Ints, Kind, Profile, ProfilesDifferError, SampleType


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSums:
    """One column of a profile by the values of one label.

    Attributes:
        key: of the label.
        by_value: the sum of each value; several values of the same key on one sample are one, joined by a comma.
        without: the sum of the samples that do not have the label.
    """

    key: str
    by_value: Mapping[str, int]
    without: int


def label_keys(profile: Profile) -> Sequence[str]:
    """Keys of the labels with texts, those on most samples first. Numbers, such as sizes of blocks, are none."""
    counts = Counter[str]()
    sizes = add_up(profile.labels, profile.values[:, :1] * 0 + 1, len(profile.label_sets))[:, 0]
    for one, size in zip(profile.label_sets, sizes, strict=True):
        for key in {label.key for label in one if label.text}:
            counts[key] += int(size)
    return [key for key, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def sums_by_label(profile: Profile, key: str, column: int) -> LabelSums:
    sums = add_up(profile.labels, profile.values[:, column : column + 1], len(profile.label_sets))[:, 0]
    by_value = Counter[str]()
    without = 0
    for one, value in zip(profile.label_sets, sums, strict=True):
        texts = [label.text for label in one if label.key == key and label.text]
        if texts:
            by_value[", ".join(texts)] += int(value)
        else:
            without += int(value)
    return LabelSums(
        key=key, by_value=dict(sorted(by_value.items(), key=lambda item: (-item[1], item[0]))), without=without
    )


_PART = 22
"""Bits that are added at once, so that sums in floats stay exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """Frames of all samples one after another, the leaf first.

    Functions are one by their name, as with pprof's granularity `functions`: of two files the first is kept.

    Attributes:
        functions: by number.
        frames: of each frame its function.
        offsets: sample i has `frames[offsets[i]:offsets[i + 1]]`.
        values: (samples, columns).
    """

    functions: tuple[Function, ...]
    frames: Ints
    offsets: Ints
    values: Ints

    @property
    def sample_of(self) -> Ints:
        """Of each frame its sample."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int64), np.diff(self.offsets))


def stacks_of(profile: Profile, columns: Sequence[int] | None = None) -> Stacks:
    functions, number = _by_name(profile.functions)
    location_sizes = np.diff(profile.locations.offsets)
    sizes = location_sizes[profile.stack]
    begins = profile.locations.offsets[:-1][profile.stack]
    frames = number[profile.locations.function[spread(begins, sizes)]]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = profile.values if columns is None else profile.values[:, list(columns)]
    return Stacks(functions=functions, frames=frames, offsets=ends[profile.offsets], values=values)


def joined(left: Stacks, right: Stacks) -> Stacks:
    """Both, with the columns of the left before those of the right, which are 0 for each other's samples."""
    functions, number = _by_name((*left.functions, *right.functions))
    width = left.values.shape[1] + right.values.shape[1]
    values = np.zeros((len(left.values) + len(right.values), width), np.int64)
    values[: len(left.values), : left.values.shape[1]] = left.values
    values[len(left.values) :, left.values.shape[1] :] = right.values
    return Stacks(
        functions=functions,
        frames=np.concatenate([number[left.frames], number[len(left.functions) + right.frames]]),
        offsets=np.concatenate([left.offsets, left.offsets[-1] + right.offsets[1:]]),
        values=values,
    )


def spread(begins: Ints, sizes: Ints) -> Ints:
    """`begins[i], begins[i] + 1, … ` of length `sizes[i]`, for each i, one after another."""
    total = int(sizes.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes
    return np.arange(total, dtype=np.int64) + np.repeat(begins - starts, sizes)


def add_up(places: Ints, values: Ints, size: int) -> Ints:
    """(size, columns): the sum of the rows of `values` for each place; exact in 64 bits."""
    sums = np.zeros((size, values.shape[1]), np.int64)
    for column in range(values.shape[1]):
        rest = values[:, column]
        # bincount adds doubles, which are exact up to 53 bits: it is given parts of 22, for up to two thousand million
        # rows, and needs no sorting. The last part has the sign.
        for part in (0, 1, 2):
            bits = rest >> (_PART * part)
            bits = bits if part == 2 else bits & ((1 << _PART) - 1)
            sums[:, column] += np.bincount(places, weights=bits, minlength=size).astype(np.int64) << (_PART * part)
    return sums


def _by_name(functions: Sequence[Function]) -> tuple[tuple[Function, ...], Ints]:
    """Functions with different names, and the new number of each old one."""
    number: dict[str, int] = {}
    kept: list[Function] = []
    places: list[int] = []
    for function in functions:
        place = number.setdefault(function.name, len(kept))
        if place == len(kept):
            kept.append(function)
        elif function.file and not kept[place].file:
            kept[place] = function
        places.append(place)
    return tuple(kept), np.array(places, np.int64)


_UNLOCKS = ("sync.(*Mutex).Unlock", "sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock", "runtime.unlock")
"""Where Go's mutex profile books a wait: where the lock is given back. Its block profile books it where one waits."""
_BY_DEFAULT = {
    "inuse_space": Kind.HEAP,
    "alloc_space": Kind.ALLOCS,
    "goroutine": Kind.GOROUTINE,
    "cpu": Kind.CPU,
    "threadcreate": Kind.THREADS,
}


def kind_of(profile: Profile) -> Kind:
    """What the profile is of. Go's block and mutex profiles have the same types and are told apart by their leaves."""
    name = profile.types[profile.default].name
    if name == "delay" and profile.types[0].name == "contentions":
        stacks = stacks_of(profile, [profile.default])
        deep = np.flatnonzero(np.diff(stacks.offsets) > 0)
        leaves = stacks.frames[stacks.offsets[deep]]
        unlock = np.array([one.name.startswith(_UNLOCKS) for one in stacks.functions], bool)
        return Kind.MUTEX if len(leaves) and int(unlock[leaves].sum()) * 2 > len(leaves) else Kind.BLOCK
    return _BY_DEFAULT.get(name, Kind.OTHER)


def column_of(profile: Profile, name: str | None) -> int:
    """The column that a name means, as pprof's `-sample_index`: a name, a number, or none for the default.

    Raises:
        ProfilesDifferError: there is none; says which there are.
    """
    if not name:
        return profile.default
    if name.isdecimal() and len(name) < 4 and int(name) < len(profile.types):
        return int(name)
    # Heap profiles of before have the types `space` and `objects`.
    wanted = (name, name.removeprefix("inuse_"))
    for place, one in enumerate(profile.types):
        if one.name in wanted:
            return place
    have = ", ".join(one.name for one in profile.types)
    raise ProfilesDifferError(f"The profile has no sample type {name!r}; it has {have}.")


Order = Literal["flat", "cum"]
Column = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTable:
    """A row for each function.

    Attributes:
        functions: by number, as in the stacks.
        flat: (functions, columns), of samples in which it was the leaf.
        cum: (functions, columns), of samples in which it was at all; once, however often it called itself.
        total: of each column the sum of the values, without their signs, as pprof takes shares of.
    """

    functions: tuple[Function, ...]
    flat: Ints
    cum: Ints
    total: tuple[int, ...]


def table_of(stacks: Stacks) -> FunctionTable:
    size = len(stacks.functions)
    depths = np.diff(stacks.offsets)
    deep = np.flatnonzero(depths > 0)
    flat = add_up(stacks.frames[stacks.offsets[deep]], stacks.values[deep], size)
    # Sorted by hand: numpy's unique goes through a hash table, which takes twenty times as long.
    pairs = np.sort(stacks.sample_of * size + stacks.frames)
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
    cum = add_up(pairs % max(size, 1), stacks.values[pairs // max(size, 1)], size)
    total = tuple(int(one) for one in np.abs(stacks.values).sum(axis=0))
    return FunctionTable(functions=stacks.functions, flat=flat, cum=cum, total=total)


def ordered(table: FunctionTable, flat: Column, cum: Column, order: Order) -> Sequence[int]:
    """Numbers of the functions in pprof's order, by size without sign; those with neither value are left out.

    `flat` and `cum` are one column each: of the table, or made of several.
    """
    some = [int(place) for place in np.flatnonzero((flat != 0) | (cum != 0))]

    first = flat if order == "flat" else cum
    return sorted(some, key=lambda place: (-abs(first[place]), table.functions[place].name))


MOST_NODES = 2_000
"""Most nodes of a tree: more cannot be seen on a screen."""
DEEPEST = 500
"""Deepest level of a tree; deeper calls are added to it."""
OTHER = "(other)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Nodes in columns; node 0 is the root, and a parent stands before its children, the largest child first.

    Attributes:
        functions: by number.
        parent: of each node; -1 of the root.
        function: of each node its place in `functions`; -1 of the root and of "(other)".
        total: (nodes, columns), with all that is below.
        own: (nodes, columns), of the stacks that end there.
        hidden: of each node 0; of "(other)" how many nodes it stands for.
        nodes: how many there were before the small ones were summed up.
        deeper: stacks that went below the last level.
    """

    functions: tuple[Function, ...]
    parent: Ints
    function: Ints
    total: Ints
    own: Ints
    hidden: Ints
    nodes: int
    deeper: int

    def __len__(self) -> int:
        return len(self.parent)


def tree_of(stacks: Stacks, most_nodes: int = MOST_NODES, deepest: int = DEEPEST) -> Tree:
    """The tree of the stacks; of more than `most_nodes` (at least 3) the largest, by the sum of all columns' sizes."""
    # The last column is the size. It never grows from a parent to its child, not even where values are negative.
    sizes = np.abs(stacks.values).sum(axis=1, keepdims=True)
    tree = _whole(replace(stacks, values=np.concatenate([stacks.values, sizes], axis=1)), deepest)
    if len(tree) > most_nodes:
        tree = _trimmed(tree, most_nodes)
    return replace(tree, total=tree.total[:, :-1], own=tree.own[:, :-1])


def _whole(stacks: Stacks, deepest: int) -> Tree:
    """Level by level: the children of a level's nodes are the different pairs of node and next function."""
    size = max(len(stacks.functions), 1)
    depths = np.diff(stacks.offsets)
    node = np.zeros(len(depths), np.int64)
    levels: list[tuple[Ints, Ints]] = [(np.array([-1], np.int64), np.array([-1], np.int64))]
    count = 1
    active = np.flatnonzero(depths > 0)
    while len(active) and len(levels) <= deepest:
        frame = stacks.frames[stacks.offsets[active + 1] - len(levels)]
        pairs, place = np.unique(node[active] * size + frame, return_inverse=True)
        node[active] = count + place
        count += len(pairs)
        active = active[depths[active] > len(levels)]
        levels.append((pairs // size, pairs % size))
    own = add_up(node, stacks.values, count)
    total = own.copy()
    end = count
    for parents, _ in reversed(levels[1:]):
        low, high = int(parents.min()), int(parents.max()) + 1
        total[low:high] += add_up(parents - low, total[end - len(parents) : end], high - low)
        end -= len(parents)
    return _arranged(stacks, levels, total, own, len(active))


def _arranged(stacks: Stacks, levels: Sequence[tuple[Ints, Ints]], total: Ints, own: Ints, deeper: int) -> Tree:
    """Siblings by size, level by level, so that parents stay before their children."""
    count = len(total)
    order, rank = np.arange(count), np.arange(count)
    parent = np.concatenate([parents for parents, _ in levels])
    function = np.concatenate([functions for _, functions in levels])
    begin = 1
    for parents, functions in levels[1:]:
        end = begin + len(parents)
        part = np.arange(begin, end)[np.lexsort((functions, -total[begin:end, -1], rank[parents]))]
        order[begin:end] = part
        rank[part] = np.arange(begin, end)
        begin = end
    return Tree(
        functions=stacks.functions,
        parent=np.concatenate([[-1], rank[parent[order[1:]]]]).astype(np.int64),
        function=function[order],
        total=total[order],
        own=own[order],
        hidden=np.zeros(count, np.int64),
        nodes=count,
        deeper=deeper,
    )


def _trimmed(tree: Tree, most: int) -> Tree:
    """The largest nodes, each with the sum of its small children as one more."""
    # A child is never larger than its parent, and stands behind it: so the first of these hold no orphan.
    by_size = np.argsort(-tree.total[:, -1], kind="stable")
    kept = np.zeros(len(tree), bool)
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        kept[:] = False
        kept[by_size[:middle]] = True
        with_other = np.zeros(len(tree), bool)
        with_other[tree.parent[1:][kept[tree.parent[1:]] & ~kept[1:]]] = True
        others = int(np.count_nonzero(with_other))
        low, high = (middle, high) if middle + others <= most else (low, middle - 1)
    kept[:] = False
    kept[by_size[:low]] = True
    # Of each node that goes, the nearest above that stays: jumps twice as far each time.
    anchor = np.where(kept, np.arange(len(tree)), tree.parent)
    while not kept[anchor].all():
        anchor = anchor[anchor]
    hidden = np.bincount(anchor[~kept], minlength=len(tree))
    stays, above = np.flatnonzero(kept), np.flatnonzero(hidden)
    place = np.cumsum(kept) - 1
    shown = tree.parent[stays[1:]]
    below = add_up(shown, tree.total[stays[1:]], len(tree))
    rest = tree.total[above] - tree.own[above] - below[above]
    none = np.full(len(above), -1, np.int64)
    return replace(
        tree,
        parent=np.concatenate([[-1], place[shown], place[above]]).astype(np.int64),
        function=np.concatenate([tree.function[stays], none]),
        total=np.concatenate([tree.total[stays], rest]),
        own=np.concatenate([tree.own[stays], rest]),
        hidden=np.concatenate([np.zeros(len(stays), np.int64), hidden[above]]).astype(np.int64),
    )


Number = TypeVar("Number", np.int64, np.float64)
NOW, BASE = 0, 1
SMALLEST_SHARE = 0.005
"""Smallest share of its side from which a stack is called new or gone."""
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
    """A profile, or two in one: the values have the column `NOW`, and beside a base `BASE`.

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
        """What pprof takes shares of: in a difference the base, or both where the base is empty."""
        return self.table.total[-1] or self.table.total[NOW]

    @property
    def flat(self) -> Ints:
        """Of each function; beside a base now less base, as pprof's `-diff_base`."""
        return difference(self.table.flat)

    @property
    def cum(self) -> Ints:
        """Of each function with all it calls, likewise."""
        return difference(self.table.cum)

    def per_request(self, values: Ints) -> Floats:
        """(…, sides) for each request.

        Raises:
            ProfilesDifferError: the requests are not known.
        """
        if self.requests is None:
            raise ProfilesDifferError("The requests of both profiles are not known: no value for each request.")
        return values / np.array([self.requests.now, self.requests.base][: values.shape[-1]])


def difference(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Now less base of (…, sides); of one side its values."""
    return np.subtract.reduce(values, axis=1)


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
    profile: Profile, base: Profile | None, sample_type: str | None = None, requests: Requests | None = None
) -> Sides:
    """A profile, or both, by one type of their values.

    Raises:
        ProfilesDifferError: one has no such type, or counts it in another unit; or values for each request are
            wanted of something that does not grow with requests, such as memory in use.
    """
    column = column_of(profile, sample_type)
    kind, stacks, least = profile.types[column], stacks_of(profile, [column]), 0
    if base is not None:
        other = column_of(base, kind.name)
        if base.types[other].unit != kind.unit:
            raise ProfilesDifferError(f"The profiles count {kind.name} in {kind.unit} and in {base.types[other].unit}.")
        stacks = joined(stacks, stacks_of(base, [other]))
        least = LEAST_SAMPLES * max(profile.period, base.period) if kind.name in _SAMPLED else 0
        least = LEAST_SAMPLES if kind.name == "samples" else least
    if requests is not None:
        check_requests(kind, requests)
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
