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
        id="db-connections",
        title=Words("Database connections against the limit", "DB接続数と上限"),
        signals=(
            Signal(
                id="db_connected",
                title=Words("Connected", "接続中"),
                help=Words(
                    "Threads_connected. While logins are refused it reads anything below the limit.",
                    "Threads_connected。ログイン拒否中は上限未満の値を示すことがある。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="db_connections",
                expression="max by (instance) (mysql_global_status_threads_connected)",
                legend="{{instance}}",
            ),
            Signal(
                id="db_max_used",
                title=Words("Most at once", "最大同時"),
                help=Words(
                    "Max_used_connections since the server's start: limit + 1 proves that the limit was hit.",
                    "起動以来のMax_used_connections。上限+1なら上限に達した証拠。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="db_connections",
                expression="max by (instance) (mysql_global_status_max_used_connections)",
                legend="{{instance}}",
            ),
            Signal(
                id="db_limit",
                title=Words("Limit", "上限"),
                help=Words("max_connections, shared by all clients.", "全クライアントが共有するmax_connections。"),
                unit=Unit.COUNT,
                limit=True,
                orientation=Orientation.NEUTRAL,
                expression="max by (instance) (mysql_global_variables_max_connections)",
                legend="{{instance}}",
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
