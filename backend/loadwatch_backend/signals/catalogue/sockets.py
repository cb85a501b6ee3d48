"""TCP of the watched hosts."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="tcp-states",
        title=Words("TCP connections by state", "状態別TCP接続数"),
        signals=(
            Signal(
                id="tcp_states",
                title=Words("Connections", "接続"),
                help=Words("Sockets by state, on each host.", "ホストごとの状態別ソケット数。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression='sum by (instance, state) (node_tcp_connection_states{state!~".*_queued_bytes"}) > 0',
                legend="{{instance}} {{state}}",
            ),
        ),
    ),
    Panel(
        id="time-wait",
        title=Words("TIME-WAIT", "TIME-WAIT"),
        signals=(
            Signal(
                id="time_wait",
                title=Words("Sockets", "ソケット"),
                help=Words(
                    "sockstat's tw, which also holds orphaned FIN-WAIT-2. At the kernel's limit the level "
                    "stays flat and only overflows move.",
                    "sockstatのtw(孤立したFIN-WAIT-2も含む)。カーネル上限では横ばいになり、溢れだけが増える。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="time_wait",
                expression="sum by (instance) (node_sockstat_TCP_tw)",
                legend="{{instance}}",
            ),
            Signal(
                id="time_wait_limit",
                title=Words("Limit", "上限"),
                help=Words("net.ipv4.tcp_max_tw_buckets.", "net.ipv4.tcp_max_tw_buckets。"),
                unit=Unit.COUNT,
                limit=True,
                orientation=Orientation.NEUTRAL,
                expression="max by (instance) (kernel_tcp_max_tw_buckets)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="socket-overflows",
        title=Words("Overflows", "溢れ"),
        signals=(
            Signal(
                id="listen_overflows",
                title=Words("Accept queue", "acceptキュー"),
                help=Words(
                    "Connections dropped because an accept queue was full. The database's own back_log can be the one.",
                    "acceptキューが満杯で捨てられた接続。DB自身のback_logの場合もある。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(node_netstat_TcpExt_ListenOverflows[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="time_wait_overflows",
                title=Words("TIME-WAIT", "TIME-WAIT"),
                help=Words(
                    "Sockets closed early because TIME-WAIT was at its limit.",
                    "TIME-WAITが上限のため早期に閉じられたソケット。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(node_netstat_TcpExt_TCPTimeWaitOverflow[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="accept-queue",
        title=Words("Accept queues", "acceptキュー"),
        signals=(
            Signal(
                id="accept_queue",
                title=Words("Waiting", "待ち"),
                help=Words(
                    "Connections that wait to be accepted: the best sign that the application has no file "
                    "descriptors or no time.",
                    "accept待ちの接続。記述子不足や処理遅延の最良の兆候。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="accept_queue",
                expression="max by (instance, port) (tcp_accept_queue) > 0",
                legend="{{instance}} {{port}}",
            ),
        ),
    ),
    Panel(
        id="tcp-troubles",
        title=Words("Retransmits and resets", "再送とリセット"),
        signals=(
            Signal(
                id="tcp_retransmits",
                title=Words("Retransmits", "再送"),
                help=Words("Segments sent again.", "再送されたセグメント。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(node_netstat_Tcp_RetransSegs[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="tcp_resets_sent",
                title=Words("Resets sent", "送信リセット"),
                help=Words("Resets that the host sent.", "ホストが送ったリセット。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(node_netstat_Tcp_OutRsts[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="tcp_connections_reset",
                title=Words("Connections reset", "切断された接続"),
                help=Words("Established connections that ended by a reset.", "確立後にリセットで終わった接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(node_netstat_Tcp_EstabResets[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="tcp-opens",
        title=Words("Connections opened", "開始された接続"),
        signals=(
            Signal(
                id="tcp_active_opens",
                title=Words("Outgoing", "発信"),
                help=Words("Connections that the host opened.", "ホストから開いた接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance) (rate(node_netstat_Tcp_ActiveOpens[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="tcp_passive_opens",
                title=Words("Incoming", "着信"),
                help=Words("Connections that the host accepted.", "ホストが受け入れた接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance) (rate(node_netstat_Tcp_PassiveOpens[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="sockstat",
        title=Words("Sockets in use", "使用中ソケット"),
        signals=(
            Signal(
                id="sockets_used",
                title=Words("All", "全体"),
                help=Words("Sockets of every kind.", "全種類のソケット。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression="max by (instance) (node_sockstat_sockets_used)",
                legend="{{instance}}",
            ),
            Signal(
                id="sockets_tcp",
                title=Words("TCP", "TCP"),
                help=Words("TCP sockets with an owner.", "所有者のあるTCPソケット。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression="max by (instance) (node_sockstat_TCP_inuse)",
                legend="{{instance}}",
            ),
            Signal(
                id="sockets_orphan",
                title=Words("Orphans", "孤立"),
                help=Words("TCP sockets that no process holds any more.", "どのプロセスにも属さないTCPソケット。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (instance) (node_sockstat_TCP_orphan)",
                legend="{{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="sockets", title=Words("Sockets", "ソケット"), panels=PANELS)
