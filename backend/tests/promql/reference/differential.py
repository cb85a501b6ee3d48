"""Random expressions, answered by Prometheus' engine and by ours: what differs, and is not in the guide, is printed.

    make differential DIFFERENTIAL_ARGS="7 3000"      # seed and number; needs Go

Samples arrive at our store in no order; `cases.py` has their gaps, resets, stale markers and irregular intervals.
"""

import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.port import STALE_NAN

from backend.tests.promql.reference.cases import document
from backend.tests.promql.test_evaluate import check_query
from backend.tests.rules.promtool_format.store import MemoryStore

FOLDER = Path(__file__).parent
DOCUMENTED = (
    # Prometheus forgets the offset there.
    re.compile(r"timestamp\((?:[^()]*?) @ [^()]*? ?(?:\(\) )?offset"),
    # Exact here, off around 1e9 there.
    re.compile(r"predict_linear|deriv"),
    # Values that differ in the last bit are other labels.
    re.compile(r"count_values"),
    re.compile(r"std(?:var|dev)\b.*ts_of_|std(?:var|dev)\b.*time"),
)


def answers(seed: int, count: int) -> dict[str, Any]:
    """The document with what Prometheus says of random queries alone."""
    asked = document(seed, count)
    asked["queries"] = asked["queries"][-count:]
    with tempfile.TemporaryDirectory() as out:
        command = ["go", "run", "-buildvcs=false", ".", "-out", out]
        subprocess.run(command, cwd=FOLDER, input=json.dumps(asked).encode(), check=True)
        with gzip.open(Path(out) / "prometheus.json.gz") as file:
            return json.load(file)


def engine_of(found: dict[str, Any]) -> Engine:
    """Ours, with the same samples in no order."""
    store = MemoryStore()
    everything: list[dict[str, Any]] = found["series"]
    rows: list[tuple[dict[str, str], int, float]] = [
        (series["labels"], time, STALE_NAN if value == "stale" else float(value))
        for series in everything
        for time, value in zip(series["times"], series["values"], strict=True)
    ]
    random.Random(1).shuffle(rows)
    for labels, time, value in rows:
        store.put(labels, [(time, value)])
    return Engine(store, EngineSettings(lookback_ms=found["lookback_ms"]))


def main(seed: int, count: int) -> int:
    """How many differ."""
    found = answers(seed, count)
    engine = engine_of(found)
    different = documented = 0
    for query in found["queries"]:
        try:
            check_query(engine, query)
        except Exception as error:
            if any(one.search(query["text"]) for one in DOCUMENTED):
                documented += 1
                continue
            different += 1
            times = f"{query['start']} {query['end']} {query['step']}"
            sys.stdout.write(f"{query['text']}\n  {times}: {type(error).__name__} {str(error)[:300]!r}\n")
    refused = sum("error" in query for query in found["queries"])
    sys.stdout.write(
        f"seed {seed}: {count} expressions, {refused} of them refused by Prometheus; {different} differ, {documented}"
        " more as the guide says\n"
    )
    return different


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
