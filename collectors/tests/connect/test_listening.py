import socket
from pathlib import Path

from loadwatch_collectors.connect.find import ListeningSocket, loopback_addresses, parse_listening

# Lines of a little-endian kernel; the last but one is a connection, and no listener.
TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   112        0 26343 2 0000 100 0 0 10 0
   1: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13787 1 0000 100 0 0 10 0
   2: 0100007F:0CEA 0100007F:E11C 01 00000000:00000000 00:00000000 00000000   112        0 51234 1 0000 20 4 30 10 -1
   3: rubbish
"""
TCP6 = """  sl  local_address                     remote_address                    st tx rx tr tm uid timeout inode
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 777 1 0 100
   1: 00000000000000000000000001000000:0277 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 778 1 0 100
   2: 0000000000000000FFFF00000100007F:2382 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 779 1 0 100
"""


def test_the_kernels_tables_are_read() -> None:
    assert parse_listening(TCP) == [
        ListeningSocket(address="127.0.0.1", port=3306, uid=112, inode=26343),
        ListeningSocket(address="0.0.0.0", port=2024, uid=0, inode=13787),
    ]
    assert [(one.address, one.port, one.uid, one.inode) for one in parse_listening(TCP6)] == [
        ("::", 8080, 1000, 777),
        ("::1", 631, 0, 778),
        ("127.0.0.1", 9090, 0, 779),
    ]
    assert parse_listening("") == []


def test_a_socket_of_this_process_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        found = [one for one in parse_listening(Path("/proc/net/tcp").read_text()) if one.port == port]
    assert [one.address for one in found] == ["127.0.0.1"]


def test_only_what_the_loopback_interface_reaches_is_asked() -> None:
    assert loopback_addresses(["0.0.0.0"]) == ["127.0.0.1"]
    assert loopback_addresses(["::"]) == ["127.0.0.1", "::1"]
    assert loopback_addresses(["10.0.0.5", "127.0.0.53"]) == ["127.0.0.53"]
    assert loopback_addresses(["10.0.0.5", "fe80::1"]) == []
