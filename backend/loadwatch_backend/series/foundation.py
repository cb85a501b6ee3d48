"""What every wing is opened on: the settings, the clock, the samples, the tables, and who asks them."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from loadwatch_backend.core.clock import Clock, SteadyClock
from loadwatch_backend.core.data_directory import HALF_RESTORED, DataDirectoryError, open_data_directory
from loadwatch_backend.core.database.relational import Relational, default_url, open_relational
from loadwatch_backend.core.settings import Settings
from loadwatch_backend.series.promql.admission import Queries
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.port import SampleStore
from loadwatch_backend.series.store.sample_store import open_sample_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """Given to what opens a slice; `stack` closes what it opens, in the opposite order."""

    settings: Settings
    clock: Clock
    steady: SteadyClock
    monotonic: Callable[[], float]
    stack: ExitStack
    store: SampleStore
    relational: Relational
    queries: Queries
    engine: Engine
    rules_engine: Engine
    """For rules, with memory of its own."""

    @property
    def external_url(self) -> str:
        return (self.settings.external_url or self.settings.listen.url).rstrip("/")


def open_foundation(settings: Settings, clock: Clock, monotonic: Callable[[], float], stack: ExitStack) -> Foundation:
    """Open the data directory and the tables; on the event loop that serves."""
    open_data_directory(settings.data)
    if (settings.data / HALF_RESTORED).exists():
        raise DataDirectoryError(
            f"a restore into {settings.data} was cut off, so that it holds a part of the backup; remove it and run"
            " `loadwatch restore` again"
        )
    steady = SteadyClock(clock, monotonic)
    store = open_sample_store(settings, steady)
    stack.callback(store.close)
    url = settings.relational_url
    # The lock on the data directory keeps other servers from the SQLite file in it.
    relational = open_relational(url or default_url(settings.data), alone=not url)
    stack.callback(relational.close)
    queries = Queries(memory_bytes=settings.query_memory_bytes)
    engine_settings = EngineSettings(timeout_seconds=settings.query_timeout_seconds).scaled(settings.query_scale)
    return Foundation(
        settings=settings,
        clock=clock,
        steady=steady,
        monotonic=monotonic,
        stack=stack,
        store=store,
        relational=relational,
        queries=queries,
        engine=Engine(store, engine_settings, memory=queries.server),
        rules_engine=Engine(store, engine_settings, memory=queries.rules),
    )
