"""A profile, or two, as a table of functions with words: what the command line prints and a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.evidence.profiles.known import Callers, known_frame
from loadwatch_backend.evidence.profiles.model import Kind, Profile, SampleType
from loadwatch_backend.evidence.profiles.tree import (
    BASE,
    NOW,
    Order,
    Requests,
    Sides,
    StackChanges,
    difference,
    gone_stacks,
    kind_of,
    new_stacks,
    ordered,
    side_by_side,
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
    kind, other = kind_of(profile), requests if base is None else base_requests
    both = None if requests is None or other is None else Requests(now=requests, base=other)
    sides = side_by_side(profile, base, sample_type, both)
    tree = None if base is None else tree_of(sides.stacks, most_nodes=_ALL_NODES)
    return ProfileDigest(
        kind=kind,
        type=sides.type,
        total=sides.table.total[NOW],
        base_total=None if base is None else sides.table.total[BASE],
        share_of=sides.total,
        rows=_rows(sides, kind, order),
        new=None if tree is None else new_stacks(tree, sides.least),
        gone=None if tree is None else gone_stacks(tree, sides.least),
        notes=tuple(profile.notes if base is None else dict.fromkeys((*profile.notes, *base.notes))),
    )


def _rows(sides: Sides, kind: Kind, order: Order) -> Sequence[FunctionRow]:
    table, callers, rows = sides.table, Callers(sides.stacks), list[FunctionRow]()
    flat, cum, each = sides.flat, sides.cum, None
    compared = table.flat.shape[1] > 1
    if sides.requests is not None:
        each = difference(sides.per_request(table.flat)), difference(sides.per_request(table.cum))
    # What is the same in sum may differ for a request.
    for rank, place in enumerate(ordered(table, *(each or (flat, cum)), order)):
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
                flat_per_request=None if each is None else float(each[0][place]),
                cum_per_request=None if each is None else float(each[1][place]),
                own=bool(callers.own[place]),
                meaning=meaning,
                caller=callers.of(place) if meaning is not None and rank < EXPLAINED else None,
            )
        )
    return rows
