"""The answers of Prometheus' own engine, and a real store that holds the series they were made from."""

import gzip
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, MetricMetadata, SampleStore

GOLDEN = Path(__file__).parent / "golden" / "prometheus.json.gz"


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    with gzip.open(GOLDEN) as file:
        return json.load(file)


@pytest.fixture(scope="session")
def golden_store(golden: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Generator[SampleStore]:
    series: list[dict[str, Any]] = golden["series"]
    newest = max(one["times"][-1] for one in series)
    store = open_embedded(EmbeddedSettings(data_directory=tmp_path_factory.mktemp("golden")), lambda: newest)
    try:
        ids = store.resolve([one["labels"] for one in series])
        values: list[float | str] = [value for one in series for value in one["values"]]
        numbers = np.array([np.nan if value == "stale" else float(value) for value in values])
        stale = [place for place, value in enumerate(values) if value == "stale"]
        # Through the bits: a Python float may lose the payload of a NaN.
        numbers.view(np.uint64)[stale] = STALE_NAN_BITS
        rows = np.repeat(ids, [len(one["times"]) for one in series])
        times = np.concatenate([np.array(one["times"], np.int64) for one in series])
        # In no order, as samples of several senders and late ones arrive.
        for part in np.array_split(np.random.default_rng(1).permutation(len(rows)), 7):
            batch = Batch(series=rows[part], timestamps=times[part], values=numbers[part])
            store.append(batch).result(timeout=120)
        store.put_metadata({"temperature": MetricMetadata(type="gauge", help="How warm it is", unit="celsius")})
        yield store
    finally:
        store.close()


@pytest.fixture(scope="session")
def engine(golden: dict[str, Any], golden_store: SampleStore) -> Engine:
    return Engine(golden_store, EngineSettings(lookback_ms=golden["lookback_ms"]))
