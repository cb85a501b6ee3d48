"""A ladder as a document, in words. Pure."""

import math
from collections.abc import Iterable, Sequence

from loadwatch_backend.kit.language import Language
from loadwatch_backend.timeouts.model import KINDS, Check, Ladder, Layer, OrderVerdict, Rung, TimeoutKey
from loadwatch_backend.timeouts.rules import REFERENCES
from loadwatch_backend.timeouts.schemas import CheckOut, LadderOut, LayerOut, MissingOut, RungOut, SaidOut
from loadwatch_backend.timeouts.texts import EN, JA, TimeoutTexts


def write_ladder(ladder: Ladder, language: Language) -> LadderOut:
    """The ladder in the words of a language."""
    words = JA if language is Language.JA else EN
    shown = [layer for layer in Layer if not (ladder.direct and layer is Layer.LOAD_BALANCER)]
    return LadderOut(
        job=ladder.job,
        direct=ladder.direct,
        layers=[_layer(layer, ladder.rungs, words) for layer in shown],
        checks=[_check(check, words) for check in ladder.checks],
    )


def _layer(layer: Layer, rungs: Sequence[Rung], words: TimeoutTexts) -> LayerOut:
    own = [rung for rung in rungs if rung.place.layer is layer]
    known = {rung.place for rung in own}
    places = (TimeoutKey(layer, kind) for kind in KINDS[layer])
    return LayerOut(
        layer=layer,
        title=words.layers[layer],
        rungs=[_rung(rung, words) for rung in own],
        missing=_missing((place for place in places if place not in known), words),
    )


def _rung(rung: Rung, words: TimeoutTexts) -> RungOut:
    return RungOut(
        id=rung.id,
        layer=rung.place.layer,
        kind=rung.place.kind,
        title=words.kinds[rung.place],
        seconds=None if math.isinf(rung.seconds) else rung.seconds,
        at_least=rung.at_least,
        text=_duration(rung, words),
        in_force=rung.in_force,
        said=[SaidOut(origin=said.origin, field=said.field) for said in rung.said],
        names=list(rung.names),
        last_ms=rung.last_ms,
    )


def _missing(places: Iterable[TimeoutKey], words: TimeoutTexts) -> list[MissingOut]:
    return [
        MissingOut(layer=place.layer, kind=place.kind, title=words.kinds[place], hint=words.hints[place])
        for place in places
    ]


def _check(check: Check, words: TimeoutTexts) -> CheckOut:
    rule = words.rules[check.rule]
    values = {
        "shorter": _duration(check.shorter, words),
        "longer": _duration(check.longer, words),
        "for_shorter": words.span(check.shorter.seconds, at_least=check.shorter.at_least) if check.shorter else "",
    }
    wrong = check.verdict is OrderVerdict.WRONG
    return CheckOut(
        rule=check.rule,
        severity=check.severity,
        verdict=check.verdict,
        title=rule.title,
        consequence=rule.consequence.format(**values) if wrong else "",
        remedy=rule.remedy.format(**values) if wrong else "",
        reference=REFERENCES[check.rule],
        shorter=check.shorter.id if check.shorter else None,
        longer=check.longer.id if check.longer else None,
        missing=_missing(check.missing, words),
    )


def _duration(rung: Rung | None, words: TimeoutTexts) -> str:
    return "" if rung is None else words.duration(rung.seconds, at_least=rung.at_least)
