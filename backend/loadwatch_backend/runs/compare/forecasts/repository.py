"""Where forecasts meet the database."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from loadwatch_backend.runs.compare.forecasts.tables import ForecastRow

MOST_KEPT = 500
"""Of a scenario and version: the oldest go."""


def find_forecasts(session: Session, scenario: str, version: str) -> Sequence[ForecastRow]:
    """All that are kept, the newest first."""
    query = select(ForecastRow).where(ForecastRow.scenario == scenario, ForecastRow.scenario_version == version)
    return session.scalars(query.order_by(ForecastRow.id.desc()).limit(MOST_KEPT)).all()


def has_forecast(session: Session, digest: str) -> bool:
    """Whether the same is kept already."""
    return session.scalar(select(ForecastRow.id).where(ForecastRow.digest == digest)) is not None


def add_forecast(session: Session, row: ForecastRow) -> None:
    """Keep one; beyond `MOST_KEPT` the oldest go."""
    session.add(row)
    session.flush()
    kept = find_forecasts(session, row.scenario, row.scenario_version)
    if len(kept) == MOST_KEPT:
        same = (ForecastRow.scenario == row.scenario, ForecastRow.scenario_version == row.scenario_version)
        session.execute(delete(ForecastRow).where(*same, ForecastRow.id < kept[-1].id))


def keep_scores(session: Session, forecast_id: int, scores: str) -> None:
    """Write down how a forecast did."""
    row = session.get(ForecastRow, forecast_id)
    if row is not None:
        row.scores = scores
