"""MySQL and MariaDB."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="db-threads",
        title=Words("Threads running", "実行中スレッド"),
        signals=(
            Signal(
                id="db_running",
                title=Words("Running", "実行中"),
                help=Words(
                    "Threads that work on a query now; far above the number of cores they wait for each other.",
                    "クエリ処理中のスレッド。コア数を大きく超えると互いに待ち合う。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (instance) (mysql_global_status_threads_running)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-queries",
        title=Words("Queries", "クエリ"),
        signals=(
            Signal(
                id="db_queries",
                title=Words("Queries", "クエリ"),
                help=Words("Statements of all kinds.", "全種類の文。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance) (rate(mysql_global_status_queries[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-rows-written",
        title=Words("Rows written", "書き込み行数"),
        signals=(
            Signal(
                id="db_rows_written",
                title=Words("Written", "書き込み"),
                help=Words(
                    "Handler_write: rows, where Com_insert counts statements; also exists on MariaDB.",
                    "Handler_write。行数を数える(Com_insertは文の数)。MariaDBにも存在する。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_BETTER,
                expression='sum by (instance) (rate(mysql_global_status_handlers_total{handler="write"}[$window]))',
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-commands",
        title=Words("Statements by kind", "種類別の文"),
        signals=(
            Signal(
                id="db_commands",
                title=Words("Statements", "文"),
                help=Words("The eight most frequent kinds of statement.", "頻度の高い上位8種類の文。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression=(
                    "topk(8, sum by (instance, command) (rate(mysql_global_status_commands_total[$window])) > 0)"
                ),
                legend="{{instance}} {{command}}",
            ),
        ),
    ),
    Panel(
        id="db-refused",
        title=Words("Refused and aborted connections", "拒否・中断された接続"),
        signals=(
            Signal(
                id="db_aborted_connects",
                title=Words("Refused logins", "ログイン拒否"),
                help=Words("Aborted_connects.", "Aborted_connects。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(mysql_global_status_aborted_connects[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="db_aborted_clients",
                title=Words("Aborted clients", "中断クライアント"),
                help=Words("Connections that their client left without a word.", "クライアントが黙って切った接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(mysql_global_status_aborted_clients[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="db_connection_errors",
                title=Words("Errors", "エラー"),
                help=Words(
                    "Connection errors by kind; MariaDB undercounts max_connections.",
                    "種類別の接続エラー。MariaDBではmax_connectionsが過小に数えられる。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance, error) (rate(mysql_global_status_connection_errors_total[$window])) > 0",
                legend="{{instance}} {{error}}",
            ),
        ),
    ),
    Panel(
        id="db-slow",
        title=Words("Slow queries", "スロークエリ"),
        signals=(
            Signal(
                id="db_slow",
                title=Words("Slow", "低速"),
                help=Words("Queries slower than long_query_time.", "long_query_timeより遅いクエリ。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(mysql_global_status_slow_queries[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-locks",
        title=Words("Waits for row locks", "行ロック待ち"),
        signals=(
            Signal(
                id="db_row_lock_waits",
                title=Words("Waits", "待ち"),
                help=Words("Row lock waits that began.", "開始された行ロック待ち。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (instance) (rate(mysql_global_status_innodb_row_lock_waits[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-buffer-pool",
        title=Words("Buffer pool hits", "バッファプールのヒット率"),
        signals=(
            Signal(
                id="db_buffer_pool_hits",
                title=Words("Hits", "ヒット"),
                help=Words(
                    "Share of page reads that memory answered; low after a restart.",
                    "メモリで応えたページ読み取りの割合。再起動直後は低い。",
                ),
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_BETTER,
                expression=(
                    "1 - sum by (instance) (rate(mysql_global_status_innodb_buffer_pool_reads[$window])) / "
                    "(sum by (instance) "
                    "(rate(mysql_global_status_innodb_buffer_pool_read_requests[$window])) > 0)"
                ),
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="db-bytes",
        title=Words("Database traffic", "DBの通信量"),
        signals=(
            Signal(
                id="db_bytes_received",
                title=Words("Received", "受信"),
                help=Words("Bytes from clients.", "クライアントからの受信量。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance) (rate(mysql_global_status_bytes_received[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="db_bytes_sent",
                title=Words("Sent", "送信"),
                help=Words("Bytes to clients.", "クライアントへの送信量。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance) (rate(mysql_global_status_bytes_sent[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="database", title=Words("Database", "データベース"), panels=PANELS)
