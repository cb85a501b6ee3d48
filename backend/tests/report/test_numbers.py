import math

import pytest
from loadwatch_backend.runs.report.numbers import format_change, format_duration, format_setting, format_value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_204.0, "per_second", "1,204/s"),
        (0.0124, "seconds", "12.4 ms"),
        (3.32e9, "bytes", "3.09 GiB"),
        (0.852, "ratio", "85.2%"),
        (0.000_92, "seconds", "920 µs"),
        (0.0, "seconds", "0 s"),
        (12_345_678.0, "count", "12.3M"),
        (9_999.0, "count", "9,999"),
        (119.0, "seconds", "119 s"),
        (125.0, "seconds", "2 min 05 s"),
        (2_048.0, "bytes_per_second", "2 KiB/s"),
        (None, "count", "–"),
        (math.nan, "count", "–"),
        (math.inf, "seconds", "∞"),
        (-0.05, "seconds", "-50 ms"),
        (0.3, "", "0.300"),
    ],
)
def test_values_read_as_on_the_page(value: float | None, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


def test_durations() -> None:
    assert format_duration(22) == "22 s"
    assert format_duration(3_725) == "1 h 02 min"
    assert format_duration(273_600) == "3 d 4 h"


def test_changes_have_their_sign() -> None:
    assert [format_change(one) for one in (0.125, -0.03, 0.0, None)] == ["+12.5%", "−3%", "±0%", "–"]


@pytest.mark.parametrize(
    ("text", "unit", "shown"),
    [
        ("134217728", "bytes", "128 MiB"),
        ("60", "count", "60"),
        ("1500", "milliseconds", "1.50 s"),
        ("O_DIRECT", "", "O_DIRECT"),
        (None, "bytes", "–"),
    ],
)
def test_settings_have_their_units(text: str | None, unit: str, shown: str) -> None:
    assert format_setting(text, unit) == shown
