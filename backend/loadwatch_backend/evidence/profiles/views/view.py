"""One view of profiles, made of what is folded. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.profiles.folding.difference import (
    BASE,
    NOW,
    Floats,
    StackChanges,
    gone_stacks,
    new_stacks,
    side_by_side,
)
from loadwatch_backend.evidence.profiles.folding.known import Callers
from loadwatch_backend.evidence.profiles.folding.stacks import column_of, label_keys, stacks_of, sums_by_label
from loadwatch_backend.evidence.profiles.folding.tree import OTHER, FunctionTable, Tree, table_of, tree_of
from loadwatch_backend.evidence.profiles.model import Profile, SampleType
from loadwatch_backend.evidence.profiles.reading.limits import check_cpu
from loadwatch_backend.evidence.profiles.views.schemas import (
    LabelValue,
    ProfileFunction,
    ProfileLabel,
    ProfileStack,
    ProfileStacks,
    ProfileTree,
    ProfileView,
    SampleTypeOut,
)
from loadwatch_backend.evidence.request_counts import Normalised, RequestsBy, weakest_of

MOST_FUNCTIONS = 300
MOST_LABELS, MOST_LABEL_VALUES = 3, 20

Words = Callable[[str, Callable[[], str | None]], str | None]
"""What a known function means, with what finds the application's own above it; None for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Profiles of one kind as one, and what they are of.

    `requests` are those that were answered meanwhile, by as much of the system as the profile is of; `seconds` is how
    long it was taken. None where that is not known.
    """

    profile: Profile
    requests: float | None
    requests_by: RequestsBy | None = None
    seconds: float | None


def make_view(now: Side, base: Side | None, sample_type: str | None, kind: str, words: Words) -> ProfileView:
    """The document; `kind` is what the profiles are of.

    Raises:
        ProfilesDifferError: there is no such type of values, or the sides have none in common.
    """
    profile = now.profile
    least = 0
    check_cpu()
    if base is None:
        type_ = profile.types[column_of(profile, sample_type)]
        stacks = stacks_of(profile, [column_of(profile, sample_type)])
        table, divisors, normalised = table_of(stacks), np.ones(1), Normalised.NONE
    else:
        sides = side_by_side(profile, base.profile, sample_type)
        type_, stacks, table, least = sides.type, sides.stacks, sides.table, sides.least
        normalised, divisors = divide(type_, now, base)
    check_cpu()
    tree = tree_of(stacks)
    check_cpu()
    whole = tree_of(stacks, most_nodes=len(stacks.frames) + 3) if base is not None else None
    rows, callers = _chosen(table, divisors), Callers(stacks)
    return ProfileView(
        kind=kind,
        type=_type_out(type_),
        types=[_type_out(one) for one in profile.types],
        total=table.total[NOW] / float(divisors[NOW]),
        base_total=None if base is None else table.total[BASE] / float(divisors[BASE]),
        normalised=normalised,
        requests=now.requests,
        base_requests=None if base is None else base.requests,
        requests_by=weakest_of([one.requests_by for one in (now, base) if one is not None]),
        functions=[_function_out(table, place, divisors, words, callers) for place in rows],
        function_count=int(np.count_nonzero(table.cum.any(axis=1))),
        tree=_tree_out(tree, divisors),
        new=None if whole is None else _stacks_out(new_stacks(whole, least), float(divisors[NOW])),
        gone=None if whole is None else _stacks_out(gone_stacks(whole, least), float(divisors[-1])),
        labels=_labels_out(profile, column_of(profile, type_.name), float(divisors[NOW])),
        notes=_notes(tree, [profile] if base is None else [profile, base.profile]),
    )


def divide(kind: SampleType, now: Side, base: Side) -> tuple[Normalised, Floats]:
    """By what both sides are divided, so that a longer profile or a higher rate is not taken for a change.

    Requests, where both sides know theirs; else seconds. A level belongs to neither.
    """
    if not kind.accumulates:
        return Normalised.NONE, np.ones(2)
    if now.requests and base.requests:
        return Normalised.REQUEST, np.array([now.requests, base.requests])
    if now.seconds and base.seconds:
        return Normalised.SECOND, np.array([now.seconds, base.seconds])
    return Normalised.NONE, np.ones(2)


def _chosen(table: FunctionTable, divisors: Floats) -> Sequence[int]:
    """The functions that lead by any column, or by the change of one; the largest of their own first."""
    flat, cum = table.flat / divisors, table.cum / divisors
    orders = [np.abs(flat).max(axis=1), np.abs(cum).max(axis=1)]
    if flat.shape[1] > 1:
        orders += [np.abs(flat[:, NOW] - flat[:, BASE]), np.abs(cum[:, NOW] - cum[:, BASE])]
    each = MOST_FUNCTIONS // len(orders)
    chosen = {int(place) for order in orders for place in np.argsort(-order, kind="stable")[:each] if order[place] > 0}
    return sorted(chosen, key=lambda place: (-abs(flat[place, NOW]), -abs(cum[place, NOW]), place))


def _function_out(
    table: FunctionTable, place: int, divisors: Floats, words: Words, callers: Callers
) -> ProfileFunction:
    function = table.functions[place]
    flat, cum = table.flat[place] / divisors, table.cum[place] / divisors
    two = len(divisors) > 1
    return ProfileFunction(
        name=function.name,
        file=function.file,
        flat=float(flat[NOW]),
        cum=float(cum[NOW]),
        base_flat=float(flat[BASE]) if two else None,
        base_cum=float(cum[BASE]) if two else None,
        words=words(function.name, lambda: callers.of(place)),
    )


def _tree_out(tree: Tree, divisors: Floats) -> ProfileTree:
    total, own = tree.total / divisors, tree.own / divisors
    used = sorted({int(one) for one in tree.function if one >= 0})
    # The root's name is the page's own word; "(other)" stands behind it.
    place = {function: number + 2 for number, function in enumerate(used)}
    func = [0 if node == 0 else place.get(int(one), 1) for node, one in enumerate(tree.function)]
    two = len(divisors) > 1
    return ProfileTree(
        names=["", OTHER, *(tree.functions[one].name for one in used)],
        func=func,
        parent=tree.parent.tolist(),
        value=total[:, NOW].tolist(),
        own=own[:, NOW].tolist(),
        base=total[:, BASE].tolist() if two else None,
        base_own=own[:, BASE].tolist() if two else None,
        hidden={str(node): int(tree.hidden[node]) for node in np.flatnonzero(tree.hidden)},
    )


def _stacks_out(changes: StackChanges, divisor: float) -> ProfileStacks:
    return ProfileStacks(
        stacks=[ProfileStack(functions=list(one.functions), value=one.value / divisor) for one in changes.stacks],
        count=changes.count,
        smaller=changes.smaller,
    )


def _labels_out(profile: Profile, column: int, divisor: float) -> list[ProfileLabel]:
    found: list[ProfileLabel] = []
    for key in label_keys(profile)[:MOST_LABELS]:
        sums = sums_by_label(profile, key, column)
        values = [LabelValue(text=text, value=value / divisor) for text, value in sums.by_value.items()]
        rest = sum(one.value for one in values[MOST_LABEL_VALUES:])
        shown = [*values[:MOST_LABEL_VALUES], *([LabelValue(text=OTHER, value=rest)] if rest else [])]
        found.append(ProfileLabel(key=key, values=shown, without=sums.without / divisor))
    return found


def _notes(tree: Tree, profiles: Sequence[Profile]) -> list[str]:
    notes = list(dict.fromkeys(note for one in profiles for note in one.notes))
    if tree.deeper:
        notes.append(f"{tree.deeper:,} stacks are deeper than what is shown; they end at the last level.")
    return notes


def _type_out(kind: SampleType) -> SampleTypeOut:
    return SampleTypeOut(name=kind.name, unit=kind.unit)
