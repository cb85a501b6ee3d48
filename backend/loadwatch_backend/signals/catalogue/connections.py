"""Who holds the connections to the database."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="connections-by-user",
        title=Words("Database connections by user", "ユーザー別DB接続数"),
        signals=(
            Signal(
                id="connections_by_user",
                title=Words("Connections", "接続"),
                help=Words(
                    "Who holds the database's connections. Without the PROCESS privilege the agent sees its own only.",
                    "DB接続を保持しているユーザー。PROCESS権限がないと自分の接続しか見えない。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="db_connections",
                expression="sum by (instance, mysql_user) (mysql_info_schema_processlist_processes_by_user)",
                legend="{{instance}} {{mysql_user}}",
            ),
        ),
    ),
    Panel(
        id="connections-by-host",
        title=Words("Database connections by client", "クライアント別DB接続数"),
        signals=(
            Signal(
                id="connections_by_host",
                title=Words("Connections", "接続"),
                help=Words("From which hosts the connections come.", "接続元ホスト。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="db_connections",
                expression="sum by (instance, client_host) (mysql_info_schema_processlist_processes_by_host)",
                legend="{{instance}} {{client_host}}",
            ),
        ),
    ),
    Panel(
        id="outgoing",
        title=Words("Connections to ports elsewhere", "接続先ポート別の接続数"),
        signals=(
            Signal(
                id="tcp_outgoing",
                title=Words("Connections", "接続"),
                help=Words(
                    "TCP connections that the watched hosts opened, by the port they lead to.",
                    "監視ホストから張られたTCP接続(接続先ポート別)。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression='sum by (job, instance, port) (tcp_connections{side="remote",state!="listen"}) > 0',
                legend="{{instance}} → {{port}}",
            ),
        ),
    ),
    Panel(
        id="incoming",
        title=Words("Connections to ports here", "待ち受けポート別の接続数"),
        signals=(
            Signal(
                id="tcp_incoming",
                title=Words("Connections", "接続"),
                help=Words(
                    "TCP connections on the listening ports of the watched hosts, whatever their state.",
                    "監視ホストの待ち受けポートごとのTCP接続数(状態は問わない)。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression='sum by (job, instance, port) (tcp_connections{side="local",state!="listen"}) > 0',
                legend="{{instance}} {{port}}",
            ),
        ),
    ),
)

_PEERS = "tcp_peer_connections"


def _ends(side: str, form: str) -> str:
    """Process, peer and port as one label."""
    joined = f'label_join({_PEERS}{{side="{side}"}}, "ends", ";", "process", "peer", "port")'
    return f'label_replace({joined}, "ends", "{form}", "ends", "(.*);(.*);(.*)")'


# Which watched host has an address; one that several have (loopback, bridges of containers) is nobody's.
_ADDRESSES = f'group by (instance, address) ({_PEERS}{{address!~"127\\\\..*|::1", address!=""}})'
_PEER_HOSTS = (
    f'label_replace(label_replace({_ADDRESSES}, "peer", "$1", "address", "(.+)"), "to", "$1", "instance", "(.+)")'
)
_HOSTS = f"group by (peer, to) ({_PEER_HOSTS})"
_KNOWN = f"({_HOSTS} and on (peer) (count by (peer) ({_HOSTS}) == 1))"
_OUT = f'sum by (job, instance, peer) ({_PEERS}{{side="remote"}})'

PEER_PANELS = (
    Panel(
        id="tcp-peers",
        title=Words("Connections by process and peer", "プロセス・相手別の接続数"),
        stacked=True,
        table=True,
        signals=(
            Signal(
                id="tcp_peers",
                title=Words("Connections", "接続"),
                help=Words(
                    "Who holds the connections: established ones by the process of this host and the address at the "
                    "other end. Opened here: process → peer:port; taken here: process:port ← peer. Of the fifty with "
                    "the most; the process is unknown where the agent may not see it.",
                    "接続の保持者。確立済みの接続を、このホストのプロセスと相手のアドレスごとに数える。"
                    "こちらから開いたものは「プロセス → 相手:ポート」、受け付けたものは「プロセス:ポート ← 相手」。"
                    "多い順に50件まで。エージェントから見えないプロセスはunknown。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression=(
                    f"sum by (job, instance, ends) ({_ends('remote', '$1 → $2:$3')} or {_ends('local', '$1:$3 ← $2')})"
                ),
                legend="{{instance}} {{ends}}",
                layers=("ends",),
            ),
        ),
    ),
    Panel(
        id="host-to-host",
        title=Words("Connections from host to host", "ホスト間の接続数"),
        stacked=True,
        table=True,
        signals=(
            Signal(
                id="host_to_host",
                title=Words("Connections", "接続"),
                help=Words(
                    "Established connections that each watched host opened, by the host they lead to: a watched one "
                    "by its name, any other by its address.",
                    "監視ホストが開いた確立済みの接続(接続先ホスト別)。監視中のホストは名前、その他はアドレスで示す。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression=(
                    f"sum by (job, instance, to) (({_OUT} * on (peer) group_left (to) {_KNOWN})"
                    f' or on (job, instance, peer) label_replace({_OUT}, "to", "$1", "peer", "(.*)"))'
                ),
                legend="{{instance}} → {{to}}",
                layers=("to",),
            ),
        ),
    ),
)

GROUP = Group(id="connections", title=Words("Connections", "接続"), panels=(*PANELS, *PEER_PANELS))
