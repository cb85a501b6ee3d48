"""Application and network load balancers and their targets, as CloudWatch sees them."""

from loadwatch_backend.signals.catalogue.aws.parts import EVENTS, PER_SECOND, by_balancer, cloudwatch
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

LEGEND = "{{load_balancer}}"


def _rate(id: str, title: tuple[str, str], help: tuple[str, str], metric: str) -> Signal:
    expression = by_balancer(f"aws_applicationelb_{metric}_sum", scale=PER_SECOND, operator="sum")
    return cloudwatch(id, title, help, expression, LEGEND, unit=Unit.PER_SECOND, cadence=EVENTS)


def _time(id: str, statistic: str, help: tuple[str, str]) -> Signal:
    expression = by_balancer(f"aws_applicationelb_target_response_time_{statistic}")
    return cloudwatch(
        id, (statistic, f"{statistic}値"), help, expression, LEGEND, unit=Unit.SECONDS, total=Total.HIGHEST
    )


PANELS = (
    Panel(
        id="aws-lb-requests",
        title=Words("Requests", "リクエスト"),
        signals=(
            cloudwatch(
                "aws_lb_requests",
                ("Requests", "リクエスト"),
                (
                    "RequestCount: requests that the load balancer passed on.",
                    "RequestCount。ロードバランサーが転送したリクエスト。",
                ),
                by_balancer("aws_applicationelb_request_count_sum", scale=PER_SECOND, operator="sum"),
                LEGEND,
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-lb-response-time",
        title=Words("Response time of targets", "ターゲットの応答時間"),
        signals=(
            _time("aws_lb_response_p50", "p50", ("Half of the answers came within this.", "半数の応答がこの時間内。")),
            _time("aws_lb_response_p95", "p95", ("95 of 100 answers came within this.", "95%の応答がこの時間内。")),
            _time("aws_lb_response_p99", "p99", ("99 of 100 answers came within this.", "99%の応答がこの時間内。")),
        ),
    ),
    Panel(
        id="aws-lb-target-errors",
        title=Words("Errors of targets", "ターゲットのエラー"),
        signals=(
            _rate(
                "aws_lb_target_5xx",
                ("5xx", "5xxエラー"),
                ("Answers 5xx that the application itself gave.", "アプリケーション自身が返した5xx応答。"),
                "httpcode_target_5_xx_count",
            ),
            _rate(
                "aws_lb_target_4xx",
                ("4xx", "4xxエラー"),
                ("Answers 4xx that the application itself gave.", "アプリケーション自身が返した4xx応答。"),
                "httpcode_target_4_xx_count",
            ),
            _rate(
                "aws_lb_connection_errors",
                ("Not connected", "接続失敗"),
                (
                    "TargetConnectionErrorCount: the load balancer could not connect to a target.",
                    "TargetConnectionErrorCount。ターゲットへ接続できなかった回数。",
                ),
                "target_connection_error_count",
            ),
        ),
    ),
    Panel(
        id="aws-lb-own-errors",
        title=Words("Errors of the load balancer", "ロードバランサー自身のエラー"),
        signals=(
            _rate(
                "aws_lb_502",
                ("502", "502応答"),
                (
                    "The target closed the connection, or its answer was broken: often its idle timeout is shorter "
                    "than the load balancer's.",
                    "ターゲットが接続を閉じたか応答が壊れていた。アイドルタイムアウトがLBより短い場合に多い。",
                ),
                "httpcode_elb_502_count",
            ),
            _rate(
                "aws_lb_503",
                ("503", "503応答"),
                ("No target was there to take the request.", "リクエストを渡せるターゲットがなかった。"),
                "httpcode_elb_503_count",
            ),
            _rate(
                "aws_lb_504",
                ("504", "504応答"),
                (
                    "The target did not answer within the idle timeout.",
                    "アイドルタイムアウト内に応答がなかった。",
                ),
                "httpcode_elb_504_count",
            ),
            _rate(
                "aws_lb_elb_5xx",
                ("All 5xx", "5xx合計"),
                (
                    "HTTPCode_ELB_5XX_Count: all 5xx of the load balancer itself, those above among them.",
                    "HTTPCode_ELB_5XX_Count。ロードバランサー自身の5xx全体(上の3つを含む)。",
                ),
                "httpcode_elb_5_xx_count",
            ),
            _rate(
                "aws_lb_elb_4xx",
                ("4xx", "4xxエラー"),
                (
                    "Requests that were malformed, too slow to arrive, or ended by the client before the answer.",
                    "不正なリクエスト、送信が遅すぎるもの、応答前にクライアントが切断したもの。",
                ),
                "httpcode_elb_4_xx_count",
            ),
            _rate(
                "aws_lb_rejected",
                ("Rejected connections", "拒否された接続"),
                (
                    "RejectedConnectionCount: the load balancer itself had reached its most connections.",
                    "RejectedConnectionCount。ロードバランサーの最大接続数に達した。",
                ),
                "rejected_connection_count",
            ),
        ),
    ),
    Panel(
        id="aws-lb-connections",
        title=Words("Connections", "接続"),
        signals=(
            cloudwatch(
                "aws_lb_active",
                ("Active", "アクティブ"),
                (
                    "ActiveConnectionCount: from clients and to targets.",
                    "ActiveConnectionCount。クライアント側とターゲット側の合計。",
                ),
                by_balancer("aws_applicationelb_active_connection_count_sum", operator="sum"),
                LEGEND,
                orientation=Orientation.NEUTRAL,
            ),
            cloudwatch(
                "aws_lb_flows",
                ("Flows", "フロー"),
                ("ActiveFlowCount of network load balancers.", "Network Load BalancerのActiveFlowCount。"),
                by_balancer("aws_networkelb_active_flow_count_average", kind="net"),
                LEGEND,
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-lb-hosts",
        title=Words("Targets", "ターゲット"),
        signals=(
            cloudwatch(
                "aws_lb_healthy",
                ("Healthy", "正常"),
                ("The fewest healthy targets of each minute.", "1分間で最も少なかった正常ターゲット数。"),
                by_balancer("aws_applicationelb_healthy_host_count_minimum", "dimension_TargetGroup"),
                "{{load_balancer}} {{target_group}}",
                orientation=Orientation.MORE_IS_BETTER,
            ),
            cloudwatch(
                "aws_lb_unhealthy",
                ("Unhealthy", "異常"),
                ("The most unhealthy targets of each minute.", "1分間で最も多かった異常ターゲット数。"),
                by_balancer("aws_applicationelb_un_healthy_host_count_maximum", "dimension_TargetGroup"),
                "{{load_balancer}} {{target_group}}",
            ),
        ),
    ),
)

GROUP = Group(
    id="aws_balancer", title=Words("AWS load balancers", "AWS ロードバランサー"), panels=PANELS, optional=True
)
