"""From a forecast to its document. Pure."""

import math
from collections.abc import Sequence

from loadwatch_backend.core.texts.words import Words, message_of
from loadwatch_backend.findings.schemas import TextOut
from loadwatch_backend.runs.compare.forecasts.model import (
    ENGINE,
    Forecast,
    Interval,
    Law,
    LeftOut,
    Measured,
    Peak,
    Refused,
    ResourceForecast,
)
from loadwatch_backend.runs.compare.forecasts.read import RunPoints
from loadwatch_backend.runs.compare.forecasts.schemas import (
    ForecastFacts,
    ForecastResource,
    ForecastRun,
    LawOut,
    LeftOutPart,
    PeakOut,
    PointOut,
)
from loadwatch_backend.runs.schemas import RunOut

_RATES = frozenset({"low", "high"})


def say_forecast(forecast: Forecast) -> Words:
    """The sentence that a person can say aloud: what is full first, and what next."""
    laws = forecast.laws
    if not laws:
        return message_of("forecast", "sentence.none" if forecast.resources else "sentence.nothing")
    resource, law = laws[0]
    if law.reached is not None:
        first = message_of("forecast", "sentence.reached", what=name_of(resource), rate=_plain(law.reached))
    else:
        low, rate, high = format_interval(law.full)
        first = message_of("forecast", "sentence.first", what=name_of(resource), rate=rate, low=low, high=high)
    return _joined(first, _next(laws))


def say_peak(peak: Peak | Refused) -> Words:
    """The highest throughput there is, or why nobody can tell."""
    if isinstance(peak, Refused):
        return say_refused(peak)
    low, rate, high = format_interval(peak.rate)
    return message_of("forecast", "sentence.peak", rate=rate, low=low, high=high, users=_plain(peak.users))


def say_refused(refused: Refused) -> Words:
    """Why there is no number."""
    values = {name: _plain(value) if name in _RATES else value for name, value in refused.figures.items()}
    return message_of("forecast", f"refused.{refused.refusal}", **values)


def name_of(resource: Measured) -> Words:
    """Its title, with what tells it from others of its kind."""
    return Words(*(f"{title} ({resource.name})" if resource.name else title for title in _both(resource.title)))


def format_interval(interval: Interval) -> tuple[str, str, str]:
    """Low end, value and high end, no finer than the interval or three digits allow: 8,700, 9,400 and 10,300."""
    finest = [10.0 ** (math.floor(math.log10(interval.value)) - 2)] if interval.value > 0 else [1.0]
    width = interval.high - interval.low
    unit = max([*finest, 10.0 ** (math.floor(math.log10(width)) - 1)] if width > 0 else finest)
    low, value, high = (_rounded(one, unit) for one in (interval.low, interval.value, interval.high))
    return low, value, high


def _next(laws: Sequence[tuple[Measured, Law]]) -> Words:
    if len(laws) < 2:
        return Words("", "")
    (_, first), (resource, law) = laws[:2]
    overlaps = first.reached is None and law.full.low <= first.full.high
    _, rate, _ = format_interval(law.full)
    return message_of(
        "forecast", "sentence.overlaps" if overlaps else "sentence.next", what=name_of(resource), rate=rate
    )


def _joined(first: Words, second: Words) -> Words:
    return Words(first.en + second.en, first.ja + second.ja)


def _both(words: Words) -> tuple[str, str]:
    return words.en, words.ja


def _plain(value: float) -> str:
    """Three digits that count."""
    return _rounded(value, 10.0 ** (math.floor(math.log10(value)) - 2)) if value > 0 else "0"


def _rounded(value: float, unit: float) -> str:
    digits = max(-math.floor(math.log10(unit)), 0)
    return f"{round(value / unit) * unit:,.{digits}f}"


def facts_out(forecast: Forecast, units: dict[str, str], runs: Sequence[ForecastRun], others: int) -> ForecastFacts:
    """All that is said of a scenario; `units` by the resource's id."""
    peak = forecast.peak
    return ForecastFacts(
        engine=ENGINE,
        sentence=text_out(say_forecast(forecast)),
        runs=list(runs),
        other_runs=others,
        resources=[_resource_out(one, units[one.resource.id]) for one in forecast.resources],
        peak=PeakOut(rate=peak.rate.value, low=peak.rate.low, high=peak.rate.high, users=peak.users)
        if isinstance(peak, Peak)
        else None,
        peak_text=text_out(say_peak(peak)),
    )


def run_out(run: RunOut, points: RunPoints) -> ForecastRun:
    """A run that the forecast rests on."""
    lost = [one.cut.left_out for one in points.resources.values()]
    most: Sequence[LeftOut] = max(lost, key=lambda one: sum(part.seconds for part in one), default=())
    little = points.little
    return ForecastRun(
        run=run.id,
        name=run.name,
        started_ms=run.started_ms,
        commit=run.commit,
        top_rate=points.top_rate,
        left_out=[
            LeftOutPart(
                reason=one.reason, text=text_out(message_of("forecast", f"left.{one.reason}")), seconds=one.seconds
            )
            for one in most
        ],
        little=None if little is None else little.ratio,
        little_text=None if little is None else text_out(message_of("forecast", f"little.{little.agreement}")),
    )


def text_out(words: Words) -> TextOut:
    """A text in both languages."""
    return TextOut(en=words.en, ja=words.ja)


def _resource_out(one: ResourceForecast, unit: str) -> ForecastResource:
    resource, outcome = one.resource, one.outcome
    return ForecastResource(
        key=resource.key,
        resource=resource.id,
        title=text_out(resource.title),
        name=resource.name,
        unit=unit,
        limit=resource.limit,
        law=_law_out(outcome) if isinstance(outcome, Law) else None,
        refused=outcome.refusal if isinstance(outcome, Refused) else None,
        text=text_out(_remark(outcome)),
        points=[PointOut(run=step.run, rate=step.rate, use=step.use, seconds=step.seconds) for step in resource.steps],
    )


def _remark(outcome: Law | Refused) -> Words:
    if isinstance(outcome, Refused):
        return say_refused(outcome)
    return message_of("forecast", "remark.curved") if outcome.curved else Words("", "")


def _law_out(law: Law) -> LawOut:
    return LawOut(
        rate=law.full.value,
        low=law.full.low,
        high=law.full.high,
        demand=law.demand,
        idle=law.idle,
        curved=law.curved,
        top_rate=law.top_rate,
        top_use=law.top_use,
        reached=law.reached,
    )
