"""One finding for each kind and fleet: what detectors say of each instance of a job, put together. Pure.

A fleet is the instances of a job that are no hosts and no databases: those of one job hold other data each. What is put
together has the labels that all of them share, so that it is the same finding whichever of them is worst.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.numbers import duration, duration_ja
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.detectors.instances import sick as sick_instance
from loadwatch_backend.findings.measures.hosts import CPU
from loadwatch_backend.findings.measures.peers import FAR, instances_of
from loadwatch_backend.findings.measures.process_ends import DATABASE
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding, Link, Severity
from loadwatch_backend.findings.window import Window

APART_MS = 60_000
"""What begins so long after the others had ended is another matter."""
APART = ("database", "cache")
"""Kinds of entities whose instances do not form a fleet."""
Causes = Mapping[str, Sequence[str]]


def merge_fleets(window: Window, findings: Sequence[Finding], because_of: Causes) -> tuple[list[Finding], Causes]:
    """Findings with those of a fleet put together, and their causes: those of the worst instance.

    An instance that differs from the others in a finding and is sick as well: its sickness is the cause, unless its
    limit is lower than theirs.
    """
    merged: list[Finding] = []
    renamed: dict[str, str] = {}
    causes: dict[str, Sequence[str]] = {}
    differing: list[tuple[Finding, bool]] = []
    for members in _groups(window, findings):
        worst, *others = members
        one = worst
        if others:
            differs = _differs(worst, others)
            one = _together(window, members, differs=differs)
            if differs:
                differing.append((one, _limit(worst) < median(_limit(other) for other in others)))
        merged.append(one)
        renamed |= {member.key: one.key for member in members}
        causes[one.key] = because_of.get(worst.key, ())
    causes = {
        key: list(dict.fromkeys(renamed[cause] for cause in own if renamed[cause] != key))
        for key, own in causes.items()
    }
    for place, sick in enumerate(merged):
        for one, lower in differing:
            same = (sick.labels.get("job"), sick.labels.get("instance")) == (one.labels["job"], one.instances[0])
            if sick.kind == sick_instance.kind and same:
                cause, effect = (one, sick) if lower else (sick, one)
                causes[effect.key] = [*causes[effect.key], cause.key]
                if not lower:
                    merged[place] = replace(sick, severity=one.weight)
    return merged, {key: own for key, own in causes.items() if own}


def _groups(window: Window, findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings that differ by their instance only and lie together in time, one of each instance, the worst first."""
    groups: list[list[Finding]] = []
    for one in findings:
        for group in groups:
            if _belongs(window, one, group[0]) and any(_near(one, other) for other in group):
                group.append(one)
                break
        else:
            groups.append([one])
    return [_members(window, group) for group in groups]


def _belongs(window: Window, one: Finding, other: Finding) -> bool:
    return (
        one.id == other.id
        and _shared(one) == _shared(other)
        and all("instance" in each.labels and "job" in each.labels for each in (one, other))
        and not any(len(window[metric].where(job=one.labels["job"])) for metric in (DATABASE, CPU))
        and not any(
            use.resource.finding_id == one.id and use.resource.entity is not None and use.resource.entity.kind in APART
            for use in window.uses
        )
    )


def _near(one: Finding, other: Finding) -> bool:
    return one.from_ms <= other.to_ms + APART_MS and other.from_ms <= one.to_ms + APART_MS


def _shared(one: Finding) -> dict[str, str]:
    return {name: value for name, value in one.labels.items() if name != "instance"}


def _members(window: Window, group: Sequence[Finding]) -> list[Finding]:
    """The worst first, each instance once; on the live page without those that are gone, unless all are."""
    ordered = sorted(group, key=_lost, reverse=True)
    if len(ordered) == 1:
        return ordered
    living = _living(window, ordered[0])
    first = {one.labels["instance"]: one for one in reversed(ordered)}
    return [one for one in ordered if first[one.labels["instance"]] is one and one.labels["instance"] in living] or [
        ordered[0]
    ]


def _lost(one: Finding) -> float:
    """How much harm there was at the instance: what is lost, else the demand that was not met, else what is full."""
    if one.harm is not None:
        return one.harm.lost
    shown = sorted(one.evidence, key=lambda each: (Link.DEMAND, Link.LIMIT, Link.EFFECT).index(each.link))
    return float(np.nan_to_num(shown[0].value)) if shown else 0.0


