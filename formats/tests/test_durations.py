import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.durations import format_duration, parse_duration, parse_go_duration


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("15s", 15_000),
        ("1h30m", 5_400_000),
        ("100ms", 100),
        ("1y2w3d4h5m6s7ms", 33_019_506_007),
        ("1d", 86_400_000),
        ("30s", 30_000),
        ("1d2h3m4s5ms", 93_784_005),
    ],
)
def test_parse(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "1.5s",
        "s",
        "-1m",
        "1m1h",
        "1 h",
        "1m\n",
        "10 minutes",
        "300y",
        "1.5h",
        "30m1h",
        "-1s",
        "1" * 5_000 + "y",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0, "0s"), (90_000, "1m30s"), (604_800_000, "1w"), (691_200_000, "8d"), (1, "1ms")]
)
def test_format(milliseconds: int, text: str) -> None:
    assert format_duration(milliseconds) == text


@given(st.integers(min_value=0, max_value=10**12))
def test_round_trip(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("0", 0), ("1.5µs", 1.5e-6), ("250ms", 0.25), ("1h0m0.5s", 3600.5), ("12ns", 1.2e-8), ("-2s", -2)],
)
def test_durations_of_go(text: str, seconds: float) -> None:
    assert parse_go_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["2562048h", "9" * 400 + "s", "-" + "9" * 400 + "ns"])
def test_what_go_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="292 years"):
        parse_go_duration(text)


@pytest.mark.parametrize("text", ["", "5", "1d", "s", "1s 2s"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_go_duration(text)
