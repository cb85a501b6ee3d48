"""A password goes only to who has proved to be the server: what a hostile one gets to see."""

from pathlib import Path

import pytest
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.transport.mysql_session import MySQLLogin, MySQLSession, may_show_password

from collectors.tests.servers import make_certificate
from collectors.tests.transport.hostile_mysql import FULL_LOGIN, OK, Certificate, Hostile, running_hostile

PASSWORD = "a-password-to-keep"


@pytest.fixture
def password_file(tmp_path: Path) -> str:
    path = tmp_path / "password"
    path.write_text(PASSWORD)
    return str(path)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def log_in(server: Hostile, password_file: str, tls: str = "preferred", ca: Path | None = None) -> None:
    login = MySQLLogin(
        port=server.port,
        user="watcher",
        password_file=password_file,
        tls=tls,
        tls_ca_file=None if ca is None else str(ca),
        deadline=30,
    )
    session = MySQLSession(login)
    try:
        session.run(lambda: session.query("SELECT 1"))
    finally:
        session.close()


def was_told(server: Hostile) -> bool:
    return any(PASSWORD.encode() in seen for seen in server.seen)


ASKS_IN_THE_CLEAR = {
    "clear": Hostile(switches_to=b"mysql_clear_password"),
    "dialog": Hostile(switches_to=b"dialog", challenge=b"\x03Password: "),
    "dialog without end": Hostile(switches_to=b"dialog", challenge=b"\x02Password: ", then=(b"\x02Password: ",) * 3),
    "old": Hostile(switches_to=b"mysql_old_password", challenge=b"abcdefgh\0"),
    "unknown": Hostile(switches_to=b"a_plugin_of_its_own"),
    "greets with clear": Hostile(greets_with=b"mysql_clear_password", switches_to=b"mysql_clear_password"),
    "sha256": Hostile(greets_with=b"sha256_password", switches_to=b"sha256_password"),
    "sha2, full login": Hostile(greets_with=b"caching_sha2_password", then=(FULL_LOGIN, b"\x01-----BEGIN PUBLIC KEY")),
    "switch to sha2, full login": Hostile(switches_to=b"caching_sha2_password", then=(FULL_LOGIN, b"\x01-----BEGIN")),
}


def fresh(asked: Hostile) -> Hostile:
    return Hostile(
        greets_with=asked.greets_with, switches_to=asked.switches_to, challenge=asked.challenge, then=asked.then
    )


@pytest.mark.parametrize("tls", ["off", "preferred"])
@pytest.mark.parametrize("asked", ASKS_IN_THE_CLEAR)
def test_without_tls_nobody_is_given_the_password(asked: str, tls: str, password_file: str) -> None:
    """`preferred` too: whoever stands in between says that there is no TLS."""
    with running_hostile(fresh(ASKS_IN_THE_CLEAR[asked])) as server:
        with pytest.raises(CollectorError, match=r"plugin|asks for the password itself"):
            log_in(server, password_file, tls)
        assert len(server.seen) == 1 or not asked.startswith(("clear", "dialog", "old"))
        assert not was_told(server)


@pytest.mark.parametrize("tls", ["preferred", "required"])
@pytest.mark.parametrize("asked", ["clear", "dialog", "old", "greets with clear"])
def test_tls_that_nobody_checked_is_not_enough(
    asked: str, tls: str, password_file: str, certificate: Certificate
) -> None:
    with running_hostile(fresh(ASKS_IN_THE_CLEAR[asked]), certificate) as server:
        with pytest.raises(CollectorError, match=r"tls: verify_identity"):
            log_in(server, password_file, tls)
        assert not was_told(server)


@pytest.mark.parametrize("tls", ["verify_ca", "verify_identity"])
def test_who_has_another_certificate_gets_nothing(tls: str, password_file: str, certificate: Certificate) -> None:
    with running_hostile(Hostile(switches_to=b"mysql_clear_password"), certificate) as server:
        with pytest.raises(CollectorError, match="certificate verify failed"):
            log_in(server, password_file, tls)
        assert len(server.seen) == 1  # the wish for TLS


@pytest.mark.parametrize("asked", ["clear", "dialog", "sha2, full login", "sha256"])
def test_a_server_that_proved_itself_is_given_the_password(
    asked: str, password_file: str, certificate: Certificate
) -> None:
    kind = fresh(ASKS_IN_THE_CLEAR[asked])
    kind.then = kind.then[:1]
    kind.to_commands = OK
    with running_hostile(kind, certificate) as server:
        log_in(server, password_file, "verify_identity", server.certificate)
        assert was_told(server)


def test_a_server_that_strips_tls_is_refused_by_who_insists(password_file: str) -> None:
    with running_hostile(Hostile()) as server:
        with pytest.raises(CollectorError, match="SSL is required"):
            log_in(server, password_file, "required")
        assert not server.seen


@pytest.mark.parametrize(
    ("tls", "peer", "encrypted", "may"),
    [
        ("preferred", "127.0.0.1", True, True),
        ("preferred", "::1", True, True),
        ("preferred", "192.0.2.1", True, False),
        ("preferred", "127.0.0.1", False, False),
        ("required", "192.0.2.1", True, True),
        ("verify_ca", "192.0.2.1", True, True),
        ("off", "192.0.2.1", False, False),
    ],
)
def test_sha2_accounts_of_mysql_8(tls: str, peer: str, encrypted: bool, may: bool) -> None:
    login = MySQLLogin(user="w", tls=tls)
    assert may_show_password(login.tls, bool(login.unix_socket), peer=peer, encrypted=encrypted) is may


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("what only this host knows")
    return path


def test_no_file_is_sent_to_a_server_that_asks_for_it(secret: Path, password_file: str) -> None:
    """LOAD DATA LOCAL INFILE as the answer to a query that asked for nothing of the kind."""
    with running_hostile(Hostile(to_commands=b"\xfb" + str(secret).encode())) as server:
        with pytest.raises(CollectorError, match="LOAD_LOCAL"):
            log_in(server, password_file)
        assert not any(secret.read_bytes() in seen for seen in server.seen)


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x0a", b"\x0ax.y\0", b"\xff"])
def test_what_is_no_mysql_server_is_an_error_and_no_fault(greeting: bytes, password_file: str) -> None:
    with (
        running_hostile(Hostile(greeting=greeting)) as server,
        pytest.raises(CollectorError, match=r"MySQL at 127\.0\.0\.1"),
    ):
        log_in(server, password_file)
