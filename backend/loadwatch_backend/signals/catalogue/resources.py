"""Everything that can run out, with its limit.

A limit of zero means "unlimited" where `> 0` leaves it out, and otherwise that there is no such thing (no swap, say).
"""

from collections.abc import Sequence

from loadwatch_backend.signals.model import Resource, Unit
from loadwatch_backend.texts.words import Words

RESOURCES: Sequence[Resource] = (
    Resource(
        id="db_connections",
        title=Words("Database connections", "DB接続数"),
        help=Words(
            "Connections against max_connections, which all clients of the database share.",
            "接続数と、DBの全クライアントが共有するmax_connections。",
        ),
        unit=Unit.COUNT,
        used="max by (job, instance) (mysql_global_status_threads_connected)",
        limit="max by (job, instance) (mysql_global_variables_max_connections)",
        legend="{{instance}}",
        group="database",
        rule="DatabaseConnectionsHigh",
        demand="sum by (job, instance) (rate(mysql_global_status_aborted_connects[$window]))",
    ),
    Resource(
        id="pool_connections",
        title=Words("Connection pool", "コネクションプール"),
        help=Words(
            "Connections in use against SetMaxOpenConns; an unlimited pool is left out.",
            "使用中の接続とSetMaxOpenConns。無制限のプールは除く。",
        ),
        unit=Unit.COUNT,
        used="sum by (job, instance, db_name) (go_sql_in_use_connections)",
        limit="sum by (job, instance, db_name) (go_sql_max_open_connections) > 0",
        legend="{{instance}} {{db_name}}",
        group="pool",
        rule="PoolSaturated",
        # The time that requests wait; by their number where none of them has ended yet.
        demand="sum by (job, instance, db_name) (rate(go_sql_wait_duration_seconds_total[$window])) > 0 or "
        "sum by (job, instance, db_name) (rate(go_sql_wait_count_total[$window])) / 1000000",
    ),
    Resource(
        id="ingest_queue",
        title=Words("Ingest queue", "取り込みキュー"),
        help=Words(
            "Requests in the application's queue against its length.", "アプリのキューにあるリクエスト数とキュー長。"
        ),
        unit=Unit.COUNT,
        used="sum by (job, instance) (ingest_queue_length)",
        limit="sum by (job, instance) (ingest_queue_limit) > 0",
        legend="{{instance}}",
        group="ingest",
        rule="IngestQueueHigh",
        demand="sum by (job, instance) (rate(ingest_rejected_total[$window]))",
    ),
    Resource(
        id="process_fds",
        title=Words("File descriptors", "ファイル記述子"),
        help=Words(
            "Open files and sockets against the limit of the process itself.",
            "開いているファイル・ソケットとプロセス自身の上限。",
        ),
        unit=Unit.COUNT,
        used="max by (job, instance, name) (process_open_fds)",
        limit="max by (job, instance, name) (process_max_fds)",
        legend="{{job}} {{instance}} {{name}}",
        group="process",
        rule="FileDescriptorsHigh",
        demand="sum by (job, instance) (rate(http_accept_errors_total[$window]))",
    ),
    Resource(
        id="time_wait",
        title=Words("TIME-WAIT sockets", "TIME-WAITソケット"),
        help=Words(
            "Against net.ipv4.tcp_max_tw_buckets; beyond it sockets are closed early.",
            "net.ipv4.tcp_max_tw_bucketsとの比較。超えると早期に閉じられる。",
        ),
        unit=Unit.COUNT,
        used="max by (instance) (node_sockstat_TCP_tw)",
        limit="max by (instance) (kernel_tcp_max_tw_buckets)",
        legend="{{instance}}",
        group="sockets",
        rule="TimeWaitHigh",
        demand="sum by (instance) (rate(node_netstat_TcpExt_TCPTimeWaitOverflow[$window]))",
    ),
    Resource(
        id="ephemeral_ports",
        title=Words("Ephemeral ports", "エフェメラルポート"),
        help=Words(
            "Connections to one port elsewhere against the local ports there are. Several addresses behind the port "
            "each have that many, so this warns early rather than late.",
            "1つの接続先ポートへの接続数と使用可能なローカルポート数。接続先アドレスが複数あれば余裕はこれより大きい。",
        ),
        unit=Unit.COUNT,
        used='max by (instance, port) (sum by (job, instance, port) (tcp_connections{side="remote",state!="listen"}))',
        limit="max by (instance) (kernel_ephemeral_ports)",
        legend="{{instance}} → {{port}}",
        group="sockets",
        rule="EphemeralPortsHigh",
    ),
    Resource(
        id="accept_queue",
        title=Words("Accept queue", "acceptキュー"),
        help=Words(
            "Connections that wait to be accepted against the backlog of the listening socket.",
            "accept待ちの接続と待ち受けソケットのバックログ。",
        ),
        unit=Unit.COUNT,
        used="max by (instance, port) (tcp_accept_queue)",
        limit="max by (instance, port) (tcp_accept_queue_limit) > 0",
        legend="{{instance}} {{port}}",
        group="sockets",
        rule="AcceptQueueFull",
        demand="sum by (instance) (rate(node_netstat_TcpExt_ListenOverflows[$window]))",
    ),
    Resource(
        id="host_cpu",
        title=Words("CPU", "CPU"),
        help=Words("Cores in use against all cores.", "使用中のコアと全コア。"),
        unit=Unit.COUNT,
        used='sum by (instance) (rate(node_cpu_seconds_total{mode!~"idle|iowait"}[$window]))',
        limit='count by (instance) (node_cpu_seconds_total{mode="idle"})',
        legend="{{instance}}",
        group="host",
        rule="HostCpuHigh",
        demand="sum by (instance) (rate(node_pressure_cpu_waiting_seconds_total[$window])) > bool 0.1",
    ),
    Resource(
        id="host_memory",
        title=Words("Memory", "メモリ"),
        help=Words("Memory that cannot be had without swapping.", "スワップなしでは確保できないメモリ。"),
        unit=Unit.BYTES,
        used="max by (instance) (node_memory_MemTotal_bytes) - max by (instance) (node_memory_MemAvailable_bytes)",
        limit="max by (instance) (node_memory_MemTotal_bytes)",
        legend="{{instance}}",
        group="host",
        rule="HostMemoryHigh",
    ),
    Resource(
        id="host_swap",
        title=Words("Swap", "スワップ"),
        help=Words("Swap in use.", "使用中のスワップ。"),
        unit=Unit.BYTES,
        used="max by (instance) (node_memory_SwapTotal_bytes) - max by (instance) (node_memory_SwapFree_bytes)",
        limit="max by (instance) (node_memory_SwapTotal_bytes) > 0",
        legend="{{instance}}",
        group="host",
        no_rule="What lies in swap may lie there since yesterday; HostSwapping warns of pages that move.",
        demand=(
            "sum by (instance) (rate(node_vmstat_pswpin[$window]))"
            " + sum by (instance) (rate(node_vmstat_pswpout[$window]))"
        ),
    ),
    Resource(
        id="host_file_handles",
        title=Words("File handles of the host", "ホスト全体のファイルハンドル"),
        help=Words("Open file handles of all processes against fs.file-max.", "全プロセスの合計とfs.file-max。"),
        unit=Unit.COUNT,
        used="max by (instance) (node_filefd_allocated)",
        limit="max by (instance) (node_filefd_maximum)",
        legend="{{instance}}",
        group="host",
        rule="HostFileHandlesHigh",
    ),
)
