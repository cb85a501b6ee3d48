import pytest
from loadwatch_collectors.settings import Amount, parse_bytes, parse_duration, parse_limit


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


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("100Mbit/s", 12_500_000, "bytes_per_second"),
        ("1 Gbit/s", 125_000_000, "bytes_per_second"),
        ("800 bit/s", 100, "bytes_per_second"),
        ("10MB/s", 10_000_000, "bytes_per_second"),
        ("1.5 MiB/s", 1.5 * 2**20, "bytes_per_second"),
        ("4GiB", 4 * 2**30, "bytes"),
        ("1 core", 1, "cores"),
        ("0.5 vCPU", 0.5, "cores"),
        ("200 connections", 200, "connections"),
        ("3000 iops", 3000, "operations_per_second"),
        ("500requests/s", 500, "requests_per_second"),
    ],
)
def test_limit(text: str, value: float, unit: str) -> None:
    assert parse_limit(text) == Amount(value, unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "100",
        "0 cores",
        "-1 core",
        "100Mb/s",
        "100Mbps",
        "1 apple",
        "1e3 cores",
        "9" * 400 + " cores",
        "core",
        "1 " * 99,
    ],
)
def test_not_a_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit; write it like 100Mbit/s"):
        parse_limit(text)