def _differs(worst: Finding, others: Sequence[Finding]) -> bool:
    seconds = [one.harm.seconds for one in (worst, *others) if one.harm is not None]
    return len(seconds) == len(others) + 1 and seconds[0] >= FAR * median(seconds[1:])


def _limit(one: Finding) -> float:
    return next((each.limit for each in one.evidence if each.link is Link.LIMIT and each.limit is not None), np.inf)


def _living(window: Window, one: Finding) -> set[str]:
    """Instances of its job that send what it was found by: in a run at any time, on the live page at its end."""
    span = window.focus if window.of_run else slice(window.focus.stop - 1, window.focus.stop)
    found = {
        use.labels.get("instance", "")
        for use in window.uses
        if use.resource.finding_id == one.id and np.isfinite(use.used[span]).any()
    }
    for metric in re.findall(r"\w+", " ".join(each.expression for each in one.evidence)):
        for name, table in instances_of(window[metric].where(job=one.labels["job"])).items():
            if np.isfinite(table.held[:, span]).any():
                found.add(name)
    return found


def _together(window: Window, members: Sequence[Finding], *, differs: bool) -> Finding:
    worst, *others = members
    labels, name = _shared(worst), worst.labels["instance"]
    head, evidence = _head(window, members, differs=differs)
    return replace(
        worst,
        sentence=message("fleet.sentence", head=head, sentence=worst.sentence),
        from_ms=worst.from_ms if differs else min(one.from_ms for one in members),
        to_ms=max(one.to_ms for one in members),
        labels=labels,
        evidence=[*worst.evidence, *evidence],
        severity=min((one.weight for one in members), key=list(Severity).index),
        instances=[name, *sorted((one.labels["instance"] for one in others), key=natural_order)],
    )


def _head(window: Window, members: Sequence[Finding], *, differs: bool) -> tuple[Words, list[Evidence]]:
    worst, *others = members
    job, name, harm = worst.labels["job"], worst.labels["instance"], worst.harm
    number, of = len(members), len(_living(window, worst))
    known = [one.harm.seconds for one in others if one.harm is not None and np.isfinite(one.harm.seconds)]
    counted = f"{number} of {of}" if number < of else "Both" if of == 2 else f"All {of}"
    everyone = f"{of}台中{number}台" if number < of else f"{of}台すべて"
    if harm is None or not known or not np.isfinite(harm.seconds):
        return Words(
            f"{counted} instances of {job} are affected, {name} most", f"{job}の{everyone}が該当し、最も悪いのは{name}"
        ), []
    own = Words(harm.words.en.format(duration(harm.seconds)), harm.words.ja.format(duration_ja(harm.seconds)))
    usual, low, high = median(known), min(known), max(known)
    rest = message("fleet.rest", others=len(others), job=job)
    if len(others) == 1:
        rest = Words(others[0].labels["instance"], others[0].labels["instance"])
    shown = next(one for one in worst.evidence if one.link is Link.DEMAND)
    evidence = replace(
        shown,
        text=Words(
            f"{rest.en[0].upper()}{rest.en[1:]}: {duration(usual)} ({duration(low)} to {duration(high)}).",
            f"{rest.ja}は{duration_ja(usual)}({duration_ja(low)}～{duration_ja(high)})。",
        ),
        expression=re.sub(r'instance="[^"]*",?', "", shown.expression),
        unit=Unit.SECONDS,
        value=usual,
        limit=None,
        chart=None,
    )
    if differs:
        return message("fleet.head", name=name, own=own, rest=rest, usual=usual), [evidence]
    return Words(
        f"{counted} instances of {job} are affected, {name} most: it {own.en}, the others {duration(usual)}",
        f"{job}の{everyone}が該当し、最も悪いのは{name}({own.ja}、他は{duration_ja(usual)})",
    ), [evidence]


def natural_order(name: str) -> list[tuple[int, str]]:
    """web-2 before web-10."""
    # A number of more digits is the greater one, however long a label makes it.
    return [(len(part) if part.isdecimal() else 0, part) for part in re.split(r"0*(\d+)", name)]
