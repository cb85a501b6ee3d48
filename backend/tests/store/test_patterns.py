"""Patterns of matchers mean what RE2 and Prometheus mean."""

import pytest
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.patterns import full_matcher


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("", [""], ["a"]),
        ("a|b", ["a", "b"], ["ab", "", "a|b"]),
        ("a|", ["a", ""], ["b"]),
        (".*", ["", "a", "a\nb"], []),
        (".+", ["a", "\n"], [""]),
        ("a.b", ["axb", "a\nb", "a日b"], ["ab", "axbc", "xaxb"]),
        ("(?i)get|post", ["GET", "Post"], ["GETS"]),
        (r"\d{3}", ["200"], ["20", "2000", "٢٠٠"]),
        ("^a$", ["a"], ["a\n"]),
        ("5..|429", ["500", "429"], ["200"]),
        ("10.0.0.1:9100", ["10.0.0.1:9100", "10x0.0.1:9100"], ["10.0.0.1:910"]),
        ("日本|東京", ["日本", "東京"], ["日"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], other: list[str]) -> None:
    matches = full_matcher(pattern)
    assert [text for text in matching if not matches(text)] == []
    assert [text for text in other if matches(text)] == []


@pytest.mark.parametrize("pattern", ["(", "a**", "(?=a)", "(?<!a)b", r"(a)\1", "[z-a]", "a{2000}"])
def test_what_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="RE2") as caught:
        full_matcher(pattern)
    assert repr(pattern) in caught.value.detail


def test_no_pattern_takes_long() -> None:
    # Python's own module would need longer than the age of the universe for this.
    assert full_matcher("(a*)*b")("a" * 100_000) is False


@pytest.mark.parametrize(
    "pattern",
    [
        r"\pL{1000}",
        r"(?i)\pL{300}",
        "x{1000}" * 100,
        "a" * 20_000 + ".",
        "(" * 9_000 + "a" + ")" * 9_000 + ".",
        "a.\ud800",
    ],
)
def test_patterns_that_make_too_much_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        full_matcher(pattern)


def test_hundreds_of_hosts_are_not_too_much() -> None:
    matches = full_matcher("|".join(rf"host-{number}\.example\.com:9100" for number in range(500)))
    assert matches("host-499.example.com:9100")
    assert not matches("host-500.example.com:9100")
