"""EC2 instances, Auto Scaling groups and Lambda functions, as CloudWatch sees them."""

from loadwatch_backend.signals.catalogue.aws.parts import (
    EVENTS,
    FUNCTION,
    GROUP,
    INSTANCE,
    PER_SECOND,
    VOLUME,
    by_resource,
    cloudwatch,
)
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

INSTANCE_LEGEND = "{{dimension_InstanceId}}"
FUNCTION_LEGEND = "{{dimension_FunctionName}}"
PERIOD = by_resource("aws_ec2_monitoring_period_seconds", INSTANCE)
"""Each point's own: a minute with detailed monitoring, five without. Where nobody tells it, nothing is drawn."""


def _volume(id: str, title: tuple[str, str], help: tuple[str, str], check: str) -> Signal:
    expression = by_resource(f"aws_ebs_{check}_maximum", INSTANCE, VOLUME)
    return cloudwatch(id, title, help, expression, "{{dimension_InstanceId}} {{dimension_VolumeId}}")


def _traffic(
    id: str, title: tuple[str, str], what: tuple[str, str, str], metric: str, *, unit: Unit = Unit.PER_SECOND
) -> Signal:
    """A sum of either period, each second; `what` is AWS's name, then what it counts in English and Japanese."""
    name, counted, counted_ja = what
    help = (
        f"{name}: {counted} each second, whatever the monitoring. Not drawn where the period of the sums is unknown: "
        "another sender must write aws_ec2_monitoring_period_seconds beside them.",
        f"{name}。監視の種類によらない毎秒の{counted_ja}。合計の期間が不明なら描かない"
        "(他の送信元はaws_ec2_monitoring_period_secondsも必要)。",
    )
    expression = f"{by_resource(f'aws_ec2_{metric}_sum', INSTANCE)} / {PERIOD}"
    return cloudwatch(id, title, help, expression, INSTANCE_LEGEND, unit=unit, orientation=Orientation.NEUTRAL)


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
        title=Words("Received", "受信量"),
        signals=(
            _traffic(
                "aws_ec2_network_in",
                ("Received", "受信"),
                ("NetworkIn", "bytes", "バイト数"),
                "network_in",
                unit=Unit.BYTES_PER_SECOND,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-network-out",
        title=Words("Sent", "送信量"),
        signals=(
            _traffic(
                "aws_ec2_network_out",
                ("Sent", "送信"),
                ("NetworkOut", "bytes", "バイト数"),
                "network_out",
                unit=Unit.BYTES_PER_SECOND,
            ),
        ),
    ),
    Panel(
        id="aws-ec2-packets",
        title=Words("Packets", "パケット数"),
        signals=(
            _traffic(
                "aws_ec2_packets_in",
                ("Received", "受信"),
                ("NetworkPacketsIn", "packets", "パケット数"),
                "network_packets_in",
            ),
            _traffic(
                "aws_ec2_packets_out",
                ("Sent", "送信"),
                ("NetworkPacketsOut", "packets", "パケット数"),
                "network_packets_out",
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
            cloudwatch(
                "aws_ec2_volumes_failed",
                ("Attached volumes", "アタッチ済みボリューム"),
                (
                    "StatusCheckFailed_AttachedEBS: 1 while an attached volume cannot be reached or completes no I/O.",
                    "StatusCheckFailed_AttachedEBS。アタッチ済みボリュームに到達できないかI/Oが完了しない間は1。",
                ),
                by_resource("aws_ec2_status_check_failed_attached_ebs_maximum", INSTANCE),
                INSTANCE_LEGEND,
            ),
        ),
    ),
    Panel(
        id="aws-ebs-checks",
        title=Words("Volumes that hang or are at their limit", "停止または上限のボリューム"),
        signals=(
            _volume(
                "aws_ebs_stalled",
                ("Stalled", "停止"),
                (
                    "VolumeStalledIOCheck: 1 while the volume completes no I/O. Preset ebs.",
                    "VolumeStalledIOCheck。I/Oが完了しない間は1。プリセットebs。",
                ),
                "volume_stalled_iocheck",
            ),
            _volume(
                "aws_ebs_iops_exceeded",
                ("IOPS", "IOPS超過"),
                (
                    "VolumeIOPSExceededCheck: 1 while more operations are asked for than are provisioned.",
                    "VolumeIOPSExceededCheck。プロビジョンドIOPSを超えて要求されている間は1。",
                ),
                "volume_iopsexceeded_check",
            ),
            _volume(
                "aws_ebs_throughput_exceeded",
                ("Bytes", "スループット超過"),
                (
                    "VolumeThroughputExceededCheck: 1 while more bytes are asked for than are provisioned.",
                    "VolumeThroughputExceededCheck。プロビジョンドスループットを超えて要求されている間は1。",
                ),
                "volume_throughput_exceeded_check",
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
                cadence=EVENTS,
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
                cadence=EVENTS,
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
