"""Forecasts of a scenario: made of its runs, kept when they are shown, scored by later runs."""

import hashlib
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pydantic import TypeAdapter

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
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
    Refusal,
    Refused,
    ResourceForecast,
    Step,
)
from loadwatch_backend.runs.compare.forecasts.read import USERS, PointReader, ResourcePoints, RunPoints
from loadwatch_backend.runs.compare.forecasts.repository import (
    ForecastRow,
    add_forecast,
    find_forecasts,
    has_forecast,
    keep_scores,
)
from loadwatch_backend.runs.compare.forecasts.scalability import forecast_peak
from loadwatch_backend.runs.compare.forecasts.schemas import (
    ForecastFacts,
    ForecastOut,
    ForecastResource,
    ForecastRun,
    LawOut,
    LeftOutPart,
    PastForecast,
    PeakOut,
    PointOut,
    RecordOut,
    ScoreOut,
)
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_capacity
from loadwatch_backend.runs.compare.rows import counts
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.port import Reader

_RATES = frozenset({"low", "high"})


def say_forecast(forecast: Forecast) -> Words:
    laws = forecast.laws
    if not laws:
        return message_of("forecast", "sentence.none" if forecast.resources else "sentence.nothing")
    resource, law = laws[0]
    if law.reached is not None:
        first = message_of("forecast", "sentence.reached", what=name_of(resource), rate=_plain(law.reached))
    else:
        low, rate, high = format_interval(law.full)
        first = message_of("forecast", "sentence.first", what=name_of(resource), rate=rate, low=low, high=high)
    then = _next(laws)
    return Words(first.en + then.en, first.ja + then.ja)


def say_peak(peak: Peak | Refused) -> Words:
    if isinstance(peak, Refused):
        return say_refused(peak)
    low, rate, high = format_interval(peak.rate)
    return message_of("forecast", "sentence.peak", rate=rate, low=low, high=high, users=_plain(peak.users))


def say_refused(refused: Refused) -> Words:
    values = {name: _plain(value) if name in _RATES else value for name, value in refused.figures.items()}
    return message_of("forecast", f"refused.{refused.refusal}", **values)


def name_of(resource: Measured) -> Words:
    named = f" ({resource.name})" if resource.name else ""
    return Words(resource.title.en + named, resource.title.ja + named)


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


def _plain(value: float) -> str:
    return _rounded(value, 10.0 ** (math.floor(math.log10(value)) - 2)) if value > 0 else "0"


def _rounded(value: float, unit: float) -> str:
    digits = max(-math.floor(math.log10(unit)), 0)
    return f"{round(value / unit) * unit:,.{digits}f}"


def facts_out(forecast: Forecast, units: dict[str, str], runs: Sequence[ForecastRun], others: int) -> ForecastFacts:
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
    full = {"rate": law.full.value, "low": law.full.low, "high": law.full.high}
    return LawOut(**full, **{name: getattr(law, name) for name in LawOut.model_fields.keys() - full.keys()})


SAME_LIMIT = 0.01


class ScoreResult(StrEnum):
    HIT = "hit"
    """It was full at a rate inside of the interval."""
    TOO_HIGH = "too-high"
    """It was full below the interval: the forecast promised too much."""
    TOO_LOW = "too-low"
    """It was full above the interval, or was not full above it."""


def score(forecast: ForecastResource, later: RunPoints) -> ScoreOut | None:
    """None where the run tells nothing: it did not go high enough, did not measure it, or had another limit."""
    law, measured = forecast.law, later.resources.get(forecast.key)
    if law is None or measured is None or abs(measured.limit - forecast.limit) > SAME_LIMIT * forecast.limit:
        return None
    truth = measured.full_rate
    if truth is None and later.top_rate <= law.high:
        return None
    if truth is None or truth > law.high:
        result = ScoreResult.TOO_LOW
    else:
        result = ScoreResult.TOO_HIGH if truth < law.low else ScoreResult.HIT
    return ScoreOut(
        key=forecast.key,
        title=forecast.title,
        run=later.run,
        result=result,
        rate=law.rate,
        low=law.low,
        high=law.high,
        truth=truth,
        top_rate=later.top_rate,
        error=law.rate / truth - 1 if truth else None,
    )


def sum_up(scores: Sequence[ScoreOut]) -> RecordOut:
    errors = [one.error for one in scores if one.error is not None]
    counts = {result: sum(one.result == result for one in scores) for result in ScoreResult}
    return RecordOut(
        hits=counts[ScoreResult.HIT],
        too_high=counts[ScoreResult.TOO_HIGH],
        too_low=counts[ScoreResult.TOO_LOW],
        bias=statistics.median(errors) if errors else None,
    )


MOST_RUNS = 20
"""The newest of a scenario that are alike."""
MOST_RESOURCES = 60
PAST_SHOWN = 50
LOAD_PARAMETERS = frozenset({*USERS, "rate", "rps", "qps", "c", "load"})
"""Parameters that may differ between the runs of one forecast: they set the load, not the system."""

_SCORES = TypeAdapter(list[ScoreOut])


_Runs = Sequence[tuple[RunOut, RunPoints]]
"""Runs of a scenario with what they tell, in order of their start."""


