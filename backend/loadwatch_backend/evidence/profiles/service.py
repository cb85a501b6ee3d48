"""The profiles of a run, and views of them: read anew from the files that are kept, the latest views remembered."""

import io
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from loadwatch_formats.profile_kinds import PROFILE_KINDS
from pydantic import Field

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceKind
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence
from loadwatch_backend.evidence.profiles.known import Callers, known_frame
from loadwatch_backend.evidence.profiles.merging import merge
from loadwatch_backend.evidence.profiles.model import Kind, Profile, SampleType, UnknownProfileError
from loadwatch_backend.evidence.profiles.reading.limits import check_cpu, cpu_limit
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import (
    BASE,
    NOW,
    OTHER,
    Floats,
    FunctionTable,
    StackChanges,
    Tree,
    column_of,
    gone_stacks,
    kind_of,
    label_keys,
    new_stacks,
    side_by_side,
    sums_by_label,
    tree_of,
)
from loadwatch_backend.evidence.routes import RouteTables
from loadwatch_backend.evidence.runs import Normalised, RequestCount, RequestsBy, Runs, requests_between, weakest_of


class ProfileOut(Schema):
    """A profile that is kept with a run: an evidence file, and what it is of."""

    id: str
    name: str
    kind: str = Field(description="cpu, mutex, block, heap, goroutine, allocs, or what its content was recognised as.")
    job: str = Field(description="Empty for a file that somebody brought.")
    instance: str
    at_ms: Milliseconds
    seconds: float | None = Field(description="How long it was taken; None where nothing tells.")
    cause: str = Field(description="run, alert, hand or upload.")
    asked_by: str
    bytes: Count
    requests: float | None = Field(description="Of the whole run, in those seconds.")
    requests_by: RequestsBy | None = Field(description="Who counted them.")


class ProfileRun(Schema):
    """A run with its profiles."""

    run: str
    name: str
    profiles: list[ProfileOut]


class ProfileBase(Schema):
    """A run that profiles can be held against."""

    run: str
    name: str
    started_ms: Milliseconds


class ProfileList(Schema):
    """Profiles of a run, and those of the run that it is held against."""

    profiles: list[ProfileOut]
    base: ProfileRun | None
    baseline: str | None = Field(description="The run that it is held against where nobody says which.")
    bases: list[ProfileBase] = Field(description="Other runs of the scenario that keep profiles, the newest first.")


class SampleTypeOut(Schema):
    """What a value counts, in the words of the profile."""

    name: str
    unit: str


class ProfileFunction(Schema):
    """A function: what it took itself (flat), and with all it called (cum)."""

    name: str
    file: str
    flat: float
    cum: float
    base_flat: float | None
    base_cum: float | None
    words: str | None = Field(description="What a known function means, in the language asked for.")


class ProfileTree(Schema):
    """All stacks as one tree, in columns: a parent stands before its children, the first node is the root."""

    names: list[str]
    func: list[int] = Field(description="Of each node the place of its name.")
    parent: list[int]
    value: list[float]
    own: list[float] = Field(description="Of the stacks that end at the node.")
    base: list[float] | None
    base_own: list[float] | None
    hidden: dict[str, int] = Field(description='Of nodes named "(other)", how many each stands for.')


class ProfileStack(Schema):
    """A stack that one side has and the other has not; the leaf first."""

    functions: list[str]
    value: float


class ProfileStacks(Schema):
    """Stacks of one side only, the largest first; `smaller` ones may be missing on the other by chance."""

    stacks: list[ProfileStack]
    count: Count
    smaller: Count


class LabelValue(Schema):
    """What fell on one value of a label."""

    text: str
    value: float


class ProfileLabel(Schema):
    """A profile by the values of a label that the application set, such as its route."""

    key: str
    values: list[LabelValue]
    without: float


class ProfileView(Schema):
    """One or several profiles of a kind together, alone or held against others."""

    kind: str = Field(description="As of a profile in the list.")
    type: SampleTypeOut
    types: list[SampleTypeOut]
    total: float = Field(description="Of all stacks, without their signs, as pprof takes shares of.")
    base_total: float | None
    normalised: Normalised
    requests: float | None
    base_requests: float | None
    requests_by: RequestsBy | None = Field(description="Who counted them: `routes` where it was so on either side.")
    functions: list[ProfileFunction]
    function_count: Count
    tree: ProfileTree
    new: ProfileStacks | None
    gone: ProfileStacks | None
    labels: list[ProfileLabel]
    notes: list[str] = Field(description="What was cut or left out while it was read.")


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
    check_cpu()
    sides = side_by_side(profile, None if base is None else base.profile, sample_type)
    type_, stacks, table, least = sides.type, sides.stacks, sides.table, sides.least
    normalised, divisors = (Normalised.NONE, np.ones(1)) if base is None else divide(type_, now, base)
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


