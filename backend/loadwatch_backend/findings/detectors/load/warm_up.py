"""The first part of the measured window was slower than the rest: the system was still warming up."""

import numpy as np

from loadwatch_backend.findings.engine import look_of
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.numbers import duration, duration_ja, figure
from loadwatch_backend.findings.window import Load, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

PARTS = 6
LEAST_SECONDS = 30.0
SLOWER = 1.5
LEAST_SLOWER_SECONDS = 0.005
LESS = 0.9
STEADY = 1.25
"""By how much the later parts may differ from each other and still be level."""
EVEN_LOAD = 1.1

KIND = Kind(
    id="warm-up-in-window",
    severity=Severity.INFO,
    title=Words("Warm-up inside the measured window", "計測区間にウォームアップが含まれる"),
    explanation=Words(
        "Caches fill, connections are opened, code is compiled, partitions are split: the first requests are slower "
        "than those that follow. Figures over a window that holds this part say less than the system can do.",
        "キャッシュの充填、接続の確立、コンパイル、分割などにより最初のリクエストは遅い。この部分を含む区間の値は"
        "システムの実力より低く出る。",
    ),
    rule=Rule(
        text=Words(
            "Leave out the initial transient: measure from where the mean no longer moves in one direction.",
            "初期の過渡状態は除き、平均が一方向に動かなくなってから計測する。",
        ),
        source="R. Jain, The Art of Computer Systems Performance Analysis (1991), section 25.3",
    ),
    refuted_by=Words(
        "A longer run in which latency goes on falling, or a second run that begins just as fast as it ends.",
        "より長く流しても遅延が下がり続けること、または次の試験が最初から同じ速さであること。",
    ),
)


def look(window: Window) -> Look:
    """At most one finding, on the steady window of a run."""
    load, steady = window.load, window.steady
    if load is None or steady is None:
        return Look()
    length = steady.stop - steady.start
    if length * window.step_seconds < LEAST_SECONDS or length < PARTS * 3:
        return Look()
    median, rate = _parts(load.p50, steady), _parts(load.rate, steady)
    good = _parts(load.outcomes.get("ok", np.full(window.grid.count, np.nan)), steady)
    slower = _warms(median, SLOWER) and median[0] - float(np.median(median[PARTS // 2 :])) >= LEAST_SLOWER_SECONDS
    # The answers have to change while what is sent does not, or the load itself did.
    even = bool(np.isfinite(rate).all()) and rate.max() <= EVEN_LOAD * rate.min()
    climbs = _warms(1 / np.maximum(good, 1e-9), 1 / LESS) if np.isfinite(good).all() else False
    asked = _parts(load.target, steady)
    even_asked = bool(np.isfinite(asked).all()) and asked.max() <= EVEN_LOAD * asked.min()
    users = _parts(load.users, steady)
    even_users = bool(np.isfinite(users).all()) and users.max() <= EVEN_LOAD * max(float(users.min()), 1e-9)
    if (slower and (even or even_asked or even_users)) or (climbs and (even or even_asked or even_users)):
        return look_of(_finding(window, load, steady, median, good), None)
    if not np.isfinite(median).all():
        return Look()
    return look_of(
        None,
        Words(
            f"The median was {duration(float(median[0]))} in the first sixth of the steady window and "
            f"{duration(float(median[-1]))} in the last.",
            f"定常区間の最初の1/6の中央値は{duration_ja(float(median[0]))}、最後は{duration_ja(float(median[-1]))}。",
        ),
    )


def _parts(values: FloatArray, steady: slice) -> FloatArray:
    """Medians of the parts of the window; NaN where one has too few values."""
    found: list[float] = []
    for part in np.array_split(values[steady], PARTS):
        known = part[np.isfinite(part)]
        found.append(float(np.median(known)) if known.size >= 3 else float("nan"))
    return np.array(found, dtype=np.float64)


def _warms(levels: FloatArray, factor: float) -> bool:
    """Whether the first parts are higher than the later ones, fall, and those are level."""
    if not np.isfinite(levels).all():
        return False
    later = levels[PARTS // 2 :]
    settled = float(np.median(later))
    falls = levels[0] >= levels[1] >= settled * 0.95
    return bool(falls and settled > 0 and levels[0] >= factor * settled and later.max() <= STEADY * later.min())


def _finding(window: Window, load: Load, steady: slice, median: FloatArray, good: FloatArray) -> Finding:
    settled = float(np.median(median[PARTS // 2 :]))
    level = next((place for place in range(PARTS) if median[place] <= 1.1 * settled), PARTS // 2)
    seconds = level * (steady.stop - steady.start) / PARTS * window.step_seconds
    first, last = float(good[0]), float(np.median(good[PARTS // 2 :]))
    evidence: list[Evidence] = [
        show(
            window,
            Words(
                f"The median fell from {duration(float(median[0]))} to {duration(settled)}.",
                f"中央値は{duration_ja(float(median[0]))}から{duration_ja(settled)}に下がった。",
            ),
            link=Link.EFFECT,
            expression='max(loadtest_request_duration_seconds{quantile="0.5"})',
            unit=Unit.SECONDS,
            values=load.p50,
            value=float(median[0]),
            at=steady.start,
            limit=settled,
        )
    ]
    if np.isfinite(first + last) and first < LESS * last:
        evidence.append(
            show(
                window,
                Words(
                    f"Good answers rose from {figure(first)}/s to {figure(last)}/s.",
                    f"正常応答は毎秒{figure(first)}件から{figure(last)}件に増えた。",
                ),
                link=Link.EFFECT,
                expression='sum(rate(loadtest_requests_total{outcome="ok"}[5s]))',
                unit=Unit.PER_SECOND,
                values=load.outcomes["ok"],
                value=first,
                at=steady.start,
            )
        )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The first {duration(seconds)} of the steady window are warm-up: the median fell from "
            f"{duration(float(median[0]))} to {duration(settled)} and stayed there.",
            f"定常区間の最初の{duration_ja(seconds)}はウォームアップ。中央値は{duration_ja(float(median[0]))}から"
            f"{duration_ja(settled)}に下がって安定した。",
        ),
        from_ms=window.grid.time_ms(steady.start),
        to_ms=window.grid.time_ms(min(steady.start + round(seconds / window.step_seconds), steady.stop - 1)),
        labels={},
        evidence=evidence,
        steps=[
            Step(
                text=Words(
                    f"Let the steady window of this run begin {duration(seconds)} later, and send load for that long "
                    "before you measure next time.",
                    f"定常区間の開始を{duration_ja(seconds)}遅らせ、次回は計測前にその時間だけ負荷をかける。",
                )
            )
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=())
