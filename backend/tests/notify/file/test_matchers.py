"""Meaning is compared with Alertmanager in test_reference.py; here, what errors say."""

import pytest
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, MatcherError, MatchOperatorName, parse_utf8
from loadwatch_backend.core.text import quote


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{a=b", "expected close brace at column 5"),
        ("a=b}", "expected opening brace at column 4"),
        ("a b", "expected an operator such as '=', '!=', '=~' or '!~' at column 3"),
        ("=b", "expected label name at column 1"),
        ("a!b", "expected '=' or '~' after '!' at column 3"),
        ("'a'=b", "put it in double quotes"),
        ('a=~"(?=b)"', "no look-around"),
        ('"a=b', "missing end quote"),
    ],
)
def test_an_error_says_where(text: str, words: str) -> None:
    with pytest.raises(MatcherError) as caught:
        parse_utf8(text)
    assert words in str(caught.value)


def test_patterns_match_the_whole_value_and_no_line_feed() -> None:
    matcher = LabelMatcher("a", MatchOperatorName.MATCHES, "b.")
    assert matcher.matches("bc")
    assert not matcher.matches("bcd")
    assert not matcher.matches("b\n")


def test_texts_as_go_quotes_them() -> None:
    assert quote('a"\\\n\x01\x7fü\u200b\U0001f600\U000e0001') == (
        '"a\\"\\\\\\n\\x01\\x7fü\\u200b\U0001f600\\U000e0001"'
    )
