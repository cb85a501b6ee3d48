"""The live view and the importers sort failures alike, or figures would move between kinds when the import comes."""

import pytest
from loadwatch_backend.importers.outcomes import outcome_of, outcome_of_error
from loadwatch_backend.records.model import OUTCOMES
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
    "substring(x).find.exists, found nothing",
    "Non HTTP response code: java.net.SocketTimeoutException Non HTTP response message: Read timed out",
    "Non HTTP response code: org.apache.http.NoHttpResponseException",
    "RemoteDisconnected('Remote end closed connection without response')",
    "connection closed before message completed",
    "something nobody has seen",
)


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    assert outcome.outcome_of_error(text) == outcome_of_error(text).value


def test_statuses_and_names() -> None:
    assert [item.value for item in OUTCOMES] == list(event.OUTCOMES)
    for status in (100, 200, 204, 302, 399, 400, 404, 499, 500, 599, 600):
        assert outcome.outcome_of_status(status) == outcome_of(status, None).value