def known_words(kind: str, language: Language) -> Callable[[str, Callable[[], str | None]], str | None]:
    """What a function means in a profile of a kind, and below whom it lies; None where there is nothing to say.

    The second argument finds the application's own function that it lies below, and is only asked where it is said.
    """
    texts = Texts("profiles", language)
    meant = Kind(kind) if kind in {str(one) for one in Kind} else Kind.OTHER

    def words(name: str, find_caller: Callable[[], str | None]) -> str | None:
        key = known_frame(name, meant)
        if key is None:
            return None
        meaning, caller = texts(f"frame.{key}"), find_caller()
        return texts("below", meaning=meaning, function=caller) if caller else meaning

    return words


_TYPES = {"allocs": "alloc_space"}
"""Default sample types by kind: Go's delta of `allocs` no longer says that it counts allocations."""
REMEMBERED = 16
"""Number of views kept in memory; each takes some hundred kilobytes."""
UPLOAD = "upload"


_Counts = tuple[tuple[float | None, RequestsBy | None], ...]
Requests = Callable[[int, int], RequestCount | None]
"""The requests from one time to another, in ms; None where nothing tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewAsk:
    files: tuple[str, ...]
    base: tuple[str, ...]
    sample_type: str | None
    language: Language


class Profiles:
    """Safe to use from any thread; one view is made at a time, since a large profile takes memory."""

    def __init__(self, files: EvidenceFiles, runs: Runs, routes: RouteTables) -> None:
        self._files = files
        self._runs = runs
        self._routes = routes
        self._making = threading.Lock()
        self._views: OrderedDict[tuple[ViewAsk, _Counts], ProfileView] = OrderedDict()

    def list(self, run_id: str, base: str | None) -> ProfileList:
        """Profiles of a run and of its baseline, or of the run `base`.

        Raises:
            RunNotFoundError: there is no such run.
        """
        baseline, others = self._runs.reference(run_id), self._runs.others(run_id)
        keepers = self._files.keepers([one.id for one in others], EvidenceKind.PROFILE)
        against = base or baseline
        return ProfileList(
            profiles=self.of_run(run_id),
            base=None
            if against is None
            else ProfileRun(run=against, name=self._runs.name(against), profiles=self.of_run(against)),
            baseline=baseline,
            bases=[
                ProfileBase(run=one.id, name=one.name, started_ms=one.started_ms) for one in others if one.id in keepers
            ],
        )

    def of_run(self, run_id: str) -> "list[ProfileOut]":
        """Profiles of a run, the oldest first."""
        files = self._files.list(run_id, EvidenceKind.PROFILE)
        if not files:
            return []
        requests = self._counter(run_id)
        return [_out(file, requests) for file in files]

    def _counter(self, run_id: str) -> Requests:
        """Counts the run's own requests, else those by route; seconds covered in part count in proportion."""
        seconds = self._runs.raw_seconds(run_id)
        by_route = cache(lambda: self._routes.counter(self._runs.window(run_id)))

        def count(from_ms: int, to_ms: int) -> RequestCount | None:
            sent = None if seconds is None else requests_between(seconds, from_ms, to_ms)
            if sent is not None:
                return RequestCount(sent, RequestsBy.LOAD_TOOL)
            counted = by_route()(from_ms, to_ms)
            return None if counted is None else RequestCount(counted, RequestsBy.ROUTES)

        return count

    def view(self, ask: ViewAsk) -> ProfileView:
        """Functions, tree and differences.

        Raises:
            EvidenceNotFoundError: a file is gone.
            UnknownProfileError, UnreadableProfileError: one cannot be read.
            ProfileLimitError: one cannot be read, or all together take too long.
            ProfilesDifferError: they do not measure the same.
        """
        with self._making, cpu_limit():
            # A file may have been deleted since: what is gone is not shown from memory.
            opened = {file: self._opened(file) for file in (*ask.files, *ask.base)}
            outs = self._outs(list(opened.values()))
            # The load tool's count may come later than that of an access log.
            key = (ask, tuple((outs[file].requests, outs[file].requests_by) for file in opened))
            held = self._views.get(key)
            if held is None:
                now = _side([opened[file] for file in ask.files], outs)
                base = _side([opened[file] for file in ask.base], outs) if ask.base else None
                kind = _kind([opened[file] for file in ask.files], now)
                meant = ask.sample_type or _TYPES.get(kind)
                held = make_view(now, base, meant, kind, known_words(kind, ask.language))
                if all(one.requests is not None or base is None for one in (now, base) if one is not None):
                    self._views[key] = held
            else:
                self._views.move_to_end(key)
            while len(self._views) > REMEMBERED:
                self._views.popitem(last=False)
            return held

    def bring(self, run_id: str, name: str, content: bytes) -> ProfileOut:
        """Keep a profile that somebody brings: pprof or collapsed stacks.

        Raises:
            RunNotFoundError: there is no such run.
            UnknownProfileError, UnreadableProfileError, ProfileLimitError: it cannot be read.
            EvidenceLimitError, DiskFullError.
        """
        requests = self._counter(run_id)
        with self._making, cpu_limit():
            profile = read_profile(content)
            facts = {
                "kind": str(kind_of(profile)),
                "seconds": round(profile.duration_ns / 1e9, 3) or None,
                "format": profile.format,
                "cause": UPLOAD,
            }
        at_ms = profile.started_ns // 1_000_000 or None
        kept = self._files.put(run_id, EvidenceKind.PROFILE, name, io.BytesIO(content), facts, at_ms=at_ms)
        return _out(kept, requests)

    def _opened(self, file_id: str) -> StoredEvidence:
        opened = self._files.open(file_id)
        if opened.file.kind is not EvidenceKind.PROFILE:
            raise UnknownProfileError(f"{opened.file.name!r} was not kept as a profile, but as {opened.file.kind}.")
        return opened

    def _outs(self, opened: Sequence[StoredEvidence]) -> "dict[str, ProfileOut]":
        counters = {run: self._counter(run) for run in {one.file.run for one in opened}}
        return {one.file.id: _out(one.file, counters[one.file.run]) for one in opened}


