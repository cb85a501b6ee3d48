"""One finding for every resource of a pack: it was full for long enough, and somebody wanted more, or suffered."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from loadwatch_backend.catalogue.signals.model import LEAST_FULL_MS, LEAST_SAMPLES, Resource, Unit, render_legend
from loadwatch_backend.core.texts.numbers import count, figure, share, size
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.demand import broken, of_whole_run
from loadwatch_backend.findings.measures.evidence import show
from loadwatch_backend.findings.measures.facts import Limit, focused, load_effects, program_name, since_start, usual
from loadwatch_backend.findings.measures.log_lines import MESSAGES, TEXTS
from loadwatch_backend.findings.measures.outcomes import Clear, Observation, Outcome, Unjudged, gather
from loadwatch_backend.findings.messages import kind, message
from loadwatch_backend.findings.model import (
    Certainty,
    Detector,
    Evidence,
    Finding,
    Harm,
    Kind,
    Link,
    Look,
    Severity,
    Step,
)
from loadwatch_backend.findings.symptoms import UNKNOWN, find_symptoms
from loadwatch_backend.findings.window import BoolArray, Episode, Use, Window, episodes, least_instants

MOST_HOLDERS = 3
UNANSWERED = 0.85
"""Seconds without an answer, nearly a second of looking, from which a server serves nobody."""
RARELY = 2
"""Samples of a run too short for `LEAST_SAMPLES`, all of them full, make it possible."""
LIMITS_JA = {"cgroup limit": "cgroupの上限", "memory of the host": "ホストのメモリ"}
"""Names of limits that packs share."""
_FORMATS = {Unit.BYTES: size, Unit.BYTES_PER_SECOND: size, Unit.RATIO: share, Unit.COUNT: figure}


def saturation_detectors(window: Window, others: Sequence[Detector]) -> list[Detector]:
    by_id: dict[str, list[Use]] = {}
    for use in window.uses:
        by_id.setdefault(use.resource.finding_id, []).append(use)
    kinds = {use.resource.kind: use.resource.finding_id for use in window.uses}
    return [
        Detector(
            kind=kind_of(uses[0].resource),
            look=partial(_look, id),
            needs=(),
            follows=_follows(uses[0].resource, kinds, others),
            usual=False,
            measures=True,
        )
        for id, uses in by_id.items()
    ]


def kind_of(resource: Resource) -> Kind:
    general = kind("saturation", title=resource.title)
    words = message(f"saturation.why-{resource.kind}")
    explanation = Words(f"{resource.help.en} {words.en}".strip(), f"{resource.help.ja}{words.ja}")
    return Kind(
        id=resource.finding_id,
        severity=Severity.CRITICAL,
        title=general.title,
        explanation=explanation,
        rule=general.rule,
        refuted_by=general.refuted_by,
        resource=resource.id,
    )


def _follows(resource: Resource, kinds: Mapping[str, str], others: Sequence[Detector]) -> Sequence[str]:
    """Ids of findings that may be its cause; a pool may run out for whatever its database runs out of."""
    causes = [
        id
        for one in resource.causes
        for id in ([kinds[one[5:]]] if one.startswith("kind:") and one[5:] in kinds else [one])
    ]
    if resource.kind == "pool":
        causes += [id for name, id in kinds.items() if name != "pool"]
        causes += [one.kind.id for one in others if one.kind.id.startswith("database-")]
    return tuple(dict.fromkeys(one for one in causes if one != resource.finding_id))


def _look(id: str, window: Window) -> Look:
    uses = [one for one in window.uses if one.resource.finding_id == id]
    return gather(outcome for use in uses for outcome in _judge(window, use))


def _judge(window: Window, use: Use) -> Iterator[Outcome]:
    resource = use.resource
    with np.errstate(invalid="ignore"):
        full = use.used >= resource.full * use.limit
    seconds = (resource.for_ms or max(LEAST_FULL_MS, LEAST_SAMPLES * use.interval_ms)) / 1_000
    if resource.silent == "full":
        full |= _silent(use, least_instants(window.grid, use.interval_ms, seconds=seconds, samples=1))
    if use.proven is not None:
        full |= use.proven
    limit = Limit(
        window=window,
        used=use.used,
        full=full,
        limit=use.limit,
        interval_ms=use.interval_ms,
        samples=1,
        seconds=seconds,
        gap=max(2 * use.interval_ms // window.grid.step_ms, 2),
    )
    name, brief = _name(window, use), False
    met = bool(focused(window, full).any())
    if resource.cadence is not None and not met and not np.isfinite(limit.most):
        # Who sent until shortly before sends on: what tells of the run has not come yet.
        yield from _not_come(window, resource, message("saturation.nothing-yet", title=resource.title, name=name))
        return
    if not met and not np.isfinite(limit.most):
        return
    if not met and not np.isfinite(use.limit).any():
        for one in _wanted(window, use, Episode(window.focus.start, window.focus.stop)):
            yield Unjudged(message("saturation.unlimited", title=resource.title, name=name, wanted=one.text))
        return
    episode = limit.episode
    if episode is None:
        episode, brief = _whole(window, use, full, seconds), True
    figures = message(
        "saturation.figures", title=resource.title, name=name, amount=_amount(resource, limit.most, limit.bound)
    )
    if episode is None:
        if bool(focused(window, full).any()) and (window.to_ms - window.from_ms) / 1_000 < seconds:
            yield Unjudged(message("saturation.too-short", figures=figures, seconds=seconds))
        elif resource.cadence is not None and not np.isfinite(window.inside(use.used)[-1]):
            yield from _not_come(window, resource, figures)
        else:
            yield Clear(figures)
        return
    wanted, effects = _wanted(window, use, episode), _effects(window, episode)
    hurts = {"any": bool(wanted or effects), "demand": bool(wanted), "full": True}[resource.harm]
    if not hurts or (resource.limit_is == "advised" and not effects):
        yield Observation(figures)
        return
    known = (one for one in use.also if np.isfinite((one.used * one.limit)[episode.span]).any())
    others = [one for one in known if one.labels != use.labels]
    limits = [_limit_shown(window, one, episode, usual(one.used, episode.span)) for one in (use, *others)]
    limits[1:1] = _holders_shown(window, use, episode)
    yield _finding(window, use, episode, [*limits, *wanted, *effects], brief=brief)


def _not_come(window: Window, resource: Resource, figures: Words) -> Iterator[Outcome]:
    if window.of_run and resource.cadence is not None:
        yield Unjudged(message("saturation.late", figures=figures, source=resource.cadence.source))


def _finding(window: Window, use: Use, episode: Episode, shown: Sequence[Evidence], *, brief: bool) -> Finding:
    resource, name, legend = use.resource, _name(window, use), render_legend(use.resource.legend, use.labels)
    # A rate above 0 is full for as long as it looks back: the last thing that it counted is that much older.
    counts = [one.values for one in use.wanted if one.values is not None and "$window" in resource.used]
    counted = "> 0" in resource.used and any(values[episode.end - 1] > 0 for values in counts)
    behind = max(LEAST_FULL_MS - use.interval_ms, 0) // window.grid.step_ms if counted else 0
    end = max(episode.end - behind, episode.first + 1)
    from_ms, to_ms = window.grid.time_ms(episode.first), window.grid.time_ms(end - 1)
    links = {one.link for one in shown}
    seconds = (end - episode.first) * window.step_seconds
    used, bound = usual(use.used, episode.span), usual(use.limit, episode.span)
    most = float(np.nanmax(use.used[episode.span])) if np.isfinite(use.used[episode.span]).any() else used
    told = sorted((one for one in shown if one.link is not Link.LIMIT), key=lambda one: one.link is not Link.EFFECT)
    consequence = told[0].text if told else SILENT
    lost = next((one.value for one in shown if one.link is Link.DEMAND), most)
    held = resource.silent == "full" and not used >= resource.full * bound
    unknown = not np.isfinite(bound)
    sentence = message(
        "saturation.unknown" if unknown else "saturation.held" if held else "saturation.sentence",
        title=resource.title,
        name=name,
        at=since_start(window, from_ms, "at "),
        amount=_amount(resource, used if resource.kind == "cpu" else most, bound),
        named=_named(use, episode),
        most=message("saturation.at-most") if counted else SILENT,
        seconds=seconds,
        consequence=consequence,
    )
    return Finding(
        kind=kind_of(resource),
        sentence=Words(sentence.en.strip(), sentence.ja),
        from_ms=from_ms,
        to_ms=to_ms,
        labels=use.labels if "instance" in use.labels or not legend else {**use.labels, "instance": legend},
        evidence=shown,
        steps=[Step(text=resource.advice)] if resource.advice else [],
        severity=Severity.CRITICAL if Link.EFFECT in links else Severity.WARNING,
        harm=Harm(lost=lost, seconds=float("nan"), words=SILENT),
        surest=Certainty.POSSIBLE
        if brief or not (Link.DEMAND in links or resource.harm == "full")
        else Certainty.CERTAIN,
    )


def _silent(use: Use, least: int) -> BoolArray:
    """Where whoever asked waited, after a first answer: it serves nobody meanwhile, whatever its thread does.

    `least` instants on end: single late answers are those of a busy machine, on which the agent is late, too.
    """
    known = np.isfinite(use.used)
    waiting = np.zeros_like(known)
    for one in use.wanted:
        if one.values is not None and one.demand.what == "waiting":
            waiting |= np.nan_to_num(one.values) >= UNANSWERED
    waiting &= np.cumsum(known) > 0
    held = np.zeros_like(known)
    for one in episodes(waiting, least=least, gap=0):
        held[one.span] = True
    return held


def _whole(window: Window, use: Use, full: BoolArray, seconds: float) -> Episode | None:
    """The whole focus, where it is too short for an episode and its few samples are full."""
    if (window.to_ms - window.from_ms) / 1_000 >= seconds:
        return None
    known = np.isfinite(window.inside(use.used))
    inside = full[window.focus]
    if int(inside.sum()) < RARELY or not bool(inside[known].all()):
        return None
    return Episode(window.focus.start, window.focus.stop)


def _wanted(window: Window, use: Use, episode: Episode) -> list[Evidence]:
    """What shows that more was wanted than there was; of several that are alike the largest."""
    found: dict[tuple[str, Unit], Evidence] = {}
    span = slice(max(episode.first - 1, 0), min(episode.end + 1, window.grid.count))
    for one in use.wanted:
        demand = one.demand
        values = _logged(window, one.search) if one.values is None and one.search is not None else one.values
        if values is None:
            continue
        part = values[span]
        most = float(np.nanmax(part)) if np.isfinite(part).any() else 0.0
        total = window.total(values, span)
        least = demand.total or (1.0 if demand.log else 0.0)
        seconds = "-seconds" if demand.unit is Unit.SECONDS else ""
        if most <= 0 or most < demand.at_least or total < least:
            continue
        shown = show(
            window.during(Episode(span.start, span.stop)),
            message(f"saturation.{demand.what}{seconds}", most=most, total=total, name=_name(window, use)),
            link=Link.DEMAND,
            expression=_expression(demand.alternatives, use) if demand.alternatives else MESSAGES,
            unit=demand.unit or (Unit.COUNT if demand.what in ("waiting", "queue") else Unit.PER_SECOND),
            values=values,
        )
        known = found.get((demand.what, shown.unit))
        if known is None or known.value < shown.value:
            found[demand.what, shown.unit] = shown
    return list(found.values())


def _effects(window: Window, episode: Episode) -> list[Evidence]:
    """What the load felt; of a tool that tells nothing of single seconds, of its whole run."""
    felt = load_effects(window, episode) or broken(window, episode)
    if felt or window.load is not None:
        return felt
    return of_whole_run(window, episode, [one for one in find_symptoms(window) if one != UNKNOWN])


def _logged(window: Window, search: Callable[[str], object]) -> FloatArray | None:
    """[instant]: lines per second in which it finds something, by all logs; None where no log is read."""
    wanted = {
        (one.get("job"), one.get("instance"), one.get("pattern_id"))
        for one in window[TEXTS].labels
        if search(one.get("pattern", "")) is not None
    }
    lines = window[MESSAGES]
    rows = [
        row
        for row, one in enumerate(lines.labels)
        if (one.get("job"), one.get("instance"), one.get("pattern_id")) in wanted
    ]
    return lines.take(rows).rate if rows else None


def _limit_shown(window: Window, use: Use, episode: Episode, used: float) -> Evidence:
    resource, bound = use.resource, usual(use.limit, episode.span)
    if not np.isfinite(bound):
        return _refusal_shown(window, use, episode)
    amount, named = _amount(resource, used, bound), _named(use, episode)
    return show(
        window,
        message("saturation.limit", amount=amount, name=_name(window, use), named=named),
        link=Link.LIMIT,
        expression=_expression(resource.use, use),
        unit=resource.unit,
        values=use.used,
        value=used,
        at=episode.first,
        limit=bound,
    )


def _refusal_shown(window: Window, use: Use, episode: Episode) -> Evidence:
    demand, values = next((one.demand, one.values) for one in use.wanted if one.demand.full and one.values is not None)
    at, until = (since_start(window, window.grid.time_ms(place)) for place in (episode.first, episode.end - 1))
    total = window.total(values, episode.span)
    return show(
        window,
        message("saturation.refusal", name=_name(window, use), total=total, at=at, until=until),
        link=Link.LIMIT,
        expression=_expression(demand.alternatives, use),
        unit=Unit.PER_SECOND,
        values=values,
    )


def _holders_shown(window: Window, use: Use, episode: Episode) -> list[Evidence]:
    for holder in use.resource.holders:
        found = {name: usual(values, episode.span) for name, values in use.held.get(holder.label, {}).items() if name}
        largest = sorted(((value, name) for name, value in found.items() if value > 0), reverse=True)[:MOST_HOLDERS]
        if largest:
            written = ", ".join(f"{name} {_FORMATS.get(holder.unit, figure)(value)}" for value, name in largest)
            return [
                show(
                    window,
                    message("saturation.holders", written=written),
                    link=Link.LIMIT,
                    expression=_expression(holder.alternatives, use),
                    unit=holder.unit,
                    values=use.held[holder.label][largest[0][1]],
                    value=largest[0][0],
                    at=episode.first,
                )
            ]
    return []


def _expression(alternatives: Sequence[str] | None, use: Use) -> str:
    return (alternatives or ("",))[0].replace("$window", f"{max(use.interval_ms, LEAST_FULL_MS) // 1_000}s")


def _name(window: Window, use: Use) -> str:
    name = render_legend(use.resource.legend, use.labels) or program_name(window, use.labels)
    more = next((one for one in use.names if one not in name), "")
    return f"{name} ({more})" if more else name


def _named(use: Use, episode: Episode) -> Words:
    name = use.limit_name(episode.span)
    return message("saturation.limit-named", limit=Words(name, LIMITS_JA.get(name, name))) if name else SILENT


def _amount(resource: Resource, used: float, limit: float) -> Words:
    """27 of 27 connections, 98 %, 3.9 GiB of 4 GiB."""
    if resource.unit is Unit.RATIO and limit == 1:
        return Words(share(used), share(used))
    write = count if resource.unit is Unit.COUNT and resource.kind != "cpu" else _FORMATS.get(resource.unit, figure)
    noun = resource.noun
    en = f" {noun.en[0] if limit == 1 else noun.en[1]}" if noun else ""
    rate = "/s" if resource.unit in (Unit.BYTES_PER_SECOND, Unit.PER_SECOND) else ""
    return Words(f"{write(used)}{rate} of {write(limit)}{rate}{en}", f"{write(limit)}{rate}中{write(used)}{rate}")
