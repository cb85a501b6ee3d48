from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings

from backend.tests.runs.analysis.building import START_MS, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An empty store with an analyst."""
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path), lambda: START_MS + 3_600_000)
    try:
        yield Bench(store)
    finally:
        store.close()
