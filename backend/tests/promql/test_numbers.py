from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.series.promql.http.response import format_time, format_values
from loadwatch_backend.series.promql.numbers import format_json_number, format_number, format_short_number

from backend.tests.promql.properties import PROPERTY


@pytest.mark.parametrize(
    ("value", "plain", "json"),
    [
        # As Go 1.26 prints them: strconv.FormatFloat(v, 'f', -1, 64), and util/jsonutil.MarshalFloat.
        (0.0, "0", "0"),
        (-0.0, "-0", "-0"),
        (1.0, "1", "1"),
        (-2.5, "-2.5", "-2.5"),
        (0.1, "0.1", "0.1"),
        (100000.0, "100000", "100000"),
        (1e16, "10000000000000000", "10000000000000000"),
        (123456789012345680.0, "123456789012345680", "123456789012345680"),
        (1e20, "100000000000000000000", "100000000000000000000"),
        (1e21, "1000000000000000000000", "1e+21"),
        (1.5e300, "15" + "0" * 299, "1.5e+300"),
        (1e-5, "0.00001", "0.00001"),
        (1e-6, "0.000001", "0.000001"),
        (1.25e-7, "0.000000125", "1.25e-07"),
        (-5e-324, "-0." + "0" * 323 + "5", "-5e-324"),
        (float("nan"), "NaN", "NaN"),
        (float("inf"), "+Inf", "+Inf"),
        (float("-inf"), "-Inf", "-Inf"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value: float, plain: str, json: str) -> None:
    assert format_number(value) == plain
    assert format_json_number(value) == json
    assert format_values(np.array([1.0, value, 2.0])) == ["1", json, "2"]
    assert format_values(np.array([value])) == [json]


@PROPERTY
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_and_has_no_exponent(value: float) -> None:
    text = format_number(value)
    assert float(text) == value
    assert "e" not in text
    assert Decimal(text) == Decimal(repr(value))


@PROPERTY
@given(st.lists(st.floats(), max_size=20))
def test_many_values_are_written_as_each_is(values: list[float]) -> None:
    assert format_values(np.array(values)) == [format_json_number(value) for value in values]


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "0"),
        (1_700_000_000_000, "1700000000"),
        (1500, "1.500"),
        (1001, "1.001"),
        (-1, "-0.001"),
        (-61_050, "-61.050"),
    ],
)
def test_times_are_seconds_with_milliseconds(time_ms: int, text: str) -> None:
    assert format_time(time_ms) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.5, "-0.5"),
        (1e-5, "1e-05"),
        (1234567.0, "1.234567e+06"),
        (999999.0, "999999"),
        (-1e100, "-1e+100"),
        (float("inf"), "+Inf"),
    ],
)
def test_short_numbers_are_gos(value: float, text: str) -> None:
    assert format_short_number(value) == text
