"""Forecasts as they were shown; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import Base, Identity
from loadwatch_backend.runs.fields import NAME_LENGTH

DIGEST_LENGTH = 64
_LONG_TEXT = Text().with_variant(LONGTEXT(), "mysql", "mariadb")


class ForecastRow(Base):
    """One forecast of a scenario. `digest` is that of all that it says, so the same is kept once.

    `newest_ms` is the start of the newest run that it knew. `document` and `scores` are JSON.
    """

    __tablename__ = "forecasts"
    __table_args__ = (
        Index("ix_forecasts_scenario_scenario_version", "scenario", "scenario_version"),
        {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin", "sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Identity, primary_key=True, autoincrement=True)
    scenario: Mapped[str] = mapped_column(String(NAME_LENGTH))
    scenario_version: Mapped[str] = mapped_column(String(NAME_LENGTH))
    digest: Mapped[str] = mapped_column(String(DIGEST_LENGTH), unique=True)
    created_ms: Mapped[int] = mapped_column(BigInteger)
    newest_ms: Mapped[int] = mapped_column(BigInteger)
    document: Mapped[str] = mapped_column(_LONG_TEXT)
    scores: Mapped[str] = mapped_column(_LONG_TEXT)
