"""What went wrong with the load, of its seconds or of its totals only."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.symptoms import find_symptoms
from loadwatch_backend.findings.window import Baseline, Counts, Start, Totals, Window

from backend.tests.findings.windows import load, steps, window

BROKEN = Words("Threshold not met: p95 < 300 ms (measured 1.2 s).", "閾値未達: p95 < 300 ms(実測1.2秒)。")


def _against(p95: float) -> Window:
    baseline = Baseline(name="Monday", other=Start(facts={}, p95=0.1), own=Start(facts={}, p95=p95))
    return replace(window({}, load=load(100.0)), baseline=baseline)


def _totals(**outcomes: float) -> Window:
    return replace(window({}), totals=Totals(requests=round(sum(outcomes.values())), outcomes=outcomes))


SAWTOOTH = np.where(np.arange(60) % 10 < 5, 200.0, 0.0)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (_totals(ok=900, timeout=70, refused=30), "100 of 1,000 requests failed (10 %); most timed out."),
        (_totals(ok=213, reset=72_002), "72,002 of 72,215 requests failed (99.7 %); most were reset."),
        (replace(window({}), of_run=True), "Nothing tells of this run's requests."),
        (_totals(http_5xx=1), "1 of 1 requests failed (100 %); most were answered 5xx."),
        (window({}, load=load(100.0, http_5xx=2.0)), "120 of 6,120 requests failed (2.0 %); most were answered 5xx."),
        (replace(window({}), totals=Totals(broken=[BROKEN])), BROKEN.en),
        (
            replace(window({}), totals=Totals(requests=900, fastest=0.01, median=0.015, p95=1.7)),
            "5 % of the requests took 1.7 s or more, and half of them 15 ms or less.",
        ),
        (
            replace(window({}), totals=Totals(requests=900, fastest=0.1, median=1.26, p95=1.9)),
            "Half of the requests took 1.3 s or more; the fastest took 100 ms.",
        ),
        (
            replace(window({}), totals=Totals(requests=900, fastest=0.01, median=0.02, p95=0.062, slowest=5.1)),
            "The slowest request took 5.1 s; 95 % took 62 ms or less.",
        ),
        (_against(0.4), "p95 was 400 ms, against 100 ms in Monday."),
        (
            window({}, load=load(SAWTOOTH)),
            "The load stopped 5 times, for 5.0 s at most; usually it was 100 requests/s.",
        ),
        (window({}, counts=Counts(accepted=18_000, stored=16_120)), "1,880 of 18,000 accepted rows are not in the"),
        (
            window({}, counts=Counts(accepted=18_000, stored=9_000, rows=17_000)),
            "1,000 of 18,000 accepted rows are not",
        ),
    ],
    ids=[
        "totals",
        "nearly all",
        "untold",
        "the only one",
        "seconds",
        "threshold",
        "a slow tail",
        "waited",
        "stalled",
        "slower",
        "stops",
        "rows",
        "table",
    ],
)
def test_a_symptom_is_named(seen: Window, said: str) -> None:
    (symptom,) = find_symptoms(seen)
    assert symptom.en.startswith(said)
    assert symptom.ja


@pytest.mark.parametrize(
    "seen",
    [
        window({}),
        window({}, load=load(100.0, timeout=0.1)),
        _totals(ok=1_000, timeout=3),
        _against(0.14),
        replace(window({}), totals=Totals(requests=900, fastest=0.001, median=0.09, p95=0.49)),
        replace(window({}), totals=Totals(requests=900, fastest=0.3, median=1.4, p95=6.9)),
        replace(window({}), totals=Totals(requests=900, fastest=None, median=1.4)),
        replace(window({}), totals=Totals(requests=900, fastest=0.01, median=0.02, p95=0.062, slowest=2.9)),
        window({}, load=load(steps((20, 100.0), (1, 0.0), (39, 100.0)))),
        window({}, load=load(np.where(np.arange(60) % 3 == 0, 1.0, 0.0))),
        window({}, load=load(steps((2, 0.0), (56, 100.0), (2, 0.0)))),
        window({}, counts=Counts(accepted=18_000, stored=17_000, rows=18_000)),
        window({}, counts=Counts(stored=17_000)),
    ],
    ids=[
        "nothing",
        "few",
        "few of totals",
        "as before",
        "fast",
        "even",
        "no fastest",
        "one late answer",
        "one pause",
        "slow pace",
        "ends",
        "all rows",
        "not counted",
    ],
)
def test_what_is_no_symptom(seen: Window) -> None:
    assert find_symptoms(seen) == []