def _side(opened: Sequence[StoredEvidence], outs: Mapping[str, ProfileOut]) -> Side:
    """Profiles of several processes as one.

    Each process does its part of the run's requests, so what all have taken together is divided by the requests of
    the time in which one of them was profiled.
    """
    seconds: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    requests: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for one in opened:
        out = outs[one.file.id]
        seconds[out.job, out.instance].append(out.seconds)
        requests[out.job, out.instance].append(out.requests)
    return Side(
        profile=merge([read_profile(one.path.read_bytes()) for one in opened]),
        requests=_mean_of_sums(requests),
        requests_by=weakest_of([outs[one.file.id].requests_by for one in opened]),
        seconds=_mean_of_sums(seconds),
    )


def _out(file: EvidenceFile, counted: Requests) -> ProfileOut:
    facts = file.facts
    kind = _text(facts, "kind") or "other"
    given = facts.get("seconds")
    # What is of one moment was not taken for a time, whatever was ordered.
    lasts = kind not in PROFILE_KINDS or PROFILE_KINDS[kind].lasts
    seconds = float(given) if isinstance(given, int | float) and given > 0 and lasts else None
    requests = None if seconds is None else counted(file.at_ms, file.at_ms + round(seconds * 1_000))
    return ProfileOut(
        id=file.id,
        name=file.name,
        kind=kind,
        job=_text(facts, "job"),
        instance=_text(facts, "instance"),
        at_ms=file.at_ms,
        seconds=seconds,
        cause=_text(facts, "cause") or UPLOAD,
        asked_by=_text(facts, "asked_by") or file.author,
        bytes=file.bytes,
        requests=None if requests is None else requests.requests,
        requests_by=None if requests is None else requests.by,
    )


def _kind(opened: Sequence[StoredEvidence], side: Side) -> str:
    """What the files were kept as, where that is one kind; else what their content says."""
    told = {_text(one.file.facts, "kind") for one in opened}
    return told.pop() if len(told) == 1 and told <= PROFILE_KINDS.keys() else str(kind_of(side.profile))


def _mean_of_sums(of: Mapping[tuple[str, str], Sequence[float | None]]) -> float | None:
    """The mean over processes of each one's sum; None unless all are known and above zero."""
    sums: list[float] = []
    for values in of.values():
        known = [value for value in values if value is not None]
        if len(known) < len(values) or not sum(known) > 0:
            return None
        sums.append(sum(known))
    return fmean(sums)


def _text(facts: Mapping[str, Any], name: str) -> str:
    """A text of the facts; whoever put the file there may have said anything."""
    value = facts.get(name)
    return value[:200] if isinstance(value, str) else ""
