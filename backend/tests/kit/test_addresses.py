import pytest
from loadwatch_backend.kit.addresses import ListenAddress, host_name, is_allowed_host, is_loopback, parse_listen


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
    ("header", "name"), [("A.b:80", "a.b"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("x", "x"), ("", "")]
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
