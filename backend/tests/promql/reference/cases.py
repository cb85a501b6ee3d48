"""The series and queries of the reference, as one JSON document on standard output; main.go answers them.

Everything here is deterministic: the same document on every run and every machine.
"""

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

from backend.tests.promql.reference.random_queries import RandomQueries

BASE_MS = 1_700_000_400_000
"""A whole ten minutes."""
LOOKBACK_MS = 300_000
SEED, RANDOM = 20_260, 700
"""Of the random queries, and how many there are."""
MINUTE = 60_000
QUERIES_FILE = Path(__file__).parent / "queries.txt"

Value = float | str
Sample = tuple[int, Value]
Series = tuple[dict[str, str], list[Sample]]


def _named(name: str, **labels: str) -> dict[str, str]:
    return {"__name__": name, **labels}


def _ticks(step_ms: int, minutes: float = 30, first_ms: int = 0) -> list[int]:
    return list(range(first_ms, int(minutes * MINUTE) + 1, step_ms))


def _counter(
    source: random.Random, times: list[int], most: int, *, start: float = 0, reset: float = 0.0
) -> list[Sample]:
    samples: list[Sample] = []
    total = start
    for time in times:
        total += math.floor(source.random() * most)
        if source.random() < reset:
            total = math.floor(source.random() * 5)
        samples.append((time, total))
    return samples


def _wave(source: random.Random, times: list[int], height: float, noise: float, level: float) -> list[Sample]:
    return [(time, level + height * math.sin(time / 200_000) + noise * (source.random() - 0.5)) for time in times]


def _irregular(source: random.Random, least: int, most: int) -> list[int]:
    times: list[int] = []
    time = 0
    while time <= 30 * MINUTE:
        times.append(time)
        time += least + math.floor(source.random() * (most - least))
    return times


def _counters(source: random.Random) -> list[Series]:
    result: list[Series] = []
    for job in ("api", "web"):
        for instance in ("a", "b"):
            for code in ("200", "500"):
                labels = _named("requests_total", job=job, instance=instance, code=code)
                reset = 0.02 if instance == "b" else 0.0
                result.append((labels, _counter(source, _ticks(15_000), 40, reset=reset)))
    for number, (least, most) in enumerate(((3_000, 40_000), (900, 1_100), (55_000, 65_000))):
        times = _irregular(source, least, most)[:: 1 if number != 1 else 4]
        result.append((_named("jitter_total", n=str(number)), _counter(source, times, 9, start=5, reset=0.03)))
    result.append((_named("big_total"), _counter(source, _ticks(10_000), 7, start=1e15, reset=0.01)))
    result.append((_named("tenths_total"), [(time, index * 0.1) for index, time in enumerate(_ticks(10_000))]))
    result.append((_named("slow_total"), _counter(source, _ticks(2 * MINUTE), 2)))
    result.append((_named("single_total"), [(10 * MINUTE, 7.0)]))
    result.append((_named("late_total"), _counter(source, _ticks(15_000, 30, 12 * MINUTE + 4_000), 9)))
    result.append((_named("always_dropping"), [(time, 1000.0 - i) for i, time in enumerate(_ticks(20_000))]))
    return result


