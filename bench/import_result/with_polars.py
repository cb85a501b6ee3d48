# pyright: basic
# Runs in an environment of its own that has polars, which the project does not.
"""The same figures with polars alone: `python with_polars.py FILE OUTPUT.npz`. Nothing is kept but the figures."""

import sys

import numpy as np
import polars as pl  # pyright: ignore[reportMissingImports] - see above

NAMES = ["time", "code", "latency", "out", "in", "error", "body", "attack", "seq", "method", "url", "headers"]
QUANTILES = (0.5, 0.9, 0.95, 0.99)


def main(source: str, target: str) -> None:
    """Counts by status and exact percentiles, by nearest rank, of each second."""
    frame = pl.scan_csv(source, has_header=False, new_columns=NAMES, schema_overrides={"error": pl.String})
    rank = [
        pl.col("latency").sort().get(((pl.len() * round(q * 1000) + 999) // 1000 - 1).cast(pl.UInt32)).alias(f"q{at}")
        for at, q in enumerate(QUANTILES)
    ]
    seconds = (
        frame.select(pl.col("time") // 1_000_000_000, "code", "latency", "in", "out")
        .group_by("time")
        .agg(
            pl.len().alias("requests"),
            (pl.col("code") == 200).sum().alias("ok"),
            *rank,
            pl.col("latency").max().alias("max"),
            pl.col("in").sum(),
            pl.col("out").sum(),
        )
        .sort("time")
        .collect()
    )
    latency = seconds.select("q0", "q1", "q2", "q3", "max").to_numpy()
    np.savez(target, latency=latency, requests=seconds["requests"].to_numpy())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
