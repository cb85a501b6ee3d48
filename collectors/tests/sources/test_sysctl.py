from pathlib import Path

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.sockets import SOCKETS, parse_sysctl, read_sysctls


def test_one_number_is_one_sample_and_several_have_an_index() -> None:
    assert parse_sysctl("kernel.threads-max", "63122\n") == [Sample("node_sysctl_kernel_threads_max", 63122.0)]
    assert parse_sysctl("net.ipv4.tcp_rmem", "4096\t131072\t6291456\n") == [
        Sample("node_sysctl_net_ipv4_tcp_rmem", 4096.0, (("index", "0"),)),
        Sample("node_sysctl_net_ipv4_tcp_rmem", 131072.0, (("index", "1"),)),
        Sample("node_sysctl_net_ipv4_tcp_rmem", 6291456.0, (("index", "2"),)),
    ]
    assert parse_sysctl("net.core.default_qdisc", "fq_codel\n") == []


def test_the_settings_of_this_host() -> None:
    samples = {(sample.name, sample.labels): sample.value for sample in read_sysctls(Path("/proc"))}
    first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert samples["node_sysctl_net_ipv4_ip_local_port_range", (("index", "0"),)] == float(first)
    assert samples["node_sysctl_net_ipv4_ip_local_port_range", (("index", "1"),)] == float(last)
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    assert samples["node_sysctl_info", (("name", "net.ipv4.tcp_congestion_control"), ("value", control))] == 1
    assert {name for name, _ in samples} <= {metric.name for metric in SOCKETS.metrics}


def test_what_a_host_hides_is_left_out(tmp_path: Path) -> None:
    assert list(read_sysctls(tmp_path)) == []
