"""Numbers as the terminal, reports and the page say them; the page's test reads the same table."""

import json
import math
from pathlib import Path

import pytest
from loadwatch_formats.numbers import format_count, format_value


@pytest.mark.parametrize(
    ("value", "unit", "text"), json.loads(Path(__file__).with_name("numbers.json").read_text(encoding="utf-8"))
)
def test_a_number_reads_the_same_everywhere(value: float | None, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


def test_numbers_without_a_unit_of_ours_and_numbers_that_are_none() -> None:
    assert format_value(3, "connections") == "3 connections"
    assert format_value(0.3, "") == "0.300"
    assert [format_value(one, "count") for one in (math.nan, math.inf, -math.inf)] == ["–", "∞", "−∞"]
    assert format_value(1e300, "count").endswith("T")


def test_a_count_is_told_to_the_last_one() -> None:
    assert [format_count(one) for one in (None, 0, 18_000, 1_234.5, -1_234.5)] == [
        *("–", "0", "18,000", "1,235", "-1,235"),
    ]
