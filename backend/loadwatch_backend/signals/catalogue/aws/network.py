"""RDS Proxy and NAT gateways: what lies between an application and what it talks to, as CloudWatch sees it."""

from loadwatch_backend.signals.catalogue.aws.parts import GATEWAY, PER_SECOND, PROXY, Family
from loadwatch_backend.signals.model import Group, Orientation, Panel, Total, Unit
from loadwatch_backend.texts.words import Words

RDS_PROXY = Family(prefix="aws_rds", dimension=PROXY)
NAT_GATEWAY = Family(prefix="aws_natgateway", dimension=GATEWAY)
MICROSECONDS = " / 1000000"


PROXY_PANELS = (
    Panel(
        id="aws-proxy-databases",
        title=Words("Connections to databases", "データベースへの接続"),
        signals=(
            RDS_PROXY.signal(
                "aws_proxy_borrowed",
                ("Borrowed", "借用中"),
                (
                    "DatabaseConnectionsCurrentlyBorrowed: connections that clients have in use. At the line above "
                    "the next client waits.",
                    "DatabaseConnectionsCurrentlyBorrowed。クライアントが使用中の接続。許容数に達すると次のクライアントは待つ。",
                ),
                "database_connections_currently_borrowed_sum",
            ),
            RDS_PROXY.signal(
                "aws_proxy_open",
                ("Open", "接続済み"),
                (
                    "DatabaseConnections: connections that the proxy holds, borrowed or idle.",
                    "DatabaseConnections。プロキシが保つ接続(借用中とアイドル)。",
                ),
                "database_connections_sum",
            ),
            RDS_PROXY.signal(
                "aws_proxy_allowed",
                ("Allowed", "許容数"),
                (
                    "MaxDatabaseConnectionsAllowed: connections that the proxy may open.",
                    "MaxDatabaseConnectionsAllowed。プロキシが開ける接続数。",
                ),
                "max_database_connections_allowed_sum",
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-proxy-borrow",
        title=Words("Wait for a connection", "接続待ち時間"),
        signals=(
            RDS_PROXY.signal(
                "aws_proxy_borrow_latency",
                ("Mean", "平均"),
                (
                    "DatabaseConnectionsBorrowLatency: how long clients wait until they get a connection.",
                    "DatabaseConnectionsBorrowLatency。クライアントが接続を得るまでの待ち時間。",
                ),
                "database_connections_borrow_latency_average",
                scale=MICROSECONDS,
                unit=Unit.SECONDS,
                total=Total.HIGHEST,
            ),
            RDS_PROXY.signal(
                "aws_proxy_borrow_latency_highest",
                ("Longest", "最長"),
                ("The longest wait of each minute.", "1分間で最長の待ち。"),
                "database_connections_borrow_latency_maximum",
                scale=MICROSECONDS,
                unit=Unit.SECONDS,
                total=Total.HIGHEST,
            ),
        ),
    ),
    Panel(
        id="aws-proxy-clients",
        title=Words("Clients of the proxy", "プロキシのクライアント"),
        signals=(
            RDS_PROXY.signal(
                "aws_proxy_clients",
                ("Connections", "接続数"),
                (
                    "ClientConnections: connections of clients to the proxy.",
                    "ClientConnections。クライアントの接続数。",
                ),
                "client_connections_sum",
            ),
        ),
    ),
    Panel(
        id="aws-proxy-pinned",
        title=Words("Sessions that keep their connection", "接続を離さないセッション"),
        signals=(
            RDS_PROXY.signal(
                "aws_proxy_pinned",
                ("Pinned", "固定"),
                (
                    "DatabaseConnectionsCurrentlySessionPinned: a client changed its session's state, so nobody else "
                    "can borrow its connection until it ends.",
                    "DatabaseConnectionsCurrentlySessionPinned。セッション状態を変えたため、終了まで他が借用できない接続。",
                ),
                "database_connections_currently_session_pinned_sum",
            ),
            RDS_PROXY.signal(
                "aws_proxy_in_transaction",
                ("In a transaction", "トランザクション中"),
                (
                    "DatabaseConnectionsCurrentlyInTransaction: kept until the transaction ends.",
                    "DatabaseConnectionsCurrentlyInTransaction。トランザクション終了まで離さない。",
                ),
                "database_connections_currently_in_transaction_sum",
            ),
        ),
    ),
    Panel(
        id="aws-proxy-failures",
        title=Words("Connections that failed", "失敗した接続"),
        signals=(
            RDS_PROXY.signal(
                "aws_proxy_failed_to_database",
                ("To databases", "データベースへ"),
                (
                    "DatabaseConnectionsSetupFailed: the database is full, away, or refuses the login.",
                    "DatabaseConnectionsSetupFailed。データベースが満杯・停止・ログイン拒否。",
                ),
                "database_connections_setup_failed_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
            RDS_PROXY.signal(
                "aws_proxy_failed_from_clients",
                ("Of clients", "クライアントから"),
                (
                    "ClientConnectionsSetupFailedAuth: a wrong login, or no TLS where it is required.",
                    "ClientConnectionsSetupFailedAuth。ログインの誤り、または必須のTLSなし。",
                ),
                "client_connections_setup_failed_auth_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
        ),
    ),
)

GATEWAY_PANELS = (
    Panel(
        id="aws-nat-ports",
        title=Words("Connections without a port", "ポートを得られない接続"),
        signals=(
            NAT_GATEWAY.signal(
                "aws_nat_port_errors",
                ("Refused", "失敗"),
                (
                    "ErrorPortAllocation: connections that failed because too many are open to one destination, "
                    "55,000 for each address of the gateway.",
                    "ErrorPortAllocation。1つの宛先への接続が多すぎて失敗した接続。上限はアドレスごとに55,000。",
                ),
                "error_port_allocation_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
        ),
    ),
    Panel(
        id="aws-nat-connections",
        title=Words("Connections through the gateway", "ゲートウェイの接続"),
        signals=(
            NAT_GATEWAY.signal(
                "aws_nat_connections",
                ("Open", "接続中"),
                (
                    "ActiveConnectionCount, the highest of each minute, to all destinations together.",
                    "ActiveConnectionCount。1分間の最大値(全宛先の合計)。",
                ),
                "active_connection_count_maximum",
            ),
        ),
    ),
    Panel(
        id="aws-nat-dropped",
        title=Words("Dropped packets", "破棄されたパケット"),
        signals=(
            NAT_GATEWAY.signal(
                "aws_nat_dropped",
                ("Dropped", "破棄"),
                (
                    "PacketsDropCount: packets that the gateway dropped; clients send them again after a pause.",
                    "PacketsDropCount。ゲートウェイが破棄したパケット。クライアントは間をおいて再送する。",
                ),
                "packets_drop_count_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
        ),
    ),
)

PROXIES = Group(
    id="aws_proxies",
    title=Words("AWS database proxies", "AWS データベースプロキシ"),
    panels=PROXY_PANELS,
    optional=True,
)
GATEWAYS = Group(id="aws_network", title=Words("AWS network", "AWS ネットワーク"), panels=GATEWAY_PANELS, optional=True)
