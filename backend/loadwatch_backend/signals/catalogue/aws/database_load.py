"""What the sessions of RDS instances wait for and which statements they run, as Performance Insights sees it."""

from collections.abc import Sequence

from loadwatch_backend.signals.catalogue.aws.parts import (
    DATABASE,
    IDENTITY,
    INSIGHTS,
    ROLES,
    STATEMENTS,
    cloudwatch,
    discovered,
)
from loadwatch_backend.signals.model import Orientation, Panel
from loadwatch_backend.texts.words import Words

LAYERS = ("wait_event_type", "wait_event")
STATEMENT_LAYERS = ("sql_id", "statement")
INSTANCE = ", ".join((DATABASE, *IDENTITY))


def _parts(metric: str, layers: Sequence[str]) -> str:
    """The series that have the last of the layers, and the rest: Performance Insights names the ten greatest only."""
    total = f'max by ({INSTANCE}) ({metric}{{{DATABASE}!="", {layers[-1]}=""}})'
    named = f'max by ({", ".join((*layers, DATABASE, *IDENTITY))}) ({metric}{{{DATABASE}!="", {layers[-1]}!=""}})'
    others = f"clamp_min(({total} - sum by ({INSTANCE}) ({named})) or {total}, 0)"
    return f"({named}) or ({others})"


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
            _parts("aws_rds_insights_db_load_average", LAYERS),
            "{{dimension_DBInstanceIdentifier}} {{wait_event_type}} {{wait_event}}",
            facts=ROLES,
            layers=LAYERS,
            cadence=INSIGHTS,
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
            limit=True,
            orientation=Orientation.NEUTRAL,
            facts=ROLES,
            cadence=INSIGHTS,
        ),
    ),
)

STATEMENTS_BY_LOAD = Panel(
    id="aws-db-statements",
    title=Words("Statements by load", "負荷の高い文"),
    stacked=True,
    table=True,
    signals=(
        cloudwatch(
            "aws_db_statements",
            ("Sessions", "セッション"),
            (
                "db.load of Performance Insights each minute by statement, without values: the ten that most sessions "
                "were at, running or waiting.",
                "Performance Insightsのdb.load(1分ごと)を文別に示す。値は伏せる。"
                "実行中・待機中のセッションが多い上位10文。",
            ),
            _parts("aws_rds_insights_sql_load_average", STATEMENT_LAYERS),
            "{{dimension_DBInstanceIdentifier}} {{sql_id}} {{statement}}",
            layers=STATEMENT_LAYERS,
            cadence=STATEMENTS,
        ),
    ),
)
