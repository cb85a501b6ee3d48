"""What the sessions of RDS instances wait for, as Performance Insights sees it."""

from loadwatch_backend.signals.catalogue.aws_parts import DATABASE, IDENTITY, INSIGHTS, ROLES, cloudwatch, discovered
from loadwatch_backend.signals.model import Orientation, Panel, Words

LAYERS = ("wait_event_type", "wait_event")
METRIC = "aws_rds_insights_db_load_average"
INSTANCE = ", ".join((DATABASE, *IDENTITY))
TOTAL = f'max by ({INSTANCE}) ({METRIC}{{{DATABASE}!="", wait_event=""}})'
BY_WAIT = f'max by ({", ".join((*LAYERS, DATABASE, *IDENTITY))}) ({METRIC}{{{DATABASE}!="", wait_event!=""}})'
LISTED = f"sum by ({INSTANCE}) ({BY_WAIT})"
OTHERS = f"clamp_min(({TOTAL} - {LISTED}) or {TOTAL}, 0)"
"""Performance Insights names the ten greatest only."""

VCPUS = discovered("aws_rds_os_vcpus", DATABASE)

DATABASE_LOAD = Panel(
    id="aws-db-load-waits",
    title=Words("Load by what it waits for", "待機要因別の負荷"),
    split="role",
    stacked=True,
    signals=(
        cloudwatch(
            "aws_db_load_waits",
            ("Sessions", "セッション"),
            (
                "db.load of Performance Insights each ten seconds: sessions at work, by what they wait for. What is "
                "above the line of vCPUs has no core to run on.",
                "Performance Insightsのdb.load(10秒ごと)。活動中セッションを待機要因別に積み上げる。"
                "vCPU数の線を超えた分は実行できるコアがない。",
            ),
            f"({BY_WAIT}) or ({OTHERS})",
            "{{dimension_DBInstanceIdentifier}} {{wait_event_type}} {{wait_event}}",
            facts=ROLES,
            layers=LAYERS,
            delivery=INSIGHTS,
        ),
        cloudwatch(
            "aws_db_load_vcpu_limit",
            ("vCPUs", "vCPU数"),
            (
                "Virtual cores of the instance, known where Enhanced Monitoring is on.",
                "インスタンスのvCPU数。拡張モニタリングが有効な場合にわかる。",
            ),
            VCPUS,
            "{{dimension_DBInstanceIdentifier}}",
            orientation=Orientation.NEUTRAL,
            facts=ROLES,
            delivery=INSIGHTS,
        ),
    ),
)
