from dataclasses import dataclass, field

import pytest
from loadwatch_collectors.sources.probe import ProbeSettings
from loadwatch_collectors.transport.exposure import find_exposures, find_server_exposure
from loadwatch_collectors.transport.http_page import HttpSettings
from loadwatch_collectors.transport.mysql_session import MySQLLogin, is_loopback


@pytest.mark.parametrize(
    ("host", "tls", "says"),
    [
        ("db", "preferred", "recommended: tls: verify_identity"),
        ("192.0.2.7", "off", "recommended: tls: verify_identity"),
        ("db", "required", "nobody proves to be the server"),
        ("db", "verify_ca", "any host with a certificate of that authority"),
    ],
)
def test_a_database_elsewhere_should_prove_who_it_is(host: str, tls: str, says: str) -> None:
    [text] = find_exposures(MySQLLogin(host=host, user="w", tls=tls))
    assert says in text
    assert f"{host}:3306" in text


@pytest.mark.parametrize(
    "login",
    [
        MySQLLogin(user="w"),
        MySQLLogin(host="::1", user="w"),
        MySQLLogin(host="localhost", user="w", tls="off"),
        MySQLLogin(unix_socket="/run/s", user="w"),
        MySQLLogin(host="db", user="w", tls="verify_identity"),
    ],
)
def test_nothing_is_said_where_nobody_can_listen(login: MySQLLogin) -> None:
    assert find_exposures(login) == []


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (HttpSettings(url="http://app/metrics", bearer_token_env="T"), "in the clear"),
        (HttpSettings(url="http://me:secret@app/metrics"), "in the clear"),
        (HttpSettings(url="http://app/metrics", headers={"X-Api-Key": "k"}), "in the clear"),
        (HttpSettings(url="https://app/", insecure_tls=True, bearer_token_env="T"), "insecure_tls"),
    ],
)
def test_secrets_over_plain_http(page: HttpSettings, says: str) -> None:
    [text] = find_exposures(page)
    assert says in text
    assert "secret" not in text


@pytest.mark.parametrize(
    "page",
    [
        HttpSettings(url="http://127.0.0.1/metrics", bearer_token_env="T"),
        HttpSettings(url="http://app/metrics"),
        HttpSettings(url="https://app/metrics", bearer_token_env="T"),
        HttpSettings(url="http://app/metrics", headers={"Accept-Language": "ja"}),
    ],
)
def test_pages_without_a_secret_or_with_tls(page: HttpSettings) -> None:
    assert find_exposures(page) == []


def test_nested_settings_are_looked_at() -> None:
    probe = ProbeSettings(url="http://127.0.0.1/", mysql=MySQLLogin(host="db", user="w"), table="t", column="c")
    assert len(find_exposures(probe)) == 1

    @dataclass(frozen=True)
    class Other:
        names: tuple[str, ...] = field(default=("a",))

    assert find_exposures(Other()) == []


@pytest.mark.parametrize(
    ("url", "token", "count"),
    [
        ("http://server:8000/write", True, 1),
        ("http://server:8000/write", False, 0),
        ("https://server/write", True, 0),
        ("http://localhost:8000/write", True, 0),
    ],
)
def test_the_token_of_the_server(url: str, token: bool, count: int) -> None:
    assert len(find_server_exposure(url, token)) == count


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)
    assert not is_loopback("example.org")
    assert not is_loopback("127.0.0.1.example.org")
