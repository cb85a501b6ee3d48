import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.rules.durations import format_duration, parse_duration


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
    ],
)
def test_parse(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "5", "1.5s", "s", "-1m", "1m1h", "1 h", "1m\n", "10 minutes", "300y"])
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
