import pytest
from loadwatch_backend.core.text import parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30.0),
        (" 1_000 ", 1_000.0),
        ("1,000", 1_000.0),
        ("250ms", 0.25),
        ("2s", 2.0),
        ("1m", 60.0),
        ("4k", 4_000.0),
        *[("16MiB", 16_777_216.0), ("50%", 0.5), ("1e3", 1_000.0), ("-1", -1.0)],
    ],
)
def test_parameters_are_read_as_numbers(text: str, value: float) -> None:
    assert parse_number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "on", "s", "innodb", "1e999", "nan-ish", "inf"])
def test_words_are_no_numbers(text: str) -> None:
    assert parse_number(text) is None
