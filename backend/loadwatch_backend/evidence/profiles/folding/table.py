"""Functions with what they cost themselves (flat) and with all they called (cum), as `go tool pprof -top` says them."""

from collections.abc import Sequence
from dataclasses import dataclass
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
