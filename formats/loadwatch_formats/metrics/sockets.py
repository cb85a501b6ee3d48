"""What the collector `sockets` sends: TCP connections, counters and limits of the kernel.

Source of the names of settings: node_exporter, collector/sysctl_linux.go: `node_sysctl_<name>`.
"""

from collections.abc import Sequence

from loadwatch_formats.metrics.model import describe

SYSCTLS: Sequence[tuple[str, str]] = (
    ("kernel.pid_max", "Process ids that the kernel gives out."),
    ("kernel.threads-max", "Threads that the host allows."),
    ("net.core.netdev_max_backlog", "Packets that wait for the CPU per device queue."),
    ("net.core.rmem_max", "Largest receive buffer that a program can ask for, in bytes."),
    ("net.core.wmem_max", "Largest send buffer that a program can ask for, in bytes."),
    ("net.ipv4.ip_local_port_range", "First and last local port for outgoing connections."),
    ("net.ipv4.tcp_keepalive_time", "Seconds before the first keep-alive probe."),
    ("net.ipv4.tcp_rmem", "Least, default and largest TCP receive buffer, in bytes."),
    ("net.ipv4.tcp_slow_start_after_idle", "Whether an idle connection starts slowly again."),
    ("net.ipv4.tcp_syn_retries", "How often a connection request is sent again."),
    ("net.ipv4.tcp_syncookies", "Whether SYN cookies answer when the backlog is full."),
    ("net.ipv4.tcp_wmem", "Least, default and largest TCP send buffer, in bytes."),
    ("net.netfilter.nf_conntrack_max", "Connections that the firewall tracks."),
    ("vm.max_map_count", "Memory areas of one process."),
    ("vm.overcommit_memory", "How memory is promised beyond what there is (0, 1, 2)."),
    ("vm.swappiness", "How readily memory is swapped out."),
)
"""Settings whose value is a number or a row of numbers; a host has some of them only."""


def sysctl_metric(setting: str) -> str:
    """The metric of a setting, such as `node_sysctl_net_ipv4_tcp_rmem`."""
    return "node_sysctl_" + setting.replace(".", "_").replace("-", "_")


METRICS = (
    *describe(
        node_sockstat_TCP_inuse="TCP sockets in use, without TIME-WAIT.",
        node_sockstat_TCP_alloc="TCP sockets that are allocated.",
        node_sockstat_TCP_orphan="TCP sockets that no process holds any more.",
        node_sockstat_TCP_tw="TIME-WAIT buckets, orphaned FIN-WAIT-2 among them.",
        node_sockstat_TCP_mem_bytes="Memory of TCP buffers.",
        node_sockstat_sockets_used="Sockets of all kinds.",
    ),
    *describe(
        "counter",
        node_netstat_TcpExt_ListenOverflows="Connections lost to a full accept queue.",
        node_netstat_TcpExt_ListenDrops="Connection requests that a listener dropped.",
        node_netstat_TcpExt_TCPTimeWaitOverflow="Connections closed without TIME-WAIT because all buckets were taken.",
        node_netstat_TcpExt_TCPTimeouts="Retransmission timers that ran out.",
        node_netstat_TcpExt_TW="Connections that went through TIME-WAIT.",
        node_netstat_Tcp_ActiveOpens="Connections that this host opened.",
        node_netstat_Tcp_PassiveOpens="Connections that this host accepted.",
    ),
    *describe(node_netstat_Tcp_CurrEstab="Connections in ESTABLISHED or CLOSE-WAIT."),
    *describe(
        "counter",
        node_netstat_Tcp_RetransSegs="Segments that were sent again.",
        node_netstat_Tcp_AttemptFails="Attempts to connect that failed.",
        node_netstat_Tcp_EstabResets="Established connections that ended by a reset.",
        node_netstat_Tcp_OutRsts="Resets that this host sent.",
        node_netstat_Tcp_InSegs="Segments received.",
        node_netstat_Tcp_OutSegs="Segments sent.",
        node_netstat_Tcp_InErrs="Segments received that were damaged.",
        node_netstat_TcpExt_SyncookiesSent="SYN cookies sent.",
        node_netstat_TcpExt_SyncookiesRecv="SYN cookies that came back.",
        node_netstat_TcpExt_SyncookiesFailed="SYN cookies that came back wrong.",
        node_netstat_TcpExt_TCPSynRetrans="Connection requests, and answers to them, that were sent again.",
        node_netstat_TcpExt_TCPBacklogDrop="Segments dropped because a socket's backlog was full.",
        node_netstat_TcpExt_TCPOFOQueue="Segments received out of order.",
        node_netstat_TcpExt_TCPRcvQDrop="Segments dropped because a receive queue was full.",
        node_netstat_TcpExt_TCPReqQFullDrop="Connection requests dropped because the SYN backlog was full.",
        node_netstat_TcpExt_TCPReqQFullDoCookies="Connection requests answered by a SYN cookie for a full SYN backlog.",
        node_netstat_TcpExt_TCPAbortOnMemory="Connections ended for lack of memory.",
        node_netstat_TcpExt_TCPAbortOnTimeout="Connections ended because a timer ran out too often.",
        node_netstat_TcpExt_TCPAbortOnData="Connections reset because data came after they were closed.",
        node_netstat_TcpExt_TCPAbortFailed="Resets that could not be sent.",
        node_netstat_Udp_InDatagrams="Datagrams received.",
        node_netstat_Udp_OutDatagrams="Datagrams sent.",
        node_netstat_Udp_NoPorts="Datagrams to a port that nobody listens on.",
        node_netstat_Udp_InErrors="Datagrams that could not be delivered.",
        node_netstat_Udp_RcvbufErrors="Datagrams dropped because a receive buffer was full.",
        node_netstat_Udp_SndbufErrors="Datagrams not sent because a send buffer was full.",
    ),
    *describe(
        node_tcp_connection_states="TCP sockets by state.",
        tcp_connections="TCP connections by port, end, and state.",
        tcp_peer_connections="Established TCP connections by process, own address, peer, and port; of the fifty most.",
        tcp_accept_queue="Connections that wait to be accepted.",
        tcp_accept_queue_limit="Connections that may wait to be accepted.",
        kernel_tcp_max_tw_buckets="TIME-WAIT buckets that the kernel allows.",
        kernel_ephemeral_ports="Local ports for outgoing connections.",
        kernel_somaxconn="Longest accept queue that a listener can have.",
        kernel_tcp_max_syn_backlog="Half-open connections of a listener.",
        kernel_tcp_max_orphans="Connections without process that are allowed.",
        kernel_tcp_tw_reuse="Whether TIME-WAIT ports are reused (0, 1, 2).",
        kernel_tcp_fin_timeout_seconds="How long an orphan stays.",
        kernel_file_max="Open files that the host allows.",
        kernel_nr_open="Open files that one process may be allowed.",
    ),
    *describe("gauge", **{sysctl_metric(setting): text for setting, text in SYSCTLS}),
    *describe(node_sysctl_info="Value of a kernel setting that is a text, as a label."),
)