def _gauges(source: random.Random) -> list[Series]:
    result: list[Series] = []
    for instance, level in (("a", 10.0), ("b", -3.0), ("c", 0.0)):
        labels = _named("temperature", instance=instance, room="x" if instance != "c" else "y")
        result.append((labels, _wave(source, _ticks(15_000), 12, 5, level)))
    odd = _wave(source, _ticks(15_000), 3, 1, 0)
    for place, value in ((7, "NaN"), (8, "NaN"), (30, "+Inf"), (50, "-Inf"), (51, "NaN"), (70, "+Inf"), (71, "-Inf")):
        odd[place] = (odd[place][0], value)
    result.append((_named("odd", instance="a"), odd))
    result.append((_named("odd", instance="b"), [(time, "NaN") for time in _ticks(15_000)]))
    result.append((_named("odd", instance="c"), _wave(source, _ticks(15_000), 5, 1, 1)))
    result.append((_named("level", kind="flat"), [(time, 4.2) for time in _ticks(10_000)]))
    result.append((_named("level", kind="zero"), [(time, 0.0) for time in _ticks(10_000)]))
    result.append((_named("level", kind="steps"), [(time, float(time // 120_000)) for time in _ticks(10_000)]))
    for exponent in (-300, -9, 9, 22, 300):
        samples: list[Sample] = [(time, (1 + source.random()) * 10.0**exponent) for time in _ticks(30_000)]
        result.append((_named("scaled", exponent=str(exponent)), samples))
    for n, value in enumerate((1.7e308, 1.6e308, -1.7e308)):
        result.append((_named("huge", n=str(n)), [(time, value) for time in _ticks(30_000)]))
    result.append((_named("cancel", n="0"), [(time, 1e16) for time in _ticks(30_000)]))
    result.append((_named("cancel", n="1"), [(time, 1.0) for time in _ticks(30_000)]))
    result.append((_named("cancel", n="2"), [(time, -1e16) for time in _ticks(30_000)]))
    swing: list[Sample] = [(time, (1e16, 1.0, -1e16, 2.0)[i % 4]) for i, time in enumerate(_ticks(10_000))]
    result.append((_named("swing"), swing))
    result.append((_named("epoch"), [(time, (BASE_MS + time * 7919) / 1000) for time in _ticks(30_000)]))
    result.append((_named("seconds"), _wave(source, _ticks(1_000, 8), 2, 1, 3)))
    return result


def _gaps(source: random.Random) -> list[Series]:
    """Series that end: by stale markers, by silence, on and off."""
    regular = _ticks(15_000)
    marks: list[Sample] = [(time, "stale") for time in regular]
    late: list[Sample] = [(time, 2.0) for time in regular if time >= 15 * MINUTE]
    stale = _wave(source, regular, 5, 2, 20)
    for place in (20, 21, 40, 41, 42, 43, 80):
        stale[place] = (stale[place][0], "stale")
    silent = [sample for sample in _wave(source, regular, 5, 2, 30) if not 5 * MINUTE < sample[0] < 13 * MINUTE]
    flapping = _counter(source, regular, 9)
    flapping = [(time, "stale") if index % 10 == 9 else (time, value) for index, (time, value) in enumerate(flapping)]
    ended: list[Sample] = [sample for sample in _counter(source, regular, 9) if sample[0] <= 10 * MINUTE]
    early: list[Sample] = [(time, 1.0) for time in regular if time < 15 * MINUTE]
    early.append((15 * MINUTE, "stale"))
    killed: list[Sample] = [*ended[:-1], (10 * MINUTE, "stale")]
    return [
        (_named("gappy", how="stale", group="1"), stale),
        (_named("gappy", how="silent", group="1"), silent),
        (_named("gappy", how="flapping", group="2"), flapping),
        (_named("gappy", how="ended", group="2"), ended),
        (_named("gappy", how="killed", group="2"), killed),
        (_named("mark", m="stale", x="1"), marks),
        (_named("half", side="early"), early),
        (_named("other_half", side="late"), late),
    ]


def _joins(source: random.Random) -> list[Series]:
    times = _ticks(30_000)
    rows = [
        _named("limit", instance="a", team="red"),
        _named("limit", instance="b", team="blue"),
        _named("limit", instance="c", team="blue"),
        _named("job_limit", job="api", owner="ann"),
        _named("job_limit", job="web", owner="bob"),
        _named("twin_a", x="1"),
        _named("twin_b", x="1"),
        _named("twin_b", x="2", extra="e"),
        _named("double", k="1", v="p"),
        _named("double", k="1", v="q"),
        _named("double", k="2", v="p"),
        _named("info", instance="a", version="1.2", region=""),
        _named("info", instance="b", version="1.3", region="eu"),
    ]
    return [
        (
            {k: v for k, v in labels.items() if v},
            [(time, float(1 + math.floor(source.random() * 50))) for time in times],
        )
        for labels in rows
    ]


def _histograms(source: random.Random) -> list[Series]:
    result: list[Series] = []
    bounds = ("0.1", "0.5", "1", "2.5", "10", "+Inf")
    for path in ("/a", "/b"):
        totals = [0.0] * len(bounds)
        rows: list[list[Sample]] = [[] for _ in bounds]
        for time in _ticks(15_000):
            for _ in range(6):
                where = math.floor(source.random() ** 2 * len(bounds))
                for place in range(where, len(bounds)):
                    totals[place] += 1
            for place, total in enumerate(totals):
                rows[place].append((time, total))
        for bound, row in zip(bounds, rows, strict=True):
            result.append((_named("latency_bucket", path=path, le=bound), row))
    times = _ticks(30_000)

    def flat(name: str, le: str, value: float, **labels: str) -> None:
        result.append((_named(name, le=le, **labels), [(time, value) for time in times]))

    for le, value in (("-5", 2), ("0", 6), ("5", 7), ("+Inf", 12)):
        flat("signed_bucket", le, value)
    for le, value in (("1", 5), ("2", 3), ("3", 9), ("4", 8.9999999999999), ("+Inf", 9)):
        flat("crooked_bucket", le, value)
    for le, value in (("1", 5), ("1.0", 2), ("2", 9), ("+Inf", 12), ("many", 3)):
        flat("same_bucket", le, value)
    for le, value in (("1", 5), ("2", 7)):
        flat("open_bucket", le, value)
    flat("only_bucket", "+Inf", 7)
    for le in ("1", "2", "+Inf"):
        flat("empty_bucket", le, 0)
    for le, value, first in (("1", 3, 0), ("2", 8, 11 * MINUTE), ("+Inf", 9, 0)):
        result.append((_named("growing_bucket", le=le), [(time, float(value)) for time in times if time >= first]))
    return result


def series() -> list[Series]:
    """All series, times relative to `BASE_MS`."""
    source = random.Random(20_260)
    return [*_counters(source), *_gauges(source), *_gaps(source), *_joins(source), *_histograms(source)]


GRIDS = {
    "aligned": (5 * MINUTE, 25 * MINUTE, MINUTE),
    "unaligned": (4 * MINUTE + 7_123, 21 * MINUTE, 97_000),
    "fine": (1 * MINUTE, 5 * MINUTE, 1_000),
    "sparse": (5 * MINUTE, 25 * MINUTE, 2 * MINUTE),
    "instant": (20 * MINUTE, 20 * MINUTE, 0),
    "edge": (13 * MINUTE - 1, 13 * MINUTE - 1, 0),
}
"""Start, end and step of range queries; step 0 is an instant query."""


def queries(seed: int, count: int) -> list[tuple[str, tuple[int, int, int]]]:
    """The queries of queries.txt and `count` random ones, with the grids they are evaluated on."""
    result: list[tuple[str, tuple[int, int, int]]] = []
    grids: list[tuple[int, int, int]] = []
    for line in QUERIES_FILE.read_text().splitlines():
        if line.startswith("@ "):
            grids = [GRIDS[name] for name in line.split()[1:]]
        elif line and not line.startswith("#"):
            text = line.replace("{inside}", str((BASE_MS + 17 * MINUTE) // 1_000))
            result.extend((text, grid) for grid in grids)
    source = RandomQueries(seed, (BASE_MS + 17 * MINUTE) // 1_000)
    names = ("unaligned", "sparse", "instant")
    result.extend((source.query(), GRIDS[names[number % 3]]) for number in range(count))
    return result


def document(seed: int = SEED, count: int = RANDOM) -> dict[str, Any]:
    """What the Go program reads."""
    return {
        "engine": "github.com/prometheus/prometheus v0.315.0",
        "lookback_ms": LOOKBACK_MS,
        "series": [
            {
                "labels": labels,
                "times": [BASE_MS + time for time, _ in samples],
                "values": [value for _, value in samples],
            }
            for labels, samples in series()
        ],
        "queries": [
            {"text": text, "start": BASE_MS + start, "end": BASE_MS + end, "step": step}
            for text, (start, end, step) in queries(seed, count)
        ],
    }


if __name__ == "__main__":
    # Other random queries than those committed: `python -m backend.tests.promql.reference.cases SEED COUNT`.
    json.dump(document(*map(int, sys.argv[1:])), sys.stdout)
