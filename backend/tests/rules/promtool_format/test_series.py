import math

import numpy as np
import pytest
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels, parse_values
from loadwatch_backend.series.store.port import STALE_NAN, STALE_NAN_BITS


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("1 2 3", [1, 2, 3]),
        ("1+2x3", [1, 3, 5, 7]),
        ("10-5x2", [10, 5, 0]),
        ("1x4", [1, 1, 1, 1, 1]),
        ("-1.5+0.5x1 _ 1e3", [-1.5, -1, None, 1000]),
        ("_x3 4", [None, None, None, 4]),
        ("1+0x2", [1, 1, 1]),
        ("Inf -Inf", [math.inf, -math.inf]),
        ("0x3", [0, 0, 0, 0]),
    ],
)
def test_values(text: str, values: list[float | None]) -> None:
    assert parse_values(text) == values


def test_stale() -> None:
    found = parse_values("1 stale stalex1")
    assert len(found) == 4
    assert np.array([STALE_NAN]).view(np.uint64)[0] == STALE_NAN_BITS
    assert np.array(found[1:], np.float64).view(np.uint64).tolist() == [STALE_NAN_BITS] * 3


@pytest.mark.parametrize("text", ["a", "1+x3", "1++2x3", "_+1x3", "1+1", "1x", "1x2000000", "0x1f", "1, 2"])
def test_refused_values(text: str) -> None:
    with pytest.raises(ValueError, match="value"):
        parse_values(text)


def test_native_histograms_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="native histograms"):
        parse_values("{{schema:1}}x3")


def test_labels() -> None:
    assert parse_labels('up{a="b", c=""}') == {"__name__": "up", "a": "b"}
    assert parse_labels('{__name__="x:y"}') == {"__name__": "x:y"}
    assert parse_labels("{}") == {}


@pytest.mark.parametrize("text", ["up == 1", 'up{a=~"b"}', "up offset 1m", "up{", "3"])
def test_refused_labels(text: str) -> None:
    with pytest.raises(ValueError, match="no series"):
        parse_labels(text)
