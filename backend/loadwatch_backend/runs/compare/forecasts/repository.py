"""Where forecasts meet the database: their table, made by the migrations, and what is asked of it."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Index, String, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from loadwatch_backend.core.database.relational import NEW_IDS, Base, Identity
from loadwatch_backend.runs.fields import NAME_LENGTH
from loadwatch_backend.runs.registry.tables import LongText

DIGEST_LENGTH = 64


class ForecastRow(Base):
    """One forecast of a scenario. `digest` is that of all that it says, so the same is kept once.

    `newest_ms` is the start of the newest run that it knew. `document` and `scores` are JSON.
    """

    __tablename__ = "forecasts"
    __table_args__ = (
        Index("ix_forecasts_scenario_scenario_version", "scenario", "scenario_version"),
        NEW_IDS,
    )

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    scenario: Mapped[str] = mapped_column(String(NAME_LENGTH))
    scenario_version: Mapped[str] = mapped_column(String(NAME_LENGTH))
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    created_ms: Mapped[int] = mapped_column(BigInteger)
    newest_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[str] = mapped_column(LongText)
    scores: Mapped[str] = mapped_column(LongText)


MOST_KEPT = 500
"""Of a scenario and version: the oldest go."""


def find_forecasts(session: Session, scenario: str, version: str) -> Sequence[ForecastRow]:
    query = select(ForecastRow).where(ForecastRow.scenario == scenario, ForecastRow.scenario_version == version)
    return session.scalars(query.order_by(ForecastRow.id.desc()).limit(MOST_KEPT)).all()


def has_forecast(session: Session, digest: str) -> bool:
    return session.scalar(select(ForecastRow.id).where(ForecastRow.digest == digest)) is not None


def add_forecast(session: Session, row: ForecastRow) -> None:
    session.add(row)
    session.flush()
    kept = find_forecasts(session, row.scenario, row.scenario_version)
    if len(kept) == MOST_KEPT:
        same = (ForecastRow.scenario == row.scenario, ForecastRow.scenario_version == row.scenario_version)
        session.execute(delete(ForecastRow).where(*same, ForecastRow.id < kept[-1].id))


def keep_scores(session: Session, forecast_id: int, scores: str) -> None:
    row = session.get(ForecastRow, forecast_id)
    if row is not None:
        row.scores = scores
