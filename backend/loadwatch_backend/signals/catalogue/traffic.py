"""Load sent to the system, as its sender measures it."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="outcomes",
        title=Words("Requests by outcome", "結果別リクエスト数"),
        signals=(
            Signal(
                id="load_outcomes",
                title=Words("Requests", "リクエスト"),
                help=Words(
                    "Finished requests by outcome, good ones included.",
                    "完了したリクエストを結果別に表示(成功を含む)。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (outcome) (rate(loadtest_requests_total[$window]))",
                legend="{{outcome}}",
                awaited=True,
            ),
        ),
    ),
    Panel(
        id="load-rate",
        title=Words("Rate asked for and reached", "目標レートと実績"),
        signals=(
            Signal(
                id="load_target",
                title=Words("Target", "目標"),
                help=Words("Rate that the load generator was told to send.", "負荷生成ツールに指示されたレート。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum(loadtest_target_rate)",
                legend="",
            ),
            Signal(
                id="load_sent",
                title=Words("Sent", "送信"),
                help=Words(
                    "Rate that it sent. Below the target: the generator itself may be the limit.",
                    "実際の送信レート。目標より低い場合は生成ツール自体が限界の可能性がある。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum(rate(loadtest_requests_total[$window])) or sum(rate(k6_http_reqs_total[$window]))",
                legend="",
                awaited=True,
            ),
        ),
    ),
    Panel(
        id="in-flight",
        title=Words("Requests in flight and users", "処理中リクエストと仮想ユーザー"),
        signals=(
            Signal(
                id="http_in_flight",
                title=Words("In flight", "処理中"),
                help=Words("Requests that the application is handling now.", "アプリが処理中のリクエスト数。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (http_requests_in_flight)",
                legend="{{instance}}",
            ),
            Signal(
                id="load_users",
                title=Words("Users", "ユーザー"),
                help=Words("Virtual users of the load generator.", "負荷生成ツールの仮想ユーザー数。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression="sum by (run) (loadtest_active_users) or sum(k6_vus)",
                legend="{{run}}",
            ),
        ),
    ),
    Panel(
        id="load-bytes",
        title=Words("Bytes of the load", "負荷のデータ量"),
        signals=(
            Signal(
                id="load_bytes",
                title=Words("Bytes", "バイト"),
                help=Words("Bytes that the load generator sent and received.", "負荷生成ツールの送受信バイト数。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (direction) (rate(loadtest_bytes_total[$window]))",
                legend="{{direction}}",
                awaited=True,
            ),
        ),
    ),
    Panel(
        id="app-refusals",
        title=Words("Refused by the application", "アプリでの拒否"),
        signals=(
            Signal(
                id="http_accept_errors",
                title=Words("Accept errors", "acceptエラー"),
                help=Words(
                    "Connections that the application could not accept, for example for lack of file descriptors.",
                    "ファイル記述子不足などでacceptできなかった接続。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (rate(http_accept_errors_total[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="http_invalid",
                title=Words("Answered 400", "400応答"),
                help=Words("Requests that the application took for malformed.", "アプリが不正と判断したリクエスト。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (rate(http_invalid_requests_total[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="ingest_rejected",
                title=Words("Queue full", "キュー満杯"),
                help=Words("Requests refused because the queue was full.", "キュー満杯のため拒否されたリクエスト。"),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (rate(ingest_rejected_total[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="traffic", title=Words("Traffic", "トラフィック"), panels=PANELS)
