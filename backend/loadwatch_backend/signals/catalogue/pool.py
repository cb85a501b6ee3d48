"""The application's connection pool, from sql.DBStats."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

_WAITS_BEGUN = "sum by (instance, db_name) (rate(go_sql_wait_count_total[{}]))"

PANELS = (
    Panel(
        # As old addresses name it.
        id="pool-waits.seconds",
        title=Words("Mean wait for a pooled connection", "コネクションプールの平均待ち時間"),
        signals=(
            Signal(
                id="pool_wait_mean",
                title=Words("Mean wait", "平均待ち時間"),
                help=Words(
                    "WaitDuration over WaitCount. A wait is counted when it begins and its duration when it ends: "
                    "while waits pile up the mean reads too low. No value while far fewer begin than did before: "
                    "those that end then began earlier.",
                    "WaitDuration÷WaitCount。回数は開始時、時間は終了時に加算されるため、待ちが積み上がる間は低めに出る。"
                    "開始する待ちがそれまでよりはるかに少ない間は、終わる待ちが以前に始まったものなので値を出さない。",
                ),
                unit=Unit.SECONDS,
                orientation=Orientation.MORE_IS_WORSE,
                expression=(
                    "sum by (instance, db_name) (rate(go_sql_wait_duration_seconds_total[$window])) / ("
                    f"{_WAITS_BEGUN.format('$window')} > 0"
                    f" unless {_WAITS_BEGUN.format('$window')} < 0.5 * {_WAITS_BEGUN.format('15s')}"
                    f" unless {_WAITS_BEGUN.format('$window')} < 0.2 * {_WAITS_BEGUN.format('1m')}"
                    f" unless {_WAITS_BEGUN.format('$window')} < 0.2 * {_WAITS_BEGUN.format('5m')})"
                ),
                legend="{{instance}} {{db_name}}",
            ),
        ),
    ),
    Panel(
        id="pool-state",
        title=Words("Pool", "プールの状態"),
        signals=(
            Signal(
                id="pool_in_use",
                title=Words("In use", "使用中"),
                help=Words("Connections that run a query now.", "クエリ実行中の接続数。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="pool_connections",
                expression="sum by (job, instance, db_name) (go_sql_in_use_connections)",
                legend="{{instance}} {{db_name}}",
            ),
            Signal(
                id="pool_idle",
                title=Words("Idle", "待機中"),
                help=Words("Connections kept for the next query.", "次のクエリのために保持している接続数。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, db_name) (go_sql_idle_connections)",
                legend="{{instance}} {{db_name}}",
            ),
            Signal(
                id="pool_open",
                title=Words("Open", "オープン"),
                help=Words("In use and idle, and dials that are not answered yet.", "使用中+待機中+接続確立待ち。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, db_name) (go_sql_open_connections)",
                legend="{{instance}} {{db_name}}",
            ),
            Signal(
                id="pool_limit",
                title=Words("Most allowed", "上限"),
                help=Words(
                    "SetMaxOpenConns; no line where it is unlimited.", "SetMaxOpenConns。無制限の場合は線を描かない。"
                ),
                unit=Unit.COUNT,
                limit=True,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, db_name) (go_sql_max_open_connections) > 0",
                legend="{{instance}} {{db_name}}",
            ),
        ),
    ),
    Panel(
        id="pool-churn",
        title=Words("Connections closed by the pool", "プールが閉じた接続"),
        signals=(
            Signal(
                id="pool_closed_idle",
                title=Words("Above MaxIdle", "MaxIdle超過"),
                help=Words(
                    "Closed because enough were idle; MaxIdle is 2 by default, so every burst opens and "
                    "closes connections.",
                    "待機数が上限を超えて閉じた接続。MaxIdleの既定値は2のため、バーストのたびに開閉が起きる。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance, db_name) (rate(go_sql_max_idle_closed_total[$window]))",
                legend="{{instance}} {{db_name}}",
            ),
            Signal(
                id="pool_closed_idle_time",
                title=Words("Idle too long", "アイドル時間超過"),
                help=Words("Closed by SetConnMaxIdleTime.", "SetConnMaxIdleTimeにより閉じた接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, db_name) (rate(go_sql_max_idle_time_closed_total[$window]))",
                legend="{{instance}} {{db_name}}",
            ),
            Signal(
                id="pool_closed_lifetime",
                title=Words("Too old", "寿命超過"),
                help=Words("Closed by SetConnMaxLifetime.", "SetConnMaxLifetimeにより閉じた接続。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, db_name) (rate(go_sql_max_lifetime_closed_total[$window]))",
                legend="{{instance}} {{db_name}}",
            ),
        ),
    ),
    Panel(
        id="pool-waiting",
        title=Words("Time spent waiting for the pool", "プール待ちの合計時間"),
        signals=(
            Signal(
                id="pool_waiting",
                title=Words("Waiting", "待ち"),
                help=Words(
                    "Seconds waited per second: about how many requests wait at once.",
                    "1秒あたりの待ち秒数。同時に待っているリクエスト数の目安。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance, db_name) (rate(go_sql_wait_duration_seconds_total[$window]))",
                legend="{{instance}} {{db_name}}",
            ),
        ),
    ),
)

GROUP = Group(id="pool", title=Words("Connection pool", "コネクションプール"), panels=PANELS)
