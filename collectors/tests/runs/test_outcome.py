import pytest
from loadwatch_collectors.runs.streams.event import OUTCOMES
from loadwatch_collectors.runs.streams.outcome import outcome_of_error, outcome_of_ko, outcome_of_status


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "timeout"),
        ("dial tcp 127.0.0.1:1: connect: connection refused", "refused"),
        ("dial tcp: lookup nowhere.invalid: no such host", "dns"),
        ("read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer", "reset"),
        ('Get "http://a/": EOF', "reset"),
        ("j.n.ConnectException: finishConnect(..) failed: Connection refused", "refused"),
        ("something else", "other"),
    ],
)
def test_errors(text: str, outcome: str) -> None:
    assert outcome_of_error(text) == outcome
    assert outcome_of_ko(text) == outcome


def test_statuses_and_messages() -> None:
    assert [outcome_of_status(status) for status in (101, 204, 302, 404, 599, 0, 999)] == [
        "ok",
        "ok",
        "ok",
        "http_4xx",
        "http_5xx",
        "other",
        "other",
    ]
    assert outcome_of_ko("status.find.is(200), but actually found 404") == "http_4xx"
    assert outcome_of_ko("status.find.in([200, 209], 304), found 500") == "http_5xx"
    assert outcome_of_ko("substring(x).find.exists, found nothing") == "assertion"
    assert {"ok", "timeout", "http_4xx", "assertion"} <= set(OUTCOMES)
