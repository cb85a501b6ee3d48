"""Steps and runs made for tests."""

from collections.abc import Sequence

import numpy as np
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.runs.compare.forecasts.model import FloatArray, Measured, Step
from loadwatch_backend.runs.compare.forecasts.steps import RunLoad

BLOCKS = 6


def made_step(rate: float, use: float, *, noise: float = 0.01, seed: int = 0, run: str = "r1") -> Step:
    """A step of 30 s whose blocks scatter by `noise`, and whose means are just these."""
    draw = np.random.default_rng([seed, round(rate * 1_000)])
    shares = 1 + noise * draw.normal(size=BLOCKS)
    return Step(
        run=run,
        from_ms=0,
        to_ms=30_000,
        block_seconds=5.0,
        rates=np.full(BLOCKS, float(rate)),
        uses=use * shares / shares.mean(),
    )


def made_sweep(rates: Sequence[float], demand: float, *, idle: float = 0.0, noise: float = 0.01) -> list[Step]:
    """Steps on a line, each off it by half a per cent at most."""
    return [
        made_step(rate, (idle + demand * rate) * (1 + 0.005 * (-1) ** place), noise=noise)
        for place, rate in enumerate(rates)
    ]


def made_resource(id: str, limit: float, steps: Sequence[Step], name: str = "") -> Measured:
    """A resource with a title in both languages."""
    return Measured(id=id, title=Words(f"The {id}", f"{id}の数"), name=name, limit=limit, steps=steps)


def made_load(good: FloatArray, failed: FloatArray | None = None, *, from_second: int = 0) -> RunLoad:
    """A run that begins at 1,000 s; all of it counts from `from_second` on."""
    return RunLoad(
        run="r1",
        start_ms=1_000_000,
        good=good,
        failed=np.zeros(len(good)) if failed is None else failed,
        from_second=from_second,
        to_second=len(good),
    )
