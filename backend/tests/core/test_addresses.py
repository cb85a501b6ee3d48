import pytest
from loadwatch_backend.core.addresses import (
    ListenAddress,
    client_address,
    host_name,
    is_allowed_host,
    is_loopback,
    is_within,
    parse_cidrs,
    parse_listen,
)


@pytest.mark.parametrize(
    ("text", "host", "port", "url"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000, "http://127.0.0.1:8000"),
        ("[::1]:80", "::1", 80, "http://[::1]:80"),
        (":9", "0.0.0.0", 9, "http://127.0.0.1:9"),
        ("[::]:9", "::", 9, "http://[::1]:9"),
        ("example.org:65535", "example.org", 65535, "http://example.org:65535"),
    ],
)
def test_addresses_are_read_and_become_what_to_open(text: str, host: str, port: int, url: str):
    address = parse_listen(text)
    assert (address.host, address.port, address.url) == (host, port, url)
    assert parse_listen(str(address)) == address


@pytest.mark.parametrize("text", ["", "8000", "localhost", "localhost:", "a:70000", "::1:80", "a:-1", "a:８０"])
def test_what_is_no_address_is_refused_with_an_example(text: str):
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:8000"):
        parse_listen(text)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_loopback_names(host: str):
    assert is_loopback(host)
    assert ListenAddress(host=host, port=1).is_loopback


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "example.org", "localhost.example.org", "10.0.0.1", "127.0.0.1.x"]
)
def test_names_that_others_can_reach(host: str):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("A.b:80", "a.b"),
        ("[::1]:80", "::1"),
        ("[::1]", "::1"),
        ("x", "x"),
        ("", ""),
        ("127.0.0.1:1@evil.example", ""),
    ],
)
def test_host_name(header: str, name: str):
    assert host_name(header) == name


def test_a_name_that_an_attacker_chose_is_refused_without_login():
    def allowed(header: str, *names: str, loopback_only: bool = True) -> bool:
        return is_allowed_host(header, loopback_only=loopback_only, allowed=names)

    assert allowed("127.0.0.1:8000")
    assert not allowed("evil.example:8000")
    assert not allowed("")
    assert allowed("watch.example:8000", "watch.example")
    assert allowed("a.watch.example", "*.watch.example")
    assert not allowed("watch.example.evil", "*.watch.example", "watch.example")
    # With tokens any name will do, unless names were listed.
    assert allowed("any.example", loopback_only=False)
    assert not allowed("any.example", "watch.example", loopback_only=False)


PROXIES = parse_cidrs(["10.0.0.0/8", "2001:db8::1"], "V")


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("", "10.0.0.1"),
        ("203.0.113.9", "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("10.0.0.8, 10.0.0.7", "10.0.0.8"),
        ("203.0.113.9, <script>, 10.0.0.7", "10.0.0.7"),
        ("203.0.113.9:80", "10.0.0.1"),
        ("[2001:db8::2], 2001:db8::1", "2001:db8::2"),
        (" , ,", "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_one_that_is_no_trusted_proxy(forwarded: str, client: str):
    assert client_address("10.0.0.1", forwarded, PROXIES) == client


def test_networks():
    assert is_within("10.1.2.3", PROXIES)
    assert is_within("::ffff:10.1.2.3", PROXIES)
    assert not is_within("11.1.2.3", PROXIES)
    assert not is_within("", PROXIES)
    assert not is_within("10.1.2.3", [])
    with pytest.raises(ValueError, match="V: 'x'"):
        parse_cidrs(["x"], "V")
