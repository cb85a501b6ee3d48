"""Forecasts of a scenario: made of its runs, kept when they are shown, scored by later runs."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import TypeAdapter

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.runs.compare.forecasts.documents import facts_out, run_out
from loadwatch_backend.runs.compare.forecasts.model import Measured, Peak, Refusal, Refused, Step
from loadwatch_backend.runs.compare.forecasts.read import USERS, PointReader, ResourcePoints, RunPoints
from loadwatch_backend.runs.compare.forecasts.repository import add_forecast, find_forecasts, has_forecast, keep_scores
from loadwatch_backend.runs.compare.forecasts.scalability import forecast_peak
from loadwatch_backend.runs.compare.forecasts.schemas import (
    ForecastFacts,
    ForecastOut,
    PastForecast,
    ScoreOut,
)
from loadwatch_backend.runs.compare.forecasts.scores import score, sum_up
from loadwatch_backend.runs.compare.forecasts.tables import ForecastRow
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_capacity
from loadwatch_backend.runs.compare.groups import counts
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.port import Reader

MOST_RUNS = 20
"""The newest of a scenario that are alike."""
MOST_RESOURCES = 60
PAST_SHOWN = 50
LOAD_PARAMETERS = frozenset({*USERS, "rate", "rps", "qps", "c", "load"})
"""What may differ between the runs of one forecast: how much is asked, not what is asked of which system."""

_SCORES = TypeAdapter(list[ScoreOut])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """Runs of a scenario with what they tell, in order of their start."""

    runs: Sequence[tuple[RunOut, RunPoints]]
    others: int


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
        read = self._read([run for run in ended if run.scenario_version == version])
        facts = _forecast(read)
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

    def _read(self, ended: Sequence[RunOut]) -> _Read:
        valid = [run for run in ended if counts(run)]
        alike = [run for run in valid if _system(run) == _system(valid[-1])][-MOST_RUNS:]
        found = [(run, points) for run in alike if (points := self._points.read(run)) is not None]
        return _Read(runs=found, others=len(ended) - len(found))

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

    def _score(self, session: Session, scenario: str, version: str, read: _Read) -> Sequence["_Past"]:
        """All kept forecasts, the newest first, with the scores that the runs read now add to them."""
        found: list[_Past] = []
        for row in find_forecasts(session, scenario, version):
            past = _Past(row=row, facts=ForecastFacts.model_validate_json(row.document), scores=_scores(row))
            later = [points for run, points in read.runs if past.is_later(run)]
            added = past.scored_by(later)
            if added:
                past = _Past(row=row, facts=past.facts, scores=[*past.scores, *added])
                keep_scores(session, row.id, _SCORES.dump_json(list(past.scores)).decode())
            found.append(past)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """A kept forecast with its scores so far."""

    row: ForecastRow
    facts: ForecastFacts
    scores: Sequence[ScoreOut]

    def is_later(self, run: RunOut) -> bool:
        """Whether the forecast could not know a run."""
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
        """Its document."""
        return PastForecast(
            id=self.row.id,
            created_ms=self.row.created_ms,
            sentence=self.facts.sentence,
            runs=[run.run for run in self.facts.runs],
            scores=list(self.scores),
        )


def _scores(row: ForecastRow) -> list[ScoreOut]:
    return _SCORES.validate_json(row.scores)


def _system(run: RunOut) -> Sequence[tuple[str, str]]:
    """What runs of one forecast have in common."""
    return sorted((name, value) for name, value in run.parameters.items() if name not in LOAD_PARAMETERS)


def _forecast(read: _Read) -> ForecastFacts:
    by_key: dict[str, list[ResourcePoints]] = {}
    for _, points in read.runs:
        for key, one in points.resources.items():
            by_key.setdefault(key, []).append(one)
    measured = sorted((_measured(found) for found in by_key.values()), key=_used, reverse=True)[:MOST_RESOURCES]
    forecast = forecast_capacity(measured, _peak([points for _, points in read.runs]))
    units: Mapping[str, str] = {one.resource.id: one.resource.unit for found in by_key.values() for one in found}
    return facts_out(forecast, dict(units), [run_out(run, points) for run, points in read.runs], read.others)


def _measured(found: Sequence[ResourcePoints]) -> Measured:
    """A resource over all runs; its limit is that of the newest."""
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
