"""All stacks as one tree, from the root: what a flame graph draws. Bounded, and what was left out is in it as such."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.profiles.folding.stacks import Stacks, add_up
from loadwatch_backend.evidence.profiles.model import Function, Ints

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
    """The table of all functions."""
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
"""More are not seen on a screen: a tenth of a thousandth of its width each."""
DEEPEST = 500
"""Levels; what is called from there belongs to the last one."""
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