class ForecastService:
    """Safe to use from any thread."""

    def __init__(
        self, runs: Registry, store: Reader, engine: Engine, relational: Relational, clock: Clock, library: Library
    ) -> None:
        self._runs = runs
        self._points = PointReader(runs, store, engine, clock, library)
        self._relational = relational
        self._clock = clock

    def forecast(self, scenario: str, version: str | None) -> ForecastOut:
        """What the runs of a scenario tell of its capacity; of its newest version for None.

        What is said is kept, and earlier forecasts are held against runs that began after theirs.
        """
        ended = self._runs.of_scenario(scenario, version)
        version = version if version is not None else ended[-1].scenario_version if ended else ""
        ended = [run for run in ended if run.scenario_version == version]
        read = self._read(ended)
        facts = _forecast(read, len(ended) - len(read))
        with self._relational.transaction() as session:
            past = self._score(session, scenario, version, read)
        self._keep(scenario, version, facts)
        said = [one for one in past if one.facts != facts]
        return ForecastOut(
            scenario=scenario,
            scenario_version=version,
            now=facts,
            past=[one.out() for one in said[:PAST_SHOWN]],
            record=sum_up([found for one in past for found in one.scores]),
        )

    def _read(self, ended: Sequence[RunOut]) -> _Runs:
        valid = [run for run in ended if counts(run)]
        alike = [run for run in valid if _system(run) == _system(valid[-1])][-MOST_RUNS:]
        return [(run, points) for run in alike if (points := self._points.read(run)) is not None]

    def _keep(self, scenario: str, version: str, facts: ForecastFacts) -> None:
        """Write a forecast down that has a number; the same is kept once."""
        if not any(one.law for one in facts.resources):
            return
        document = facts.model_dump_json()
        digest = hashlib.sha256(f"{scenario}\0{version}\0{document}".encode()).hexdigest()
        row = ForecastRow(
            scenario=scenario,
            scenario_version=version,
            digest=digest,
            created_ms=self._clock(),
            newest_ms=max(run.started_ms for run in facts.runs),
            document=document,
            scores="[]",
        )
        try:
            with self._relational.transaction() as session:
                if not has_forecast(session, digest):
                    add_forecast(session, row)
        except ConstraintError:
            return  # Two at once said the same: the other one has kept it.

    def _score(self, session: Session, scenario: str, version: str, read: _Runs) -> Sequence["_Past"]:
        """All kept forecasts, the newest first, with the scores that the runs read now add to them."""
        found: list[_Past] = []
        for row in find_forecasts(session, scenario, version):
            past = _Past(
                row=row, facts=ForecastFacts.model_validate_json(row.document), scores=_SCORES.validate_json(row.scores)
            )
            later = [points for run, points in read if past.is_later(run)]
            added = past.scored_by(later)
            if added:
                past = _Past(row=row, facts=past.facts, scores=[*past.scores, *added])
                keep_scores(session, row.id, _SCORES.dump_json(list(past.scores)).decode())
            found.append(past)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    row: ForecastRow
    facts: ForecastFacts
    scores: Sequence[ScoreOut]

    def is_later(self, run: RunOut) -> bool:
        return run.started_ms > self.row.newest_ms and run.id not in {one.run for one in self.facts.runs}

    def scored_by(self, later: Sequence[RunPoints]) -> list[ScoreOut]:
        """Scores of resources that have none, each by the first run that tells.

        What was full already in the forecast's own runs was measured, not forecast.
        """
        done = {one.key for one in self.scores}
        open_ones = [one for one in self.facts.resources if one.key not in done and one.law and one.law.reached is None]
        tried = (next((found for run in later if (found := score(one, run))), None) for one in open_ones)
        return [found for found in tried if found is not None]

    def out(self) -> PastForecast:
        return PastForecast(
            id=self.row.id,
            created_ms=self.row.created_ms,
            sentence=self.facts.sentence,
            runs=[run.run for run in self.facts.runs],
            scores=list(self.scores),
        )


def _system(run: RunOut) -> Sequence[tuple[str, str]]:
    """Parameters that the runs of one forecast share: all but those of the load."""
    return sorted((name, value) for name, value in run.parameters.items() if name not in LOAD_PARAMETERS)


def _forecast(read: _Runs, others: int) -> ForecastFacts:
    by_key: dict[str, list[ResourcePoints]] = {}
    for _, points in read:
        for key, one in points.resources.items():
            by_key.setdefault(key, []).append(one)
    measured = sorted((_measured(found) for found in by_key.values()), key=_used, reverse=True)[:MOST_RESOURCES]
    forecast = forecast_capacity(measured, _peak([points for _, points in read]))
    units: Mapping[str, str] = {one.resource.id: one.resource.unit for found in by_key.values() for one in found}
    return facts_out(forecast, dict(units), [run_out(run, points) for run, points in read], others)


def _measured(found: Sequence[ResourcePoints]) -> Measured:
    newest = found[-1]
    return Measured(
        id=newest.resource.id,
        title=newest.resource.title,
        name=newest.name,
        limit=newest.limit,
        steps=[step for one in found for step in one.cut.steps],
        left_out=[part for one in found for part in one.cut.left_out],
        stock=newest.resource.unit is Unit.BYTES,
    )


def _used(one: Measured) -> float:
    return max((step.use for step in one.steps), default=0.0) / one.limit


def _peak(runs: Sequence[RunPoints]) -> Peak | Refused:
    """By users at work: steps with as many users are one, by the seconds of each."""
    steps = [step for points in runs for step in points.users.steps]
    by_users: dict[int, list[Step]] = {}
    for step in steps:
        by_users.setdefault(round(step.use), []).append(step)
    users = [one for one in sorted(by_users) if one > 0]
    if not users:
        return Refused(refusal=Refusal.NO_USERS)
    rates = np.array(
        [np.average([s.rate for s in by_users[one]], weights=[s.seconds for s in by_users[one]]) for one in users]
    )
    kept = rates > 0
    return forecast_peak(np.array(users, np.float64)[kept], rates[kept])
