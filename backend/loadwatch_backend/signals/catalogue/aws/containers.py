"""ECS services and clusters, as CloudWatch sees them."""

from functools import partial

from loadwatch_backend.signals.catalogue.aws.parts import by_resource, cloudwatch, discovered
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

SERVICE = ("dimension_ClusterName", "dimension_ServiceName")
SERVICE_LEGEND = "{{dimension_ClusterName}} {{dimension_ServiceName}}"


def _tasks(id: str, title: tuple[str, str], help: tuple[str, str], metric: str) -> Signal:
    """Discovered by the agent itself: not late."""
    return Signal(
        id=id,
        title=Words(*title),
        help=Words(*help),
        unit=Unit.COUNT,
        orientation=Orientation.NEUTRAL,
        expression=by_resource(f"aws_ecs_service_{metric}_tasks", *SERVICE),
        legend=SERVICE_LEGEND,
    )


def _share(id: str, title: tuple[str, str], help: tuple[str, str], metric: str) -> Signal:
    expression = by_resource(f"aws_ecs_{metric}_maximum", *SERVICE, scale=" / 100")
    return cloudwatch(id, title, help, expression, SERVICE_LEGEND, unit=Unit.RATIO, total=Total.HIGHEST)


SERVICE_PANELS = (
    Panel(
        id="aws-ecs-cpu",
        title=Words("CPU of services", "サービスのCPU"),
        signals=(
            _share(
                "aws_ecs_cpu",
                ("CPU", "CPU"),
                (
                    "The busiest task of each minute, of what its service reserves.",
                    "1分間で最も高いタスク。予約量に対する割合。",
                ),
                "cpuutilization",
            ),
        ),
    ),
    Panel(
        id="aws-ecs-memory",
        title=Words("Memory of services", "サービスのメモリ"),
        signals=(
            _share(
                "aws_ecs_memory",
                ("Memory", "メモリ"),
                (
                    "The fullest task of each minute, of what its service reserves; at 100 % it is killed.",
                    "1分間で最も高いタスク。予約量に対する割合。100%で強制終了される。",
                ),
                "memory_utilization",
            ),
        ),
    ),
    Panel(
        id="aws-ecs-tasks",
        title=Words("Tasks", "タスク数"),
        signals=(
            _tasks("aws_ecs_running", ("Running", "実行中"), ("Tasks that run.", "実行中のタスク。"), "running"),
            _tasks("aws_ecs_desired", ("Desired", "希望数"), ("Tasks that should run.", "希望タスク数。"), "desired"),
            _tasks("aws_ecs_pending", ("Pending", "開始待ち"), ("Tasks that start.", "開始待ちのタスク。"), "pending"),
        ),
    ),
)

RUNNING = by_resource("aws_ecs_containerinsights_running_task_count_average", *SERVICE)


def _of_all_tasks(metric: str, scale: str) -> str:
    """Container Insights writes a value for each task: their mean, times the tasks that ran."""
    return f"{by_resource(f'aws_ecs_containerinsights_{metric}_average', *SERVICE)} * {RUNNING}{scale}"


_insight = partial(cloudwatch, legend=SERVICE_LEGEND, orientation=Orientation.NEUTRAL)

INSIGHT_PANELS = (
    Panel(
        id="aws-ecs-insights-cpu",
        title=Words("CPU of containers, in vCPUs", "コンテナのCPU(vCPU)"),
        signals=(
            _insight(
                "aws_ecs_insights_cpu",
                ("Used", "使用"),
                (
                    "CpuUtilized of Container Insights, all tasks of a service together.",
                    "Container InsightsのCpuUtilized。サービスの全タスクの合計。",
                ),
                _of_all_tasks("cpu_utilized", " / 1024"),
                orientation=Orientation.MORE_IS_WORSE,
            ),
            _insight(
                "aws_ecs_insights_cpu_limit",
                ("Reserved", "予約"),
                ("CpuReserved: what the tasks ask for.", "CpuReserved。タスクの予約量。"),
                _of_all_tasks("cpu_reserved", " / 1024"),
                limit=True,
            ),
        ),
    ),
    Panel(
        id="aws-ecs-insights-memory",
        title=Words("Memory of containers", "コンテナのメモリ"),
        signals=(
            _insight(
                "aws_ecs_insights_memory",
                ("Used", "使用"),
                (
                    "MemoryUtilized of Container Insights, all tasks of a service together.",
                    "Container InsightsのMemoryUtilized。サービスの全タスクの合計。",
                ),
                _of_all_tasks("memory_utilized", " * 1048576"),
                unit=Unit.BYTES,
                orientation=Orientation.MORE_IS_WORSE,
            ),
            _insight(
                "aws_ecs_insights_memory_limit",
                ("Reserved", "予約"),
                ("MemoryReserved: what the tasks ask for.", "MemoryReserved。タスクの予約量。"),
                _of_all_tasks("memory_reserved", " * 1048576"),
                limit=True,
                unit=Unit.BYTES,
            ),
        ),
    ),
    Panel(
        id="aws-ecs-insights-tasks",
        title=Words("Tasks each minute", "タスク数(1分ごと)"),
        signals=(
            _insight(
                "aws_ecs_insights_running",
                ("Running", "実行中"),
                (
                    "RunningTaskCount, the fewest of each minute: a task that was replaced between two looks shows.",
                    "RunningTaskCount。1分間の最小値。短い入れ替わりも見える。",
                ),
                by_resource("aws_ecs_containerinsights_running_task_count_minimum", *SERVICE),
                orientation=Orientation.MORE_IS_BETTER,
            ),
            _insight(
                "aws_ecs_insights_pending",
                ("Pending", "開始待ち"),
                ("PendingTaskCount, the most of each minute.", "PendingTaskCount。1分間の最大値。"),
                by_resource("aws_ecs_containerinsights_pending_task_count_maximum", *SERVICE),
                orientation=Orientation.MORE_IS_WORSE,
            ),
            _insight(
                "aws_ecs_insights_desired_limit",
                ("Desired", "希望数"),
                ("Tasks that should run.", "希望タスク数。"),
                discovered("aws_ecs_service_desired_tasks", *SERVICE),
                limit=True,
            ),
        ),
    ),
    Panel(
        id="aws-ecs-reservation",
        title=Words("Reserved of clusters on EC2", "EC2クラスターの予約率"),
        signals=tuple(
            cloudwatch(
                id,
                title,
                help,
                by_resource(f"aws_ecs_{metric}_average", "dimension_ClusterName", scale=" / 100"),
                "{{dimension_ClusterName}}",
                unit=Unit.RATIO,
                total=Total.HIGHEST,
            )
            for id, title, help, metric in (
                (
                    "aws_ecs_cpu_reservation",
                    ("CPU", "CPU"),
                    (
                        "CPUReservation: near 100 % no further task finds room on the cluster's instances.",
                        "CPUReservation。100%に近いと新しいタスクを置く場所がない。",
                    ),
                    "cpureservation",
                ),
                (
                    "aws_ecs_memory_reservation",
                    ("Memory", "メモリ"),
                    ("MemoryReservation, likewise.", "MemoryReservation。同様。"),
                    "memory_reservation",
                ),
            )
        ),
    ),
)

CONTAINERS = Group(
    id="aws_containers",
    title=Words("AWS containers", "AWS コンテナ"),
    panels=(*SERVICE_PANELS, *INSIGHT_PANELS),
    optional=True,
)
