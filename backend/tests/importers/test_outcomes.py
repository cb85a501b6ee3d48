import numpy as np
import pytest
from loadwatch_backend.importers.outcomes import outcome_of, outcome_of_error, outcomes_of, plain_error
from loadwatch_backend.records.model import OUTCOMES, Outcome

TEXTS = [
    # Go: vegeta, k6, hey
    (Outcome.TIMEOUT, 'Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'),
    (Outcome.TIMEOUT, 'Get "http://a/": dial tcp 10.0.0.1:80: i/o timeout'),
    (Outcome.TIMEOUT, "net/http: request canceled (Client.Timeout exceeded while reading body)"),
    (Outcome.TIMEOUT, "request timeout"),
    (Outcome.TIMEOUT, "net/http: TLS handshake timeout"),
    (Outcome.RESET, "read tcp 127.0.0.1:50532->127.0.0.1:80: read: connection reset by peer"),
    (Outcome.RESET, "write tcp 127.0.0.1:1->127.0.0.1:80: write: broken pipe"),
    (Outcome.RESET, 'Get "http://a/": EOF'),
    (Outcome.RESET, "unexpected EOF"),
    (Outcome.RESET, "http: server closed idle connection"),
    (Outcome.RESET, "http2: server sent GOAWAY and closed the connection"),
    (Outcome.REFUSED, "dial tcp 127.0.0.1:9: connect: connection refused"),
    (Outcome.DNS, "dial tcp: lookup nowhere.invalid on 127.0.0.53:53: no such host"),
    (Outcome.DNS, "dial tcp: lookup a: Temporary failure in name resolution"),
    (Outcome.DNS, "lookup a on 10.0.0.2:53: read udp 10.0.0.1:4->10.0.0.2:53: i/o timeout"),
    (Outcome.OTHER, "dial tcp 127.0.0.1:80: socket: too many open files"),
    (Outcome.OTHER, "dial tcp 127.0.0.1:80: connect: cannot assign requested address"),
    (Outcome.OTHER, "x509: certificate signed by unknown authority"),
    # Java: Gatling, JMeter
    (Outcome.TIMEOUT, "i.g.h.c.i.RequestTimeoutException: Request timeout to a/10.0.0.1:80 after 60000 ms"),
    (Outcome.TIMEOUT, "Non HTTP response code: java.net.SocketTimeoutException"),
    (Outcome.TIMEOUT, "Non HTTP response message: Read timed out"),
    (Outcome.TIMEOUT, "Non HTTP response code: org.apache.http.conn.ConnectTimeoutException"),
    (Outcome.RESET, "j.i.IOException: Premature close"),
    (Outcome.RESET, "Non HTTP response code: org.apache.http.NoHttpResponseException"),
    (Outcome.RESET, "Non HTTP response message: Connection reset"),
    (Outcome.RESET, "Non HTTP response message: a:80 failed to respond"),
    (Outcome.REFUSED, "j.n.ConnectException: Connection refused"),
    (Outcome.REFUSED, "Non HTTP response code: org.apache.http.conn.HttpHostConnectException"),
    (Outcome.DNS, "j.n.UnknownHostException: nowhere.invalid: Name or service not known"),
    (Outcome.ASSERTION, "jsonPath($.id).find.exists, found nothing"),
    (Outcome.ASSERTION, "Test failed: text expected to contain /hello/"),
    (Outcome.HTTP_5XX, "status.find.in(200,304,201,202,203,204,205,206,207,208,209), found 503"),
    (Outcome.HTTP_4XX, "status.find.is(200), but actually found 404"),
    # Python: Locust
    (Outcome.REFUSED, "ConnectionRefusedError(111, 'Connection refused')"),
    (Outcome.RESET, "RemoteDisconnected('Remote end closed connection without response')"),
    (Outcome.RESET, "ConnectionResetError(104, 'Connection reset by peer')"),
    (Outcome.TIMEOUT, "ReadTimeout(ReadTimeoutError(\"HTTPConnectionPool(host='a', port=80): Read timed out.\"))"),
    (Outcome.DNS, "gaierror(-2, 'Name or service not known')"),
    (Outcome.DNS, "NewConnectionError('...: Failed to resolve a ([Errno -2] Name or service not known)')"),
    (Outcome.HTTP_5XX, "HTTPError('500 Server Error: Internal Server Error for url: /x')"),
    (Outcome.HTTP_4XX, "404 Client Error: Not Found for url: /x"),
    (Outcome.ASSERTION, "CatchResponseError('wrong body')"),
    # Rust, Node, C: oha, Artillery, wrk
    (Outcome.REFUSED, "Connection refused (os error 111)"),
    (Outcome.RESET, "connection closed before message completed"),
    (Outcome.TIMEOUT, "deadline has elapsed"),
    (Outcome.DNS, "failed to lookup address information: Name or service not known"),
    (Outcome.TIMEOUT, "errors.ETIMEDOUT"),
    (Outcome.RESET, "errors.ECONNRESET"),
    (Outcome.REFUSED, "errors.ECONNREFUSED"),
    (Outcome.DNS, "errors.ENOTFOUND"),
]


@pytest.mark.parametrize(("outcome", "text"), TEXTS)
def test_texts_of_the_tools(outcome: Outcome, text: str) -> None:
    assert outcome_of_error(text) is outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *((200, Outcome.OK), (101, Outcome.OK), (304, Outcome.OK), (404, Outcome.HTTP_4XX), (503, Outcome.HTTP_5XX)),
        *((600, Outcome.OTHER), (0, Outcome.OTHER), (99, Outcome.OTHER)),
    ],
)
def test_statuses(status: int, outcome: Outcome) -> None:
    assert outcome_of(status, None) is outcome
    assert OUTCOMES[outcomes_of(np.array([status]), None, [])[0]] is outcome


def test_columns_agree_with_single_requests() -> None:
    texts = [text for _, text in TEXTS]
    status = np.array([0, 200, 500] * len(texts))
    codes = np.repeat(np.arange(len(texts), dtype=np.int32), 3)
    found = outcomes_of(status, codes, texts)
    expected = [outcome_of(int(s), texts[c]) for s, c in zip(status, codes, strict=True)]
    assert [OUTCOMES[code] for code in found] == expected
    assert OUTCOMES[outcomes_of(np.array([0]), np.array([-1], dtype=np.int32), [])[0]] is Outcome.OTHER


def test_what_differs_per_request_is_taken_out() -> None:
    assert plain_error("read tcp 1.2.3.4:5->6.7.8.9:80: read: x") == "read tcp 1.2.3.4->6.7.8.9:80: read: x"
    assert plain_error("read tcp [::1]:5->[::1]:80: x") == "read tcp [::1]->[::1]:80: x"
    assert plain_error('Get "http://a/b?c=1&d=2": EOF') == 'Get "http://a/b?...": EOF'
    assert plain_error("HTTPError('404 Client Error: Not Found for url: /a?token=x')") == (
        "HTTPError('404 Client Error: Not Found for url: /a?...')"
    )
    assert plain_error("why? #1") == "why? #1"
    assert plain_error("<Connection object at 0x7f3a2b1c0d10>") == "<Connection object at 0x…>"
    assert len(plain_error("x" * 10_000)) == 300
