import pytest
from loadwatch_collectors.settings import parse_bytes, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1", 1.0), ("0.25", 0.25), ("500ms", 0.5), ("5m", 300.0), ("1h30m", 5400.0), ("7d", 604_800.0)],
)
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 parsecs", "-1", "nan", "inf", "1x"])
def test_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"), [("100", 100), ("64MB", 64_000_000), ("1GiB", 2**30), ("1.5 KB", 1500), ("2kib", 2048)]
)
def test_bytes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "many", "5 parsecs", "-1"])
def test_not_bytes(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_bytes(text)


def test_more_bytes_than_there_are() -> None:
    with pytest.raises(ValueError, match="more than there is"):
        parse_bytes("9" * 400 + "MB")
