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

GROUP = Group(id="connections", title=Words("Connections", "接続"), panels=PANELS)
