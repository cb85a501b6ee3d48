"""From a forecast to its document. Pure."""

from collections.abc import Sequence

from loadwatch_backend.compare.forecasts.read import RunPoints
from loadwatch_backend.compare.forecasts.schemas import (
    ForecastFacts,
    ForecastResource,
    ForecastRun,
    LawOut,
    LeftOutPart,
    PeakOut,
    PointOut,
    RecordOut,
    ScoreOut,
)
from loadwatch_backend.findings.forecast.model import ENGINE, Forecast, Law, LeftOut, Peak, Refused, ResourceForecast
from loadwatch_backend.findings.forecast.scores import Record, Score
from loadwatch_backend.findings.forecast.sentences import say_forecast, say_peak, say_refused
from loadwatch_backend.findings.schemas import TextOut
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.texts.forecast import FORECAST
from loadwatch_backend.texts.words import Words


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
            LeftOutPart(reason=one.reason, text=text_out(FORECAST[f"left.{one.reason}"]), seconds=one.seconds)
            for one in most
        ],
        little=None if little is None else little.ratio,
        little_text=None if little is None else text_out(FORECAST[f"little.{little.agreement}"]),
    )


def score_out(score: Score, said: ForecastResource, law: LawOut) -> ScoreOut:
    """How a forecast of a resource did."""
    return ScoreOut(
        key=score.key,
        title=said.title,
        run=score.run,
        result=score.result,
        rate=law.rate,
        low=law.low,
        high=law.high,
        truth=score.truth,
        top_rate=score.top_rate,
        error=score.error,
    )


def record_out(record: Record) -> RecordOut:
    """How all of them did."""
    return RecordOut(hits=record.hits, too_high=record.too_high, too_low=record.too_low, bias=record.bias)


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
    return FORECAST["remark.curved"] if outcome.curved else Words("", "")


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
