"""From a diagnosis to its document, and that against the one before. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loadwatch_backend.core.texts.words import Words, message_of
from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.findings.engine import LEAST_SECONDS, too_short
from loadwatch_backend.findings.model import (
    Checked,
    Diagnosis,
    DiagnosisState,
    Finding,
    HeadlineKind,
    Missing,
    Opinion,
    Severity,
)
from loadwatch_backend.findings.schemas import (
    Change,
    ChangeOut,
    DiagnosisOut,
    FindingOut,
    FindingsOut,
    HeadlineOut,
    RouteFigure,
    TextOut,
)

MOST_NAMED = 3
"""Named in the sentence; all of them are listed."""
MOST_UNWATCHED = 6
HOST_NOISE = "host-noise"
"""A note that is no all-clear: programs that are not watched filled the host."""
_OF_FIRST = ("title", "key", "severity", "certainty", "from_ms", "began_earlier", "resource")
"""Fields that a headline takes from the leading finding."""


def findings_out(
    diagnosis: Diagnosis, said_ms: int, requests: int | None = None, cost: Cost | None = None
) -> FindingsOut:
    return FindingsOut.model_validate(
        {
            **{name: getattr(diagnosis, name) for name in ("state", "engine", "from_ms", "to_ms")},
            "said_ms": said_ms,
            "requests": requests,
            "observations": diagnosis.observations,
            "checked": [_checked(one) for one in diagnosis.checked],
            "unjudged": [_checked(one) for one in diagnosis.unjudged],
            "symptoms": diagnosis.symptoms,
            "cannot_tell": _why_unknown(diagnosis) if diagnosis.state is DiagnosisState.CANNOT_TELL else None,
            "missing": [_missing(one) for one in diagnosis.missing],
            "routes": [] if cost is None else _routes(cost),
            "findings": [_finding(one, diagnosis.because_of.get(one.key, ())) for one in diagnosis.findings],
        },
        from_attributes=True,
    )


def headline_of(diagnosis: DiagnosisOut, findings: Sequence[FindingOut]) -> HeadlineOut:
    """What is said first: the first finding that accuses, or why there is none.

    What people have muted or marked wrong leads nothing, nor does what was over before the latest run.
    """
    own = [one for one in findings if not one.before_run]
    shown = [one for one in own if not one.muted and (one.mark is None or one.mark.opinion is not Opinion.REJECTED)]
    accusing = [one for one in shown if one.severity is not Severity.INFO]
    if accusing:
        first = accusing[0]
        return HeadlineOut(
            kind=HeadlineKind.FOUND,
            text=first.sentence,
            instance=first.instances[0] if first.instances else first.labels.get("instance", ""),
            more=len(accusing) - 1,
            **{name: getattr(first, name) for name in _OF_FIRST},
        )
    noise = [one.sentence for one in shown if one.id == HOST_NOISE]
    full = [*noise, *diagnosis.observations][:1]
    muted = sum(one.severity is not Severity.INFO for one in own)
    text: TextOut | None
    if muted:
        kind, text = HeadlineKind.MUTED, _text(message_of("findings", "muted_count", count=muted))
    elif diagnosis.state is DiagnosisState.CANNOT_TELL:
        kind, told = HeadlineKind.CANNOT_TELL, [one for one in (diagnosis.cannot_tell, *noise[:1]) if one]
        text = TextOut(en=" ".join(one.en for one in told), ja="".join(one.ja for one in told))
    elif full:
        kind, text = HeadlineKind.FULL, full[0]
    else:
        kind, text = HeadlineKind.NONE, _text(message_of("findings", "checked_count", count=len(diagnosis.checked)))
    title = _text(message_of("findings", f"headline_{kind}"))
    return HeadlineOut(kind=kind, title=title, text=text or TextOut(en="", ja=""), more=len(shown))


def _why_unknown(diagnosis: Diagnosis) -> Words:
    parts = [*diagnosis.symptoms[:1]]
    if len(diagnosis.symptoms) > 1:
        parts.append(message_of("findings", "more_symptoms", count=len(diagnosis.symptoms) - 1))
    seconds = (diagnosis.to_ms - diagnosis.from_ms) / 1_000
    if seconds < 1:
        # What sends nothing is not known, either: collectors look each second.
        parts.append(too_short(LEAST_SECONDS, seconds))
        return Words(" ".join(one.en for one in parts), "".join(one.ja for one in parts))
    parts += diagnosis.observations[:1]
    unwatched = [one.kind.title for one in diagnosis.missing if one.unwatched]
    if unwatched:
        parts.append(message_of("findings", "not_watched", named=_named(unwatched, MOST_UNWATCHED)))
    alike: dict[Words, list[Words]] = {}
    for one in diagnosis.unjudged:
        alike.setdefault(one.text, []).append(one.kind.title)
    # What one kind alone says is about this run; what several say alike is about its length.
    if alike:
        text, titles = min(alike.items(), key=lambda group: len(group[1]))
        named = _named(titles)
        parts.append(Words(f"{named.en}: {text.en}", f"{named.ja}: {text.ja}"))
    usual = [one for one in diagnosis.missing if one.usual and not unwatched]
    if not diagnosis.checked:
        collectors = ", ".join(dict.fromkeys(one.switched_on_by.partition(":")[0] for one in usual)).strip(", ")
        parts.append(
            message_of("findings", "silent_collectors", collectors=collectors)
            if collectors
            else message_of("findings", "nothing_checked")
        )
    elif usual:
        parts.append(message_of("findings", "not_measured", named=_named([one.kind.title for one in usual])))
    elif not diagnosis.unjudged:
        parts.append(message_of("findings", "none_explains", kinds=len(diagnosis.checked)))
    return Words(" ".join(one.en for one in parts), "".join(one.ja for one in parts))


def _named(titles: Sequence[Words], most: int = MOST_NAMED) -> Words:
    first, more = titles[:most], len(titles) - most
    named = Words(", ".join(one.en for one in first), "、".join(one.ja for one in first))
    return message_of("findings", "and_more", named=named, count=more) if more > 0 else named


def _routes(cost: Cost) -> list[RouteFigure]:
    """What is kept with the run, for whoever follows it over many: to find it again would take a fit for each."""
    return [
        RouteFigure(
            name=one.totals.key.name,
            requests=one.totals.requests,
            calls=one.calls.value,
            database_seconds=one.seconds.value,
        )
        for one in cost.routes
        if cost.reason is None and one.of_statement
    ]


_OF_FINDING = ("id", "key", "sentence", "certainty", "from_ms", "labels", "instances", "began_earlier", "evidence")
_OF_KIND = ("title", "explanation", "refuted_by", "resource")


def _finding(finding: Finding, because_of: Sequence[str]) -> Mapping[str, object]:
    return {
        **{name: getattr(finding, name) for name in _OF_FINDING},
        **{name: getattr(finding.kind, name) for name in _OF_KIND},
        "rule_of_thumb": finding.kind.rule,
        "severity": finding.weight,
        "to_ms": max(finding.to_ms, finding.from_ms),
        "because_of": because_of,
        "steps": [*(replace(one, text=_without_or(one.text)) for one in finding.steps[:1]), *finding.steps[1:]],
    }


def _checked(one: Checked) -> Mapping[str, object]:
    return {"id": one.kind.id, "title": one.kind.title, "text": one.text}


def _missing(one: Missing) -> Mapping[str, object]:
    kind = one.kind
    return {"id": kind.id, "title": kind.title, "needs": one.needs, "config": one.switched_on_by, "usual": one.usual}


def _without_or(words: Words) -> Words:
    """The first step, where the one that it would be an alternative to is not there."""
    en = words.en.removeprefix("Or ")
    # A name that the step begins with stays as it is.
    en = en if en == words.en else en[:1].upper() + en[1:]
    return Words(en, words.ja.removeprefix("または"))


def _text(words: Words) -> TextOut:
    return TextOut(en=words.en, ja=words.ja)


def compare_findings(said: FindingsOut | None, now: FindingsOut) -> list[ChangeOut]:
    """The differences, those of findings that are there now first, in their order."""
    before = {} if said is None else {finding.key: finding for finding in said.findings}
    after = {finding.key: finding for finding in now.findings}
    places = {key: place for place, key in enumerate(key for key in before if key in after)}
    kept = [finding for finding in now.findings if finding.key in before]
    changes: list[tuple[FindingOut, Change | None]] = [
        (finding, "added" if finding.key not in before else _difference(before[finding.key], finding))
        for finding in now.findings
    ]
    moved = {finding.key for place, finding in enumerate(kept) if places[finding.key] != place}
    return [
        *(_change(finding, change) for finding, change in changes if change is not None),
        *(_change(after[key], "other-place") for key in after if key in moved),
        *(_change(finding, "gone") for key, finding in before.items() if key not in after),
    ]


def _difference(before: FindingOut, now: FindingOut) -> Change | None:
    if (before.certainty, before.severity) != (now.certainty, now.severity):
        return "other-certainty"
    return "other-figures" if before.sentence != now.sentence else None


def _change(finding: FindingOut, change: Change) -> ChangeOut:
    return ChangeOut(key=finding.key, title=finding.title, change=change)
