import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.sources.procfs import LISTEN, parse_tcp
from loadwatch_collectors.sources.sockets import (
    ALL_STATES,
    MOST_PEERS,
    SOCKETS,
    Listener,
    SockDiag,
    SocketsCollector,
    SocketsSettings,
    choose_ports,
    fullest_listeners,
    parse_messages,
    parse_netstat,
    parse_proc_tcp,
    parse_sockstat,
    read_address,
    read_peers,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
CONNECTIONS = 25


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listen(stack: ExitStack, host: str = "127.0.0.1", backlog: int = 40) -> tuple[socket.socket, int]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = stack.enter_context(socket.create_server((host, 0), family=family, backlog=backlog))
    return server, server.getsockname()[1]


def connect(stack: ExitStack, host: str, port: int) -> socket.socket:
    return stack.enter_context(socket.create_connection((host, port)))


def of(samples: list[Sample], name: str) -> dict[tuple[str, ...], float]:
    return {tuple(value for _, value in sample.labels): sample.value for sample in samples if sample.name == name}


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def wait_until(holds: Callable[[], bool]) -> None:
    """The kernel may take a moment to make a connection whole, and may tell one late while others come and go."""
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize("proc", ["/proc", "/proc/"], ids=["inet_diag", "proc"])
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"] if has_ipv6() else ["127.0.0.1"])
def test_real_connections_are_counted_once_at_either_end(stack: ExitStack, host: str, proc: str) -> None:
    server, port = listen(stack, host)
    for _ in range(CONNECTIONS):
        connect(stack, host, port)
        stack.enter_context(server.accept()[0])
    waiting = [connect(stack, host, port) for _ in range(3)]
    collector = SocketsCollector(SocketsSettings(ports=(port,), proc=proc, max_cpu_share=1.0))
    stack.callback(collector.close)
    samples: list[Sample] = []

    def is_whole() -> bool:
        samples[:] = collector.collect()
        found = of(samples, "tcp_connections")
        ends = [found[str(port), end, "established"] for end in ("local", "remote")]
        return ends == [CONNECTIONS + 3] * 2 and of(samples, "tcp_accept_queue") == {(str(port),): 3}

    wait_until(is_whole)
    connections = of(samples, "tcp_connections")
    # Connections that wait in the accept queue are established for both ends.
    assert connections[str(port), "local", "established"] == CONNECTIONS + 3
    assert connections[str(port), "remote", "established"] == CONNECTIONS + 3
    assert connections[str(port), "local", "time_wait"] == 0
    assert of(samples, "tcp_accept_queue") == {(str(port),): 3}
    if proc == "/proc":
        assert of(samples, "tcp_accept_queue_limit") == {(str(port),): 40}
    states = of(samples, "node_tcp_connection_states")
    assert states["established",] >= 2 * CONNECTIONS
    assert states["listen",] >= 1
    for client in waiting:
        client.close()
    server.accept()[0].close()


def test_both_readers_agree(stack: ExitStack) -> None:
    server, port = listen(stack)
    for _ in range(CONNECTIONS):
        connect(stack, "127.0.0.1", port)
        stack.enter_context(server.accept()[0])
    diag = SockDiag()
    stack.callback(diag.close)
    tables = [Path("/proc/net") / name for name in ("tcp", "tcp6")]

    def by_state() -> list[dict[int, int]]:
        read = parse_proc_tcp(*(path.read_text() for path in tables if path.exists()))
        return [
            {state: count for (state, at), count in side.items() if at == port}
            for table in (diag.read(ALL_STATES), read)
            for side in (table.local, table.remote)
        ]

    wait_until(lambda: by_state() == [{1: CONNECTIONS}] * 4)
    assert by_state() == [{1: CONNECTIONS}] * 4
    assert diag.read(1 << LISTEN).states.keys() == {LISTEN}


def test_what_the_kernel_tells_twice_is_counted_once() -> None:
    header = "  sl  local_address rem_address   st tx_queue rx_queue\n"
    listener = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:0 0 0 0 1\n"
    connection = "   1: 0100007F:1F90 0100007F:9C40 01 00000002:00000001 00:0 0 0 0 2\n"
    other_end = "   2: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:0 0 0 0 3\n"
    table = parse_proc_tcp(header + 2 * listener + connection + other_end + 3 * connection)
    assert table.local == {(1, 8080): 1, (1, 40000): 1}
    assert table.remote == {(1, 8080): 1, (1, 40000): 1}
    assert (table.send_queue_bytes, table.receive_queue_bytes) == (2, 1)
    assert len(table.listeners) == 2, "two sockets may listen on one port, each with a queue of its own"


def _listen_unused(stack: ExitStack) -> tuple[socket.socket, int]:
    """On a port that no connection of somebody else's is still waiting at: other tests get theirs of the same range."""
    for _ in range(100):
        server, port = listen(stack)
        with closing(SocketsCollector(SocketsSettings(ports=(port,), max_cpu_share=1.0))) as collector:
            if not any(of(collector.collect(), "tcp_connections").values()):
                return server, port
    raise AssertionError("at each of a hundred ports some connection waits")


def test_time_wait_is_told_from_orphaned_fin_wait_2(stack: ExitStack) -> None:
    server, port = _listen_unused(stack)
    orphans = [connect(stack, "127.0.0.1", port) for _ in range(5)]
    held = [stack.enter_context(server.accept()[0]) for _ in orphans]
    for client in orphans:
        client.close()  # Its FIN is answered, and the other end stays open: FIN-WAIT-2 here, CLOSE-WAIT there.
    finished = [connect(stack, "127.0.0.1", port) for _ in range(7)]
    for client in finished:
        accepted = server.accept()[0]
        client.close()
        accepted.recv(1)
        accepted.close()
    collector = SocketsCollector(SocketsSettings(ports=(port,), max_cpu_share=1.0))
    stack.callback(collector.close)
    deadline = time.monotonic() + 50
    while True:
        connections = of(collector.collect(), "tcp_connections")
        settled = [connections.get((str(port), "remote", state)) for state in ("time_wait", "fin_wait2")] == [7, 5]
        if settled or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    assert connections[str(port), "remote", "fin_wait2"] == 5
    assert connections[str(port), "local", "close_wait"] == 5
    assert connections[str(port), "remote", "time_wait"] == 7
    assert len(held) == 5


def test_dear_details_are_read_less_often_and_kept(stack: ExitStack) -> None:
    _, port = listen(stack)
    cpu = iter(float(second) for second in range(100))
    settings = SocketsSettings(ports=(port,), max_cpu_share=0.01)
    collector = SocketsCollector(settings, cpu_clock=lambda: next(cpu))
    stack.callback(collector.close)
    first, second = collector.collect(), collector.collect()
    details = {"tcp_connections", "node_tcp_connection_states"}
    assert {sample.timestamp_ms for sample in first} == {None}
    assert {sample.timestamp_ms for sample in second if sample.name in details} == {KEPT}
    assert {sample.timestamp_ms for sample in second if sample.name.startswith("kernel_")} == {KEPT}
    assert {sample.timestamp_ms for sample in second if sample.name == "tcp_accept_queue"} == {None}
    assert {(sample.name, sample.labels) for sample in first} == {(sample.name, sample.labels) for sample in second}


def test_listening_ports_are_discovered(stack: ExitStack) -> None:
    ports = sorted(listen(stack)[1] for _ in range(3))
    collector = SocketsCollector(SocketsSettings(max_discovered_ports=100_000))
    stack.callback(collector.close)
    assert {str(port) for port in ports} <= {port for (port,) in of(collector.collect(), "tcp_accept_queue")}
    listeners = [Listener(port, 0, 1) for port in (90, 80, 80, 70)]
    assert choose_ports((), listeners, 2) == (70, 80)
    assert choose_ports((443,), listeners, 2) == (443,)


def test_kernel_limits_and_totals_of_the_real_host() -> None:
    collector = SocketsCollector(SocketsSettings())
    values = {sample.name: sample.value for sample in collector.collect() if not sample.labels}
    collector.close()
    assert values["kernel_tcp_max_tw_buckets"] == float(Path("/proc/sys/net/ipv4/tcp_max_tw_buckets").read_text())
    assert 1 <= values["kernel_ephemeral_ports"] <= 65_535
    assert {"kernel_nr_open", "kernel_file_max", "kernel_somaxconn", "node_sockstat_TCP_tw"} <= values.keys()
    assert {"node_netstat_TcpExt_ListenOverflows", "node_netstat_TcpExt_TCPTimeWaitOverflow"} <= values.keys()


def test_fixture() -> None:
    samples = SocketsCollector(SocketsSettings(proc=str(FIXTURES / "proc"))).collect()
    connections = of(samples, "tcp_connections")
    assert connections["8080", "local", "established"] == 1
    assert connections["8080", "remote", "established"] == 1
    assert connections["8080", "local", "time_wait"] == 1
    assert connections["8080", "local", "fin_wait2"] == 1
    states = of(samples, "node_tcp_connection_states")
    assert (states["rx_queued_bytes",], states["tx_queued_bytes",]) == (32, 16)
    assert of(samples, "tcp_accept_queue") == {("8080",): 3}
    undescribed = {sample.name for sample in samples} - {metric.name for metric in SOCKETS.metrics}
    assert {name for name in undescribed if not name.startswith("node_sockstat_")} == set()


def test_a_host_without_netstat(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    shutil.copytree(FIXTURES / "proc", proc)
    (proc / "net" / "netstat").unlink()
    whole = SocketsCollector(SocketsSettings(proc=str(FIXTURES / "proc"))).collect()
    collector = SocketsCollector(SocketsSettings(proc=str(proc)))
    names = {sample.name for sample in collector.collect()}
    assert names == {sample.name for sample in whole if not sample.name.startswith("node_netstat_TcpExt_")}
    assert collector.explain() == [f"left out, since this host does not show it: {proc}/net/netstat"]


def test_connections_are_told_by_process_and_peer(stack: ExitStack) -> None:
    server, port = listen(stack)
    for _ in range(CONNECTIONS):
        connect(stack, "127.0.0.1", port)
        stack.enter_context(server.accept()[0])
    collector = SocketsCollector(SocketsSettings(ports=(port,)))
    stack.callback(collector.close)
    found = {sample.labels: sample.value for sample in collector.collect() if sample.name == "tcp_peer_connections"}
    program = Path("/proc/self/comm").read_text().strip()
    ends = {
        (("process", program), ("address", "127.0.0.1"), ("peer", "127.0.0.1"), ("port", str(port)), ("side", side))
        for side in ("local", "remote")
    }
    assert found == dict.fromkeys(ends, float(CONNECTIONS))


def test_no_address_is_sent_where_that_is_not_wanted(stack: ExitStack) -> None:
    _, port = listen(stack)
    connect(stack, "127.0.0.1", port)
    collector = SocketsCollector(SocketsSettings(ports=(port,), peers=False))
    stack.callback(collector.close)
    assert "tcp_peer_connections" not in {sample.name for sample in collector.collect()}


def test_peers_beyond_the_fifty_with_the_most_are_added_up(tmp_path: Path) -> None:
    rows = ["head"]
    for peer in range(1, 61):
        # 192.0.2.peer as a number of the host's order; those after the fiftieth have one connection each.
        address = f"{int.from_bytes(bytes([192, 0, 2, peer]), sys.byteorder):08X}"
        for connection in range(2 if peer <= 50 else 1):
            rows.append(f"0: 0100007F:{0x9C40 + connection:04X} {address}:0CEA 01 0:0 0:0 0 0 0 {peer}{connection}")
    samples = read_peers(tmp_path, ["\n".join([*rows, rows[-1]])], (), ())
    assert len(samples) == MOST_PEERS + 1
    assert sum(sample.value for sample in samples) == 110
    assert dict(samples[0].labels)["process"] == "unknown"
    assert dict(samples[0].labels)["port"] == "3306"
    assert samples[-1].labels == (("process", "other"), ("peer", "other"), ("port", "other"), ("side", "remote"))
    assert samples[-1].value == 10


def test_an_ipv4_peer_of_an_ipv6_socket_is_the_same_peer() -> None:
    def words(*parts: bytes) -> str:
        return "".join(f"{int.from_bytes(part, sys.byteorder):08X}" for part in parts)

    mapped = words(bytes(4), bytes(4), b"\0\0\xff\xff", bytes([192, 0, 2, 1]))
    (one,) = parse_tcp(f"head\n0: {mapped}:1F90 {mapped}:9C40 01 0:0 0:0 0 0 0 7")
    assert (read_address(one.address), one.port, one.peer_port, one.inode) == ("192.0.2.1", 8080, 40_000, 7)
    assert read_address(one.peer) == "192.0.2.1"


def test_the_fullest_of_several_listeners_counts() -> None:
    listeners = [Listener(80, 1, 100), Listener(80, 9, 10), Listener(80, 50, 1000), Listener(81, 0, None)]
    assert fullest_listeners(listeners) == {80: Listener(80, 9, 10), 81: Listener(81, 0, None)}


def test_parsers() -> None:
    sockstat = {sample.name: sample.value for sample in parse_sockstat("sockets: used 9\nTCP: inuse 5 tw 3 mem 2\n")}
    assert sockstat["node_sockstat_sockets_used"] == 9
    assert sockstat["node_sockstat_TCP_tw"] == 3
    assert sockstat["node_sockstat_TCP_mem_bytes"] >= 2 * 4096
    netstat = parse_netstat("TcpExt: ListenDrops Other\nTcpExt: 4 5\nIpExt: InOctets\nIpExt: 7\n")
    assert netstat == [Sample("node_netstat_TcpExt_ListenDrops", 4.0)]


def test_an_empty_answer_of_the_kernel() -> None:
    done = (20).to_bytes(4, "little") + (3).to_bytes(2, "little") + bytes(14)
    assert parse_messages([done]).states[1] == 0
