import re

import pytest
from loadwatch_formats.outcomes import OUTCOMES, Outcome, Sorter, outcome_of_status

from formats.tests.outcome_texts import TEXTS

SORTER = Sorter(re.compile)


@pytest.mark.parametrize(("outcome", "text"), TEXTS)
def test_texts_of_the_tools(outcome: Outcome, text: str) -> None:
    assert SORTER.of_error(text) is outcome


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
    assert SORTER.of_error(text) == outcome
    assert SORTER.of_gatling(text) == outcome


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
    assert SORTER.of_gatling("status.find.is(200), but actually found 404") == "http_4xx"
    assert SORTER.of_gatling("status.find.in([200, 209], 304), found 500") == "http_5xx"
    assert SORTER.of_gatling("substring(x).find.exists, found nothing") == "assertion"
    assert {"ok", "timeout", "http_4xx", "assertion"} <= set(OUTCOMES)


@pytest.mark.parametrize(
    ("sample", "outcome"),
    [
        (("404", "Not Found", ""), Outcome.HTTP_4XX),
        (("200", "OK", "expected to contain x"), Outcome.ASSERTION),
        ((" 200 ", "", ""), Outcome.ASSERTION),
        (("2000", "connection refused", ""), Outcome.REFUSED),
        (("Non HTTP response code: java.net.SocketTimeoutException", "Read timed out", "x"), Outcome.TIMEOUT),
        (("", "substring(x)", ""), Outcome.OTHER),
        (("", "", "expected to contain x"), Outcome.ASSERTION),
    ],
)
def test_samples_of_jmeter(sample: tuple[str, str, str], outcome: Outcome) -> None:
    assert SORTER.of_jmeter(*sample, success=False) is outcome
    assert SORTER.of_jmeter(*sample, success=True) is Outcome.OK


@pytest.mark.parametrize(
    ("status", "code", "error", "expected", "outcome"),
    [
        (0, "1050", "request timeout", "false", Outcome.TIMEOUT),
        (0, "1101", "lookup: no such host", "false", Outcome.DNS),
        (0, "1211", "dial: i/o timeout", "false", Outcome.TIMEOUT),
        (0, "1212", "", "false", Outcome.REFUSED),
        (0, "1631", "http2: stream error", "false", Outcome.RESET),
        (0, "1310", "x509: unknown authority", "false", Outcome.OTHER),
        (503, "1503", "", "true", Outcome.HTTP_5XX),
        (302, "", "", "true", Outcome.OK),
        (0, "", "", "", Outcome.OK),
        (0, "", "", "false", Outcome.OTHER),
    ],
)
def test_outcomes_of_tags(status: int, code: str, error: str, expected: str, outcome: Outcome) -> None:
    assert SORTER.of_k6(status, code, error, expected) is outcome
