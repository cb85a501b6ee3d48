import pytest
from loadwatch_backend.alerting.notify.senders.sockets import NetworkPolicy, NetworksError, parse_allowed

PUBLIC = ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1")
FORBIDDEN = (
    ("127.0.0.1", "loopback"),
    ("127.255.0.9", "loopback"),
    ("::1", "loopback"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::127.0.0.1", "loopback"),
    ("::ffff:0:127.0.0.1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("::", "unspecified"),
    ("10.1.2.3", "private"),
    ("172.31.255.255", "private"),
    ("192.168.1.1", "private"),
    ("fd00::1", "private"),
    ("fec0::1", "private"),
    ("fd00:ec2::254", "private"),
    ("100.64.0.1", "shared"),
    ("100.100.100.200", "metadata"),
    ("168.63.129.16", "metadata"),
    ("169.254.169.254", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("64:ff9b::7f00:1", "loopback"),
    ("64:ff9b::a9fe:a9fe", "link-local"),
    ("64:ff9b:1::a00:1", "private"),
    ("2002:7f00:1::1", "loopback"),
    ("2002:a00:1::", "private"),
    ("2001:0:a00:1::f5ff:fffe", "private"),
    ("2001:0:4136:e378:8000:63bf:80ff:fffe", "loopback"),
    ("224.0.0.1", "multicast"),
    ("ff02::1", "multicast"),
    ("255.255.255.255", "reserved"),
    ("192.0.2.1", "documentation"),
    ("2001:db8::1", "documentation"),
    ("198.18.0.1", "benchmarking"),
    ("localhost", "not an address"),
    ("2130706433", "not an address"),
    ("0x7f.1", "not an address"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert NetworkPolicy().refusal(address) is None


@pytest.mark.parametrize(("address", "reason"), FORBIDDEN)
def test_others_are_refused_with_the_reason(address: str, reason: str) -> None:
    refusal = NetworkPolicy().refusal(address)
    assert refusal is not None
    assert reason in refusal


def test_networks_that_are_named_are_allowed_and_no_others() -> None:
    policy = NetworkPolicy(allowed=parse_allowed(("10.0.0.0/8", "fd00::/8", "192.168.1.7")))
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "192.168.1.7", "64:ff9b::a00:1", "8.8.8.8"):
        assert policy.refusal(address) is None, address
    for address in ("127.0.0.1", "192.168.1.8", "64:ff9b::7f00:1", "169.254.169.254", "::1"):
        assert policy.refusal(address) is not None, address


@pytest.mark.parametrize("text", ["10.0.0.1/8", "example.org", "10.0.0.0/33", ""])
def test_what_is_no_network_is_named(text: str) -> None:
    with pytest.raises(NetworksError, match="LOADWATCH_NOTIFY_NETWORKS"):
        parse_allowed((text,))
