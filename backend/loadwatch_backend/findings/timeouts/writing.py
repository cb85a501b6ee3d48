"""A ladder as a document, in words. Pure."""

import math
from collections.abc import Iterable, Sequence

from pydantic import Field

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.findings.timeouts.ladder import (
    KINDS,
    REFERENCES,
    Check,
    Kind,
    Ladder,
    Layer,
    OrderSeverity,
    OrderVerdict,
    Origin,
    Rung,
    TimeoutKey,
)


class SaidOut(Schema):
    """Where a value is known from."""

    origin: Origin
    field: str = Field(description="What was read: a key of loadwatch.yml, or a metric.")


class RungOut(Schema):
    """One value of one timeout."""

    id: str
    layer: Layer
    kind: Kind
    title: str
    seconds: float | None = Field(description="Null: there is no limit.")
    at_least: bool = Field(description="The timeout is longer than this: a probe waited that long in vain.")
    text: str = Field(description="The value in words.")
    in_force: bool = Field(description="False where a measurement at the same place says otherwise.")
    said: list[SaidOut]
    names: list[str] = Field(description="Instances, load balancers or pools that the value belongs to.")
    last_ms: Milliseconds


class MissingTimeoutOut(Schema):
    """A timeout that is not known, and how to tell it."""

    layer: Layer
    kind: Kind
    title: str
    hint: str


class LayerOut(Schema):
    """One layer of the path, in the order in which a request passes them."""

    layer: Layer
    title: str
    rungs: list[RungOut]
    missing: list[MissingTimeoutOut]


class CheckOut(Schema):
    """One rule looked at: which timeout should end before which, and what happens otherwise."""

    rule: str
    severity: OrderSeverity = Field(description="What a wrong order costs: failed requests (error), or less (notice).")
    verdict: OrderVerdict
    title: str = Field(description="What should hold.")
    consequence: str = Field(description="What happens where it does not; empty unless the verdict is wrong.")
    remedy: str = Field(description="What to change; empty unless the verdict is wrong.")
    reference: str = Field(description="Address of the source of the rule; may be empty.")
    shorter: str | None = Field(description="Rung that should end first.")
    longer: str | None = Field(description="Rung that should end later.")
    missing: list[MissingTimeoutOut] = Field(description="What has to be known first.")


class LadderOut(Schema):
    """The timeouts of one path from client to database."""

    job: str = Field(description="Empty where no target has a timeouts block and only discovered values are known.")
    direct: bool = Field(description="Clients reach the application without a load balancer.")
    layers: list[LayerOut]
    checks: list[CheckOut] = Field(description="What is wrong first, then what cannot be told, then what is right.")


class TimeoutsOut(Schema):
    """Every ladder."""

    at_ms: Milliseconds
    ladders: list[LadderOut]


def write_ladder(ladder: Ladder, language: Language) -> LadderOut:
    texts = Texts("timeouts", language)
    shown = [layer for layer in Layer if not (ladder.direct and layer is Layer.LOAD_BALANCER)]
    return LadderOut(
        job=ladder.job,
        direct=ladder.direct,
        layers=[_layer(layer, ladder.rungs, texts) for layer in shown],
        checks=[_check(check, texts) for check in ladder.checks],
    )


def _layer(layer: Layer, rungs: Sequence[Rung], texts: Texts) -> LayerOut:
    own = [rung for rung in rungs if rung.place.layer is layer]
    known = {rung.place for rung in own}
    places = (TimeoutKey(layer, kind) for kind in KINDS[layer])
    return LayerOut(
        layer=layer,
        title=texts(f"layer.{layer}"),
        rungs=[_rung(rung, texts) for rung in own],
        missing=_missing((place for place in places if place not in known), texts),
    )


def _rung(rung: Rung, texts: Texts) -> RungOut:
    return RungOut(
        **{name: getattr(rung, name) for name in ("id", "at_least", "in_force", "last_ms")},
        **rung.place._asdict(),
        title=_title(rung.place, texts),
        seconds=None if math.isinf(rung.seconds) else rung.seconds,
        text=_duration(rung, texts),
        said=[SaidOut(**said._asdict()) for said in rung.said],
        names=list(rung.names),
    )


def _missing(places: Iterable[TimeoutKey], texts: Texts) -> list[MissingTimeoutOut]:
    return [
        MissingTimeoutOut(**place._asdict(), title=_title(place, texts), hint=texts(f"hint.{place.layer}.{place.kind}"))
        for place in places
    ]


def _check(check: Check, texts: Texts) -> CheckOut:
    rule = f"rule.{check.rule}"
    values = {
        "shorter": _duration(check.shorter, texts),
        "longer": _duration(check.longer, texts),
        "for_shorter": _span(check.shorter, texts),
    }
    wrong = check.verdict is OrderVerdict.WRONG
    return CheckOut(
        rule=check.rule,
        severity=check.severity,
        verdict=check.verdict,
        title=texts(f"{rule}.title"),
        consequence=texts(f"{rule}.consequence", **values) if wrong else "",
        remedy=texts(f"{rule}.remedy", **values) if wrong else "",
        reference=REFERENCES[check.rule],
        shorter=check.shorter.id if check.shorter else None,
        longer=check.longer.id if check.longer else None,
        missing=_missing(check.missing, texts),
    )


def _title(place: TimeoutKey, texts: Texts) -> str:
    return texts(f"kind.{place.layer}.{place.kind}")


def _duration(rung: Rung | None, texts: Texts) -> str:
    return "" if rung is None else duration_text(rung.seconds, texts, at_least=rung.at_least)


def _span(rung: Rung | None, texts: Texts) -> str:
    return "" if rung is None else span_text(rung.seconds, texts, at_least=rung.at_least)


def duration_text(seconds: float, texts: Texts, *, at_least: bool = False) -> str:
    """`60 s`, `1 h 30 min`, `over 120 s`, `no limit`."""
    if math.isinf(seconds):
        return texts("no_limit")
    text = _plain(seconds, texts)
    return texts("over", duration=text) if at_least else text


def span_text(seconds: float, texts: Texts, *, at_least: bool = False) -> str:
    """`for 60 s`, `for over 120 s`, `for ever`."""
    if math.isinf(seconds):
        return texts("for_ever")
    return texts("for_some", duration=duration_text(seconds, texts, at_least=at_least))


def _plain(seconds: float, texts: Texts) -> str:
    if seconds < 1:
        return f"{round(seconds * 1_000)}{texts('unit.ms')}"
    if seconds < 120:
        return f"{seconds:.3g}{texts('unit.s')}"
    whole, parts = round(seconds), list[str]()
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count}{texts(f'unit.{unit}')}")
    return texts("between").join(parts[:2])
