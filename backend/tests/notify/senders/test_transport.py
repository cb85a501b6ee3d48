import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.alerting.notify.senders.sockets import TlsConfig
from loadwatch_backend.alerting.notify.senders.transport import (
    BadAddressError,
    HttpAnswer,
    HttpRequest,
    Transport,
    parse_address,
)

from backend.tests.notify.receiving import answer, run_receiver
from backend.tests.notify.sending import transport as open_transport


def post(client: Transport, url: str, seconds: float = 60.0, **more: Any) -> HttpAnswer:
    return client.post(HttpRequest(url=url, body=b"{}", headers={}, **more), seconds)


@pytest.fixture
def transport() -> Iterator[Callable[..., Transport]]:
    """Makes clients, and closes them."""
    with ExitStack() as stack:

        def make(*args: Any, **options: Any) -> Transport:
            return stack.enter_context(closing(open_transport(*args, **options)))

        yield make


Make = Callable[..., Transport]


class Rebinding:
    """DNS that answers a public address first, and then 127.0.0.1."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_dns_that_changes_its_answer_gains_nothing(transport: Make) -> None:
    """The check and the connection use one answer; the next connection asks, and checks, again."""
    with run_receiver() as receiver:
        # 127.0.0.2 stands for a public address, for nothing may leave this machine; the receiver is at 127.0.0.1.
        resolver = Rebinding(["127.0.0.2"], ["127.0.0.1"])
        client = transport(["127.0.0.2/32"], resolver)
        first = post(client, f"http://hook.example.org:{receiver.port}/")
        assert first.error == "connection refused: nothing listens there"
        second = post(client, f"http://hook.example.org:{receiver.port}/")
        assert (second.forbidden, second.status) == (True, None)
        assert "127.0.0.1 is loopback" in second.error
        assert (resolver.asked, receiver.requests) == (2, [])


def test_the_name_is_asked_for_once_and_the_checked_address_is_connected_to(transport: Make) -> None:
    with run_receiver() as receiver:
        resolver = Rebinding(["127.0.0.1"], ["10.9.9.9"])
        client = transport(["127.0.0.0/8"], resolver)
        found = post(client, f"http://hook.example.org:{receiver.port}/path?a=b")
        assert (found.status, found.address, resolver.asked) == (200, "127.0.0.1", 1)
        assert receiver.requests[0].headers["host"] == f"hook.example.org:{receiver.port}"
        assert receiver.requests[0].path == "/path?a=b"


def test_of_several_addresses_only_allowed_ones_are_tried(transport: Make) -> None:
    with run_receiver() as receiver:
        client = transport(["127.0.0.2/32"], Rebinding(["127.0.0.1", "10.0.0.1", "169.254.169.254"]))
        found = post(client, f"http://hook.example.org:{receiver.port}/")
        assert found.forbidden
        assert receiver.requests == []


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "0x7f.1"]
)
def test_no_way_to_write_loopback_gets_there(host: str, transport: Make) -> None:
    with run_receiver() as receiver:
        found = post(transport([]), f"http://{host}:{receiver.port}/", 30)
        assert found.status is None
        assert receiver.requests == []


def test_a_redirect_is_not_followed(transport: Make) -> None:
    with run_receiver() as inner, run_receiver(usually=answer(307, {"Location": inner.url})) as receiver:
        assert post(transport(), receiver.url).status == 307
        assert inner.requests == []


def test_a_resolver_that_hangs_costs_no_more_than_the_attempt(transport: Make) -> None:
    def hung(host: str, port: int) -> Sequence[str]:
        time.sleep(1.5)
        return ["127.0.0.1"]

    found = post(transport(resolver=hung), "http://hook.example.org/", 0.2)
    assert found.error == "no whole answer within the time for one attempt"


def test_a_name_without_an_address(transport: Make) -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    found = post(transport(resolver=unknown), "http://nowhere.example.org/")
    assert (found.error, found.unusable) == ("the name has no address: Name or service not known", False)


@pytest.mark.parametrize(
    "url", ["ftp://a/", "http://", "nonsense", "http://a:99999/", "http://a/ b", "http://a/\r\nX: y", "http://[::1/"]
)
def test_what_is_no_url_is_refused_without_showing_it(url: str, transport: Make) -> None:
    with pytest.raises(BadAddressError) as caught:
        parse_address(url)
    assert len(url) < 8 or url not in str(caught.value)
    assert post(transport(), url).unusable


def test_the_user_of_a_url_is_sent_as_basic_authorization(transport: Make) -> None:
    with run_receiver() as receiver:
        post(transport(), receiver.url.replace("//", "//us%65r:p%40ss@"))
        assert receiver.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNz"


# TLS ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hook.example.org with its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=hook.example.org",
    ]
    command += ["-addext", "subjectAltName=DNS:hook.example.org"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def served(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def loopback(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def test_the_certificate_is_checked_against_the_name(certificate: Path, transport: Make) -> None:
    trusted = TlsConfig(ca_file=certificate / "cert.pem")
    with run_receiver(served(certificate)) as receiver:
        client = transport(resolver=loopback)
        found = post(client, f"https://hook.example.org:{receiver.port}/", tls=trusted)
        assert found.status == 200
        again = post(client, f"https://hook.example.org:{receiver.port}/", tls=trusted)
        assert (again.status, {one.connection for one in receiver.requests}) == (200, {1})
        other = post(client, f"https://other.example.org:{receiver.port}/", tls=trusted)
        assert other.error.startswith("the certificate is not to be trusted: Hostname mismatch")
        unknown = post(client, f"https://hook.example.org:{receiver.port}/")
        assert unknown.error == "the certificate is not to be trusted: self-signed certificate"
        named = TlsConfig(ca_file=certificate / "cert.pem", server_name="hook.example.org")
        assert post(client, f"https://other.example.org:{receiver.port}/", tls=named).status == 200
        careless = TlsConfig(insecure_skip_verify=True)
        assert post(client, f"https://other.example.org:{receiver.port}/", tls=careless).status == 200


def test_tls_where_there_is_none(transport: Make) -> None:
    with run_receiver() as receiver:
        found = post(transport(), receiver.url.replace("http", "https"), 2)
        assert found.status is None
        assert found.error
        assert not found.unusable


def test_a_file_of_authorities_that_is_not_there(tmp_path: Path, transport: Make) -> None:
    found = post(transport(), "https://hook.example.org/", tls=TlsConfig(ca_file=tmp_path / "no.pem"))
    assert found.unusable
    assert "tls_config: No such file" in found.error
    (tmp_path / "bad.pem").write_text("no certificate")
    bad = post(transport(), "https://hook.example.org/", tls=TlsConfig(ca_file=tmp_path / "bad.pem"))
    assert "no certificate or key in PEM form" in bad.error
