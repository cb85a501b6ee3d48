"""The live view and the importers sort failures alike, or figures would move between kinds when the import comes."""

from itertools import product

import pytest
from loadwatch_backend.importers import outcomes
from loadwatch_backend.importers.tools.gatling import requests as gatling
from loadwatch_backend.importers.tools.jmeter import samples as jmeter
from loadwatch_backend.importers.tools.k6 import points as k6_points
from loadwatch_backend.records.k6_codes import K6_KINDS
from loadwatch_backend.records.model import OUTCOMES
from loadwatch_backend.runs.analysis.stream import k6_outcome
from loadwatch_collectors.runs.streams import event, outcome

TEXTS = (
    'Get "http://h/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    'Get "http://h/": dial tcp 127.0.0.1:1: connect: connection refused',
    'Get "http://h/": dial tcp: lookup nowhere.invalid on 127.0.0.1:53: no such host',
    'Get "http://h/": read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer',
    'Get "http://h/": EOF',
    'Get "http://h/": dial tcp 127.0.0.1:1: socket: too many open files',
    "Request timeout to 127.0.0.1/127.0.0.1:40261 after 1000 ms",
    "j.n.ConnectException: finishConnect(..) failed: Connection refused",
    "j.n.UnknownHostException: nowhere.invalid: Name or service not known",
    "i.n.h.c.PrematureChannelClosureException: premature close",
    "Premature close",
    "CatchResponseError('body, not as expected')",
    "catch_response failed",
    "HTTPError('404 Client Error: Not Found for url: /missing')",
    "503 Service Unavailable",
    "substring(x).find.exists, found nothing",
    "status.find.is(200), but actually found 404",
    "status.find.in(200,304), found 503",
    "status.find.is(404), but actually found 200",
    "Non HTTP response code: java.net.SocketTimeoutException Non HTTP response message: Read timed out",
    "Non HTTP response code: org.apache.http.NoHttpResponseException",
    "RemoteDisconnected('Remote end closed connection without response')",
    "connection closed before message completed",
    "something nobody has seen",
    "",
)


def test_there_is_one_table_of_words() -> None:
    assert tuple((kind.value, pattern) for kind, pattern in outcomes.PATTERNS) == outcome.PATTERNS
    assert (outcomes.STATUS, outcomes.FOUND_STATUS) == (outcome.STATUS, outcome.FOUND_STATUS)
    assert (gatling.FOUND_STATUS, gatling.CHECK) == (outcome.GATLING_STATUS, outcome.GATLING_CHECK)
    assert {code: kind.value for code, kind in K6_KINDS.items()} == outcome.K6_KINDS


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    assert outcome.outcome_of_error(text) == outcomes.outcome_of_error(text).value
    assert outcome.outcome_of_ko(text) == gatling.outcome_of_ko(text.strip()).value


def test_statuses_and_names() -> None:
    assert [item.value for item in OUTCOMES] == list(event.OUTCOMES)
    for status in (0, 99, 100, 200, 204, 302, 399, 400, 404, 499, 500, 599, 600, 999):
        assert outcome.outcome_of_status(status) == outcomes.outcome_of_status(status).value


def test_samples_of_jmeter() -> None:
    codes = ("200", "404", "503", "", " 200 ", "2000", "Non HTTP response code: java.net.SocketTimeoutException")
    for code, message, failure, success in product(codes, TEXTS, ("", "expected to contain x"), (True, False)):
        ours = outcome.outcome_of_sample(code, message, failure, success=success)
        assert ours == jmeter.outcome_of_sample(code, message, failure, success=success).value


def test_points_of_k6() -> None:
    codes = ("", "1000", *K6_KINDS, "1404", "1503", "1610", "1665", "1666")
    for status, code, error, expected in product((0, 200, 302, 404, 503), codes, TEXTS, ("", "true", "false")):
        imported = k6_points.outcome_of_point(status, code, error, expected)
        assert outcome.outcome_of_point(status, code, error, expected) == imported.value
        if not error:
            tags = {"status": str(status), "error_code": code, "expected_response": expected}
            written = k6_outcome({name: value for name, value in tags.items() if value})
            assert written is imported or (not status and not code), "a status of 0 is a tag of its own there"
