import pytest
from loadwatch_backend.runs.report.findings import format_setting
from loadwatch_formats.numbers import format_change, format_duration


def test_durations() -> None:
    assert format_duration(22) == "22 s"
    assert format_duration(3_725) == "1 h 2 min"
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
