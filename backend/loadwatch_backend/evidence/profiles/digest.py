"""A profile, or two, as a table of functions with words: what the command line prints and a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.profiles.known import Callers, known_frame
from loadwatch_backend.evidence.profiles.model import Ints, Kind, Profile, SampleType
from loadwatch_backend.evidence.profiles.tree import (
    BASE,
    NOW,
    Floats,
    FunctionTable,
    Order,
    Requests,
    StackChanges,
    Stacks,
    check_requests,
    column_of,
    gone_stacks,
    kind_of,
    new_stacks,
    ordered,
    side_by_side,
    stacks_of,
    table_of,
    tree_of,
)

EXPLAINED = 200
"""Rows from the top for which callers are looked up: each takes a pass through all frames."""
_ALL_NODES = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """One function.

    Attributes:
        flat: what it cost itself; beside a base the difference.
        cum: with all that it called; beside a base the difference.
        base_flat: of the base alone; None without one.
        base_cum: the same with all that it called.
        flat_per_request: `flat` for each request, each side by its own requests; None where they are not known.
        cum_per_request: the same of `cum`.
        own: whether it is the application's own.
        meaning: key of its words (`frame.<key>` in texts.profiles); None where there is nothing to say.
        caller: of a function with a meaning, the application's own function that it lies below for most of its value;
            None where it is several.
    """

    name: str
    file: str
    flat: int
    cum: int
    base_flat: int | None = None
    base_cum: int | None = None
    flat_per_request: float | None = None
    cum_per_request: float | None = None
    own: bool = False
    meaning: str | None = None
    caller: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDigest:
    """The table.

    Attributes:
        total: of the profile, the sum of all values without their signs.
        base_total: of the base.
        share_of: what pprof takes shares of: the total, in a difference the base's.
        rows: in pprof's order; functions with neither flat nor cum are left out.
        new: stacks that the base has not; None without a base.
        gone: stacks that only the base has.
        notes: what was cut, left out or added up, in words.
    """

    kind: Kind
    type: SampleType
    total: int
    base_total: int | None
    share_of: int
    rows: Sequence[FunctionRow]
    new: StackChanges | None = None
    gone: StackChanges | None = None
    notes: Sequence[str] = ()


def digest_of(
    profile: Profile,
    base: Profile | None = None,
    *,
    sample_type: str | None = None,
    order: Order = "flat",
    requests: float | None = None,
    base_requests: float | None = None,
) -> ProfileDigest:
    """The table of a profile, or of what it has beyond a base.

    With the requests that were answered meanwhile (of both, where there is a base) each row has its value for a
    request, and those decide the order.

    Raises:
        ProfilesDifferError: the profiles measure different things, or values for each request mean nothing of them.
    """
    kind = kind_of(profile)
    if base is None:
        column = column_of(profile, sample_type)
        one = profile.types[column]
        if requests is not None:
            check_requests(one, Requests(now=requests, base=requests))
        stacks = stacks_of(profile, [column])
        table = table_of(stacks)
        rows = _rows(stacks, table, kind, order, (requests,) if requests is not None else None)
        total = table.total[NOW]
        return ProfileDigest(
            kind=kind, type=one, total=total, base_total=None, share_of=total, rows=rows, notes=tuple(profile.notes)
        )
    both = Requests(now=requests, base=base_requests) if requests is not None and base_requests is not None else None
    sides = side_by_side(profile, base, sample_type, both)
    tree = tree_of(sides.stacks, most_nodes=_ALL_NODES)
    return ProfileDigest(
        kind=kind,
        type=sides.type,
        total=sides.table.total[NOW],
        base_total=sides.table.total[BASE],
        share_of=sides.total,
        rows=_rows(sides.stacks, sides.table, kind, order, (both.now, both.base) if both else None),
        new=new_stacks(tree, sides.least),
        gone=gone_stacks(tree, sides.least),
        notes=tuple(dict.fromkeys((*profile.notes, *base.notes))),
    )


def _rows(
    stacks: Stacks, table: FunctionTable, kind: Kind, order: Order, requests: Sequence[float] | None
) -> Sequence[FunctionRow]:
    flat, cum = _difference(table.flat), _difference(table.cum)
    compared = table.flat.shape[1] > 1
    callers = Callers(stacks)
    flat_each = _each(table.flat, requests) if requests else None
    cum_each = _each(table.cum, requests) if requests else None
    if flat_each is None or cum_each is None:
        places = ordered(table, flat, cum, order)
    else:
        # What is the same in sum may differ for a request.
        places = ordered(table, flat_each, cum_each, order)
    rows: list[FunctionRow] = []
    for rank, place in enumerate(places):
        function = table.functions[place]
        meaning = known_frame(function.name, kind)
        rows.append(
            FunctionRow(
                name=function.name,
                file=function.file,
                flat=int(flat[place]),
                cum=int(cum[place]),
                base_flat=int(table.flat[place, BASE]) if compared else None,
                base_cum=int(table.cum[place, BASE]) if compared else None,
                flat_per_request=None if flat_each is None else float(flat_each[place]),
                cum_per_request=None if cum_each is None else float(cum_each[place]),
                own=bool(callers.own[place]),
                meaning=meaning,
                caller=callers.of(place) if meaning is not None and rank < EXPLAINED else None,
            )
        )
    return rows


def _difference(values: Ints) -> Ints:
    return values[:, NOW] - values[:, BASE] if values.shape[1] > 1 else values[:, NOW]


def _each(values: Ints, requests: Sequence[float]) -> Floats:
    """For each request, each side by its own; beside a base the difference."""
    each = values / np.array(requests, np.float64)
    return each[:, NOW] - each[:, BASE] if values.shape[1] > 1 else each[:, NOW]
