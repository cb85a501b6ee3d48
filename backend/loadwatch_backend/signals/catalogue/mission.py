"""The six charts of the mission: what was sent and came back, then where it waits on its way into the database."""

from loadwatch_backend.signals.catalogue.aws.parts import CLOUDWATCH
from loadwatch_backend.signals.catalogue.requests import quantile_of_requests, rate_of_failures, rate_of_requests
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

BALANCER_REQUESTS = 'aws_applicationelb_request_count_sum{dimension_TargetGroup="", dimension_AvailabilityZone=""}'

RPS = Panel(
    id="rps",
    title=Words("Requests per second, from sender to database", "毎秒リクエスト数(送信からDBまで)"),
    signals=(
        Signal(
            id="rps_sent",
            title=Words("Sent", "送信"),
            help=Words(
                "Requests that the load generator sent, whatever became of them.",
                "負荷生成ツールが送信したリクエスト数(結果は問わない)。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.NEUTRAL,
            expression="sum(rate(loadtest_requests_total[$window])) or sum(rate(k6_http_reqs_total[$window]))",
            legend="",
            awaited=True,
        ),
        Signal(
            id="rps_balancer",
            title=Words("Balancer", "ロードバランサー"),
            help=Words(
                "Requests that the load balancer counted; CloudWatch gives one value a minute, minutes late.",
                "ロードバランサーが数えたリクエスト数。CloudWatchの値は1分ごとで、数分遅れる。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.NEUTRAL,
            # A minute for which one of several load balancers has not delivered yet has no total.
            expression=(
                f"sum({BALANCER_REQUESTS}) / 60"
                f" and on () count({BALANCER_REQUESTS}) == count(last_over_time({BALANCER_REQUESTS}[$window]))"
            ),
            legend="",
            cadence=CLOUDWATCH,
        ),
        Signal(
            id="rps_answered",
            title=Words("Answered", "応答"),
            help=Words(
                "Requests that a web server or application answered, by its access log or metrics.",
                "Webサーバーまたはアプリが応答したリクエスト数(アクセスログまたはメトリクスによる)。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.NEUTRAL,
            expression=rate_of_requests("job"),
            legend="{{job}}",
        ),
        Signal(
            id="rps_accepted",
            title=Words("Accepted", "受理"),
            help=Words(
                "Requests that the application accepted. Less than sent: they were lost on the way or are waiting.",
                "アプリが受理したリクエスト数。送信より少ない分は途中で失われたか待っている。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_BETTER,
            expression="sum(rate(ingest_accepted_total[$window]))",
            legend="",
        ),
        Signal(
            id="rps_stored",
            title=Words("Stored", "保存"),
            help=Words(
                "Rows that the application says it has written to the database; where it says nothing, those by which "
                "the watched table grows that grows most. Less than accepted: the backlog grows.",
                "アプリがDBに書き込んだと報告した行数。報告がなければ、監視テーブルのうち最も増えているものの行数の増加。"
                "受理より少ない間は滞留が増えている。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_BETTER,
            # As the reconciliation of runs counts them; a table of which rows are deleted meanwhile says nothing.
            expression="sum(rate(ingest_stored_total[$window])) or max(deriv(table_rows[$window])) >= 0",
            legend="",
        ),
        Signal(
            id="rps_target",
            title=Words("Target", "目標"),
            help=Words("Rate that the load generator was told to send.", "負荷生成ツールに指示されたレート。"),
            unit=Unit.PER_SECOND,
            limit=True,
            orientation=Orientation.NEUTRAL,
            expression="sum(loadtest_target_rate)",
            legend="",
        ),
    ),
)

LATENCY = Panel(
    id="latency",
    title=Words("Response time", "応答時間"),
    signals=(
        Signal(
            id="load_latency",
            title=Words("Response time", "応答時間"),
            help=Words(
                "Exact percentiles over each second, as the load generator measured them, with the fastest and the "
                "slowest answer: far apart, requests wait for each other (locks).",
                "負荷生成ツールが計測した、毎秒の正確なパーセンタイルと最速・最遅の応答。両者の差が大きければ、リクエスト同士が"
                "待ち合っている(ロック)。",
            ),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            expression='max by (quantile) (loadtest_request_duration_seconds{quantile!="0"})'
            ' or min by (quantile) (loadtest_request_duration_seconds{quantile="0"})',
            legend="{{quantile | percentile}}",
        ),
        Signal(
            id="load_latency_k6",
            title=Words("Response time (k6)", "応答時間(k6)"),
            help=Words("95th percentile that k6 pushes.", "k6が送る95パーセンタイル。"),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            expression=("max by (scenario) (k6_http_req_duration_p95) or max by (scenario) (k6_http_req_duration_p99)"),
            legend="{{scenario}}",
        ),
        Signal(
            id="latency_answered",
            title=Words("Web server p95", "Webサーバー p95"),
            help=Words(
                "95th percentile of the answers as a web server or application measures it: without the way to the "
                "sender and what waits before it. From a histogram: within half a bucket, 9 % for an access log.",
                "Webサーバーまたはアプリが計測した応答の95パーセンタイル。送信側までの経路や手前での待ちは含まない。"
                "ヒストグラムからの推定で、誤差はバケット幅の半分(アクセスログでは9%)。",
            ),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            expression=quantile_of_requests(0.95, "job"),
            legend="{{job}}",
        ),
    ),
)

FAILURES = Panel(
    id="failures",
    title=Words("Failures by kind", "失敗の内訳"),
    signals=(
        Signal(
            id="failures_by_kind",
            title=Words("Requests", "リクエスト"),
            help=Words(
                "Failed requests as the load generator saw them: timeouts, resets, refusals, 5xx and others apart.",
                "負荷生成ツールから見た失敗。タイムアウト、リセット、接続拒否、5xxなどを区別する。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_WORSE,
            expression='sum by (outcome) (rate(loadtest_requests_total{outcome!="ok"}[$window])) > 0',
            legend="{{outcome}}",
            awaited=True,
        ),
        Signal(
            id="failures_answered",
            title=Words("Answered 5xx", "5xx応答"),
            help=Words(
                "Requests that a web server or application answered with 5xx, by its access log or metrics.",
                "Webサーバーまたはアプリが5xxで応答したリクエスト(アクセスログまたはメトリクスによる)。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_WORSE,
            expression=f"({rate_of_failures('job')}) > 0",
            legend="{{job}}",
        ),
        Signal(
            id="failures_ingest",
            title=Words("Not stored", "保存失敗"),
            help=Words(
                "Rows that the application accepted and failed to write.", "アプリが受理したが書き込みに失敗した行数。"
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_WORSE,
            expression="sum by (instance) (rate(ingest_failed_total[$window]))",
            legend="{{instance}}",
        ),
        Signal(
            id="failures_logins",
            title=Words("Refused logins", "ログイン拒否"),
            help=Words(
                "Connections that the database refused (Aborted_connects, which also counts those that MariaDB's "
                "Connection_errors_max_connections misses).",
                "DBが拒否した接続(Aborted_connects。MariaDBのConnection_errors_max_connectionsが数え漏らす分も含む)。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_WORSE,
            expression="sum by (instance) (rate(mysql_global_status_aborted_connects[$window]))",
            legend="{{instance}}",
        ),
    ),
)

POOL_WAITS = Panel(
    id="pool-waits",
    title=Words("Waits for a pooled connection", "コネクションプールの待ち"),
    signals=(
        Signal(
            id="pool_waits",
            title=Words("Waits", "待ち回数"),
            help=Words(
                "Waits for a free connection that began, per second (WaitCount).",
                "空きコネクション待ちの開始回数(毎秒、WaitCount)。",
            ),
            unit=Unit.PER_SECOND,
            orientation=Orientation.MORE_IS_WORSE,
            expression="sum by (instance, db_name) (rate(go_sql_wait_count_total[$window]))",
            legend="{{instance}} {{db_name}}",
        ),
    ),
)

INGEST_LAG = Panel(
    id="ingest-lag",
    title=Words("Ingest-to-database lag", "受付からDB反映までの遅延"),
    signals=(
        Signal(
            id="lag_min",
            title=Words("Least", "最小"),
            help=Words(
                "Shortest time from accepting a request to its row being in the database, as the application measures "
                "it over each interval.",
                "受理から行がDBに入るまでの最短時間(アプリが区間ごとに計測)。",
            ),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            total=Total.LOWEST,
            expression='min by (instance) (ingest_lag_seconds{stat="min"})',
            legend="{{instance}}",
        ),
        Signal(
            id="lag_max",
            title=Words("Greatest", "最大"),
            help=Words(
                "Longest time from accepting a request to its row being in the database.",
                "受理から行がDBに入るまでの最長時間。",
            ),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            expression='max by (instance) (ingest_lag_seconds{stat="max"})',
            legend="{{instance}}",
        ),
        Signal(
            id="lag_probe",
            title=Words("Probe", "プローブ"),
            help=Words(
                "The same measured from outside: a marked request is sent and the database watched for its row.",
                "外部から計測した値。印付きリクエストを送り、その行がDBに現れるまで監視する。",
            ),
            unit=Unit.SECONDS,
            orientation=Orientation.MORE_IS_WORSE,
            expression="max by (instance) (probe_ingest_lag_seconds)",
            legend="{{instance}}",
        ),
    ),
)

DB_CONNECTIONS = Panel(
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
            total=Total.HIGHEST,
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
)

GROUP = Group(
    id="mission",
    title=Words("Mission", "ミッション"),
    panels=(RPS, LATENCY, FAILURES, POOL_WAITS, INGEST_LAG, DB_CONNECTIONS),
)
