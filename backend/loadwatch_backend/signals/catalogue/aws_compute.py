"""EC2 instances, Auto Scaling groups and Lambda functions, as CloudWatch sees them."""

from loadwatch_backend.signals.catalogue.aws_parts import (
    EVENTS,
    FUNCTION,
    GROUP,
    INSTANCE,
    by_resource,
    cloudwatch,
)
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit, Words

INSTANCE_LEGEND = "{{dimension_InstanceId}}"
FUNCTION_LEGEND = "{{dimension_FunctionName}}"
PER_SECOND = " / 60"


INSTANCE_PANELS = (
    Panel(
        id="aws-ec2-cpu",
        title=Words("CPU", "CPU"),
        signals=(
            cloudwatch(
                "aws_ec2_cpu",
                ("CPU", "CPU"),
                (
                    "CPUUtilization; without detailed monitoring a value each five minutes.",
                    "CPUUtilization。詳細モニタリングがなければ5分ごとの値。",
                ),
                by_resource("aws_ec2_cpuutilization_average", INSTANCE, scale=" / 100"),
                INSTANCE_LEGEND,
                unit=Unit.RATIO,
                total=Total.MEAN,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-network-in",
        title=Words("Received in each period", "受信量(期間ごと)"),
        signals=(
            cloudwatch(
                "aws_ec2_network_in",
                ("Received", "受信"),
                (
                    "NetworkIn: bytes in one minute with detailed monitoring, in five without. No total: instances "
                    "may have different periods.",
                    "NetworkIn。詳細モニタリングありで1分間、なしで5分間のバイト数。期間が混在しうるため合計はない。",
                ),
                by_resource("aws_ec2_network_in_sum", INSTANCE),
                INSTANCE_LEGEND,
                unit=Unit.BYTES,
                orientation=Orientation.NEUTRAL,
                total=None,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-network-out",
        title=Words("Sent in each period", "送信量(期間ごと)"),
        signals=(
            cloudwatch(
                "aws_ec2_network_out",
                ("Sent", "送信"),
                (
                    "NetworkOut: bytes in one minute with detailed monitoring, in five without.",
                    "NetworkOut。詳細モニタリングありで1分間、なしで5分間のバイト数。",
                ),
                by_resource("aws_ec2_network_out_sum", INSTANCE),
                INSTANCE_LEGEND,
                unit=Unit.BYTES,
                orientation=Orientation.NEUTRAL,
                total=None,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-credits",
        title=Words("CPU credits left", "CPUクレジット残高"),
        signals=(
            cloudwatch(
                "aws_ec2_cpu_credits",
                ("Credits", "クレジット"),
                (
                    "CPUCreditBalance of burstable types; at zero the CPU is throttled. A value each five minutes.",
                    "バースト可能タイプのCPUCreditBalance。ゼロになるとCPUが制限される。5分ごとの値。",
                ),
                by_resource("aws_ec2_cpucredit_balance_average", INSTANCE),
                INSTANCE_LEGEND,
                orientation=Orientation.MORE_IS_BETTER,
                total=Total.LOWEST,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-status",
        title=Words("Failed status checks", "ステータスチェックの失敗"),
        signals=(
            cloudwatch(
                "aws_ec2_status_failed",
                ("Failed", "失敗"),
                ("StatusCheckFailed: 1 while a check fails.", "StatusCheckFailed。失敗している間は1。"),
                by_resource("aws_ec2_status_check_failed_maximum", INSTANCE),
                INSTANCE_LEGEND,
            ),
        ),
    ),
    Panel(
        id="aws-asg-instances",
        title=Words("Instances of Auto Scaling groups", "Auto Scalingグループのインスタンス"),
        signals=(
            Signal(
                id="aws_asg_in_service",
                title=Words("In service", "稼働中"),
                help=Words("Instances that take load.", "負荷を受けているインスタンス。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression=by_resource("aws_autoscaling_group_in_service_instances", GROUP),
                legend="{{dimension_AutoScalingGroupName}}",
            ),
            Signal(
                id="aws_asg_desired",
                title=Words("Desired", "希望数"),
                help=Words("Instances that should be there.", "希望インスタンス数。"),
                unit=Unit.COUNT,
                orientation=Orientation.NEUTRAL,
                expression=by_resource("aws_autoscaling_group_desired_instances", GROUP),
                legend="{{dimension_AutoScalingGroupName}}",
            ),
        ),
    ),
)

FUNCTION_PANELS = (
    Panel(
        id="aws-lambda-invocations",
        title=Words("Invocations", "呼び出し"),
        signals=(
            cloudwatch(
                "aws_lambda_invocations",
                ("Invocations", "呼び出し"),
                ("Invocations of each function.", "関数ごとの呼び出し。"),
                by_resource("aws_lambda_invocations_sum", FUNCTION, scale=PER_SECOND),
                FUNCTION_LEGEND,
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-lambda-failures",
        title=Words("Errors and throttles", "エラーとスロットリング"),
        signals=(
            cloudwatch(
                "aws_lambda_errors",
                ("Errors", "エラー"),
                ("Invocations that ended in an error.", "エラーで終わった呼び出し。"),
                by_resource("aws_lambda_errors_sum", FUNCTION, scale=PER_SECOND),
                FUNCTION_LEGEND,
                unit=Unit.PER_SECOND,
                delivery=EVENTS,
            ),
            cloudwatch(
                "aws_lambda_throttles",
                ("Throttled", "スロットル"),
                (
                    "Invocations refused because the concurrency limit was reached.",
                    "同時実行数の上限で拒否された呼び出し。",
                ),
                by_resource("aws_lambda_throttles_sum", FUNCTION, scale=PER_SECOND),
                FUNCTION_LEGEND,
                unit=Unit.PER_SECOND,
                delivery=EVENTS,
            ),
        ),
    ),
    Panel(
        id="aws-lambda-duration",
        title=Words("Duration, p99", "実行時間 p99"),
        signals=(
            cloudwatch(
                "aws_lambda_duration_p99",
                ("p99", "p99値"),
                ("99 of 100 invocations took at most this.", "99%の呼び出しがこの時間内。"),
                by_resource("aws_lambda_duration_p99", FUNCTION, scale=" / 1000"),
                FUNCTION_LEGEND,
                unit=Unit.SECONDS,
                total=Total.HIGHEST,
            ),
        ),
    ),
    Panel(
        id="aws-lambda-concurrency",
        title=Words("At the same time", "同時実行数"),
        signals=(
            cloudwatch(
                "aws_lambda_concurrency",
                ("Executions", "実行"),
                (
                    "ConcurrentExecutions, the highest of each minute.",
                    "ConcurrentExecutions。1分間の最大値。",
                ),
                by_resource("aws_lambda_concurrent_executions_maximum", FUNCTION),
                FUNCTION_LEGEND,
            ),
        ),
    ),
)

INSTANCES = Group(
    id="aws_instances", title=Words("AWS instances", "AWS インスタンス"), panels=INSTANCE_PANELS, optional=True
)
FUNCTIONS = Group(id="aws_functions", title=Words("AWS functions", "AWS 関数"), panels=FUNCTION_PANELS, optional=True)
