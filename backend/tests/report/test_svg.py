import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
from loadwatch_backend.runs.report.findings import elapsed_text, elapsed_ticks, value_ticks
from loadwatch_backend.runs.report.svg import Chart, Line, Mark, draw_chart, reduce_line


def chart(values: list[float], **more: Any) -> str:
    given: dict[str, Any] = {"title": "T", "unit": "seconds", "span_seconds": float(len(values)), **more}
    return str(draw_chart(Chart(lines=[Line(name="a<b", values=np.array(values))], **given)))


def paths(svg: str) -> list[str]:
    return [
        element.get("d", "")
        for element in ElementTree.fromstring(svg).iter("path")
        if "line" in element.get("class", "")
    ]


def test_a_gap_breaks_the_line_and_a_lone_point_shows() -> None:
    (path,) = paths(chart([1.0, 2.0, float("nan"), 3.0, float("nan"), 1.0, 2.0]))
    assert path.count("M") == 3
    assert path.count("h1.5") == 1


def test_the_scale_begins_at_zero_and_the_highest_value_is_inside() -> None:
    (path,) = paths(chart([0.0, 7.3]))
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
    assert heights[0] == 194.0
    assert 10.0 <= heights[1] < 60.0


def test_nothing_but_gaps_is_still_a_chart() -> None:
    assert paths(chart([float("nan")] * 3)) == [""]


def test_a_reader_of_screens_hears_the_range() -> None:
    label = ElementTree.fromstring(chart([0.1, 0.25])).get("aria-label")
    assert label == "T. a<b: 100 ms – 250 ms"


def test_steady_window_and_marks_are_drawn() -> None:
    svg = chart([1.0] * 10, steady=(2.0, 8.0), marks=[Mark(seconds=5.0, text="deploy & go")])
    assert 'class="steady"' in svg
    assert "deploy &amp; go" in svg


def test_a_long_line_keeps_its_spikes() -> None:
    values = np.ones(100_000)
    values[55_555] = 9.0
    values[77_777] = 0.0
    values[:1_000] = np.nan
    reduced = reduce_line(values)
    assert len(reduced) <= 400
    assert np.nanmax(reduced) == 9.0
    assert np.nanmin(reduced) == 0.0
    assert np.isnan(reduced[0])


def test_ticks_are_round() -> None:
    assert value_ticks(7.3) == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert value_ticks(0.0) == [0.0, 1.0]
    assert value_ticks(400.0) == [0.0, 100.0, 200.0, 300.0, 400.0]
    assert elapsed_ticks(300.0)[:3] == [0.0, 60.0, 120.0]
    assert len(elapsed_ticks(86_400.0 * 3)) <= 10
    assert [elapsed_text(one) for one in (5.0, 65.0, 3_725.0)] == ["0:05", "1:05", "1:02:05"]
