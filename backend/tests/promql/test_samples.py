"""Windows and look-back against the obvious loop, with times on and beside every boundary."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.series.promql.functions.rates import RATES
from loadwatch_backend.series.promql.samples import Samples, cut_windows, evaluate_selector
from loadwatch_backend.series.promql.value import Grid
from loadwatch_backend.series.store.port import STALE_NAN_BITS

from backend.tests.promql.properties import PROPERTY

STALE = "stale"
Row = tuple[int, float | str]


@dataclass(frozen=True)
class Case:
    series: list[list[Row]]
    grid: Grid
    offset_ms: int
    span_ms: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    value = st.one_of(st.integers(0, 5).map(float), st.just(STALE))
    times = st.lists(st.integers(0, 40), unique=True, max_size=25).map(sorted)
    series = [[(time, draw(value)) for time in draw(times)] for _ in range(draw(st.integers(1, 4)))]
    grid = Grid(start_ms=draw(st.integers(-5, 45)), step_ms=draw(st.integers(1, 12)), count=draw(st.integers(1, 8)))
    return Case(series, grid, draw(st.integers(-10, 10)), draw(st.integers(1, 20)))


def _samples(series: list[list[Row]]) -> Samples:
    rows = [row for one in series for row in one]
    values = np.array([np.nan if value == STALE else float(value) for _, value in rows], dtype=np.float64)
    stale = [place for place, (_, value) in enumerate(rows) if value == STALE]
    values.view(np.uint64)[stale] = STALE_NAN_BITS
    return Samples(
        labels=[{"i": str(number)} for number in range(len(series))],
        offsets=np.cumsum([0, *map(len, series)], dtype=np.int64),
        timestamps=np.array([time for time, _ in rows], dtype=np.int64),
        values=values,
    )


@PROPERTY
@given(cases())
def test_an_instant_selector_sees_the_newest_sample_in_its_look_back(case: Case) -> None:
    matrix = evaluate_selector(_samples(case.series), case.grid.times_ms() - case.offset_ms, case.span_ms)
    for number, rows in enumerate(case.series):
        for step, time in enumerate((case.grid.times_ms() - case.offset_ms).tolist()):
            seen = [row for row in rows if time - case.span_ms < row[0] <= time]
            expected = seen[-1][1] if seen and seen[-1][1] != STALE else None
            found = float(matrix.values[number, step]) if matrix.present[number, step] else None
            assert found == expected


@PROPERTY
@given(cases())
def test_windows_are_open_on_the_left_and_without_stale_markers(case: Case) -> None:
    samples = _samples(case.series)
    windows = cut_windows(samples, case.grid.times_ms() - case.offset_ms, case.grid, case.span_ms)
    for number, rows in enumerate(case.series):
        for step, time in enumerate((case.grid.times_ms() - case.offset_ms).tolist()):
            expected = [row for row in rows if time - case.span_ms < row[0] <= time and row[1] != STALE]
            part = slice(windows.first[number, step], windows.end[number, step])
            found = zip(windows.samples.timestamps[part].tolist(), windows.samples.values[part].tolist(), strict=True)
            assert list(found) == expected


@PROPERTY
@given(cases())
def test_resets_and_changes_are_counted_between_samples_of_one_window(case: Case) -> None:
    samples = _samples(case.series)
    windows = cut_windows(samples, case.grid.times_ms() - case.offset_ms, case.grid, case.span_ms)
    if not len(windows.samples.timestamps):
        return
    drops, present = RATES["resets"](windows)
    moves, _ = RATES["changes"](windows)
    with np.errstate(all="ignore"):
        increases, increasing = RATES["increase"](windows)
    for place in np.ndindex(windows.counts.shape):
        values = windows.samples.values[windows.first[place] : windows.end[place]].tolist()
        pairs = list(pairwise(values))
        assert present[place] == (len(values) > 0)
        assert increasing[place] == (len(values) > 1)
        if values:
            assert drops[place] == sum(after < before for before, after in pairs)
            assert moves[place] == sum(after != before for before, after in pairs)
        if increasing[place]:
            counted = sum(after - before if after >= before else after for before, after in pairs)
            # Extrapolation only scales what was counted, by at least 1.
            assert increases[place] >= counted - 1e-9
            assert (increases[place] == 0) == (counted == 0)
