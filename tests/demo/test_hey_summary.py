from pathlib import Path

import pytest

from examples.demo.hey_summary import OUTCOMES, parse_summary

FIXTURES = Path(__file__).parent / "fixtures"


def summary(name: str) -> dict[str, int]:
    return parse_summary((FIXTURES / name).read_text(encoding="utf-8")).outcomes


def test_answers_and_errors_are_counted_by_outcome() -> None:
    assert summary("hey-mixed.txt") == {"ok": 24, "http_5xx": 20, "reset": 11, "timeout": 60}


def test_nobody_listening_is_refused() -> None:
    assert summary("hey-refused.txt") == {"refused": 40}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("read tcp 127.0.0.1:40000->127.0.0.1:8080: read: connection reset by peer", "reset"),
        ("write tcp 127.0.0.1:40000->127.0.0.1:8080: write: broken pipe", "reset"),
        ("dial tcp 10.0.0.1:8080: connect: connection timed out", "timeout"),
        ("dial tcp: lookup nowhere.test: no such host", "dns"),
        ("dial tcp 127.0.0.1:8080: socket: too many open files", "other"),
    ],
)
def test_an_error_has_a_kind(text: str, outcome: str) -> None:
    page = f'Status code distribution:\n\nError distribution:\n  [7]\tGet "http://127.0.0.1:8080/": {text}\n'
    assert parse_summary(page).outcomes == {outcome: 7}
    assert outcome in OUTCOMES


def test_redirects_are_fine_and_client_errors_are_not() -> None:
    page = "Status code distribution:\n  [304]\t5 responses\n  [404]\t2 responses\n  [503]\t1 responses\n"
    parsed = parse_summary(page)
    assert parsed.outcomes == {"ok": 5, "http_4xx": 2, "http_5xx": 1}
    assert parsed.total == 8


def test_another_text_is_no_summary() -> None:
    with pytest.raises(ValueError, match="not the summary of hey"):
        parse_summary("Usage: hey [options...] <url>")
