"""The operating system below RDS instances, as Enhanced Monitoring sees it."""

from functools import partial

from loadwatch_backend.signals.catalogue.aws.database_load import VCPUS
from loadwatch_backend.signals.catalogue.aws.parts import (
    DATABASE,
    ENHANCED,
    IDENTITY,
    ROLES,
    by_resource,
    cloudwatch,
    discovered,
)
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

LEGEND = "{{dimension_DBInstanceIdentifier}}"
_signal = partial(cloudwatch, legend=LEGEND, facts=ROLES, cadence=ENHANCED)


def _cpu(id: str, title: tuple[str, str], help: tuple[str, str], modes: str) -> Signal:
    instance = ", ".join((DATABASE, *IDENTITY))
    once = f'max by (mode, {instance}) (aws_rds_os_cpu_utilization_percent{{{DATABASE}!="", mode=~"{modes}"}})'
    return _signal(id, title, help, f"sum by ({instance}) ({once}) / 100", unit=Unit.RATIO, total=Total.MEAN)


def _memory(name: str) -> str:
    return by_resource(f"aws_rds_os_{name}_bytes", DATABASE)


PANELS = (
    Panel(
        id="aws-db-os-cpu",
        title=Words("CPU of the operating system", "OSのCPU"),
        split="role",
        stacked=True,
        signals=(
            _cpu(
                "aws_db_os_cpu_user", ("User", "ユーザー"), ("The database itself.", "データベース自身。"), "user|nice"
            ),
            _cpu("aws_db_os_cpu_system", ("System", "システム"), ("The kernel.", "カーネル。"), "system|irq"),
            _cpu(
                "aws_db_os_cpu_wait",
                ("Waits for storage", "ストレージ待ち"),
                ("No core works, since a read or write is under way.", "読み書きの完了待ちで何も実行していない時間。"),
                "wait",
            ),
            _cpu(
                "aws_db_os_cpu_steal",
                ("Steal", "スティール"),
                (
                    "Other machines of the same host had the core; burstable classes without credits see it too.",
                    "同じホストの他の仮想マシンに使われた時間。クレジットの切れたバースト可能クラスでも増える。",
                ),
                "steal",
            ),
        ),
    ),
    Panel(
        id="aws-db-os-load",
        title=Words("Load average", "ロードアベレージ"),
        split="role",
        signals=(
            _signal(
                "aws_db_os_load",
                ("Load", "負荷"),
                (
                    "Processes that run or wait, the mean of a minute; above the vCPUs they queue up.",
                    "実行中・待機中のプロセス数(1分平均)。vCPU数を超えると待ちになる。",
                ),
                by_resource("aws_rds_os_load1", DATABASE),
            ),
            _signal(
                "aws_db_os_vcpu_limit",
                ("vCPUs", "vCPU数"),
                ("Virtual cores of the instance.", "インスタンスのvCPU数。"),
                VCPUS,
                limit=True,
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-db-os-memory",
        title=Words("Memory of the operating system", "OSのメモリ"),
        split="role",
        stacked=True,
        signals=(
            _signal(
                "aws_db_os_memory_used",
                ("In use", "使用中"),
                ("Neither free nor a cache of files.", "空きでもファイルキャッシュでもない量。"),
                f"{_memory('memory_total')} - {_memory('memory_free')} - {_memory('memory_cached')}",
                unit=Unit.BYTES,
            ),
            _signal(
                "aws_db_os_memory_cached",
                ("File cache", "ファイルキャッシュ"),
                ("Caches files, and is given back on demand.", "ファイルのキャッシュ。必要なら解放される。"),
                _memory("memory_cached"),
                unit=Unit.BYTES,
                orientation=Orientation.NEUTRAL,
            ),
            _signal(
                "aws_db_os_memory_limit",
                ("Memory", "メモリ全体"),
                ("All memory of the instance.", "インスタンスの全メモリ。"),
                discovered("aws_rds_os_memory_total_bytes", DATABASE),
                unit=Unit.BYTES,
                limit=True,
                orientation=Orientation.NEUTRAL,
            ),
        ),
    ),
    Panel(
        id="aws-db-os-swap",
        title=Words("Swap in use", "スワップ使用量"),
        split="role",
        signals=(
            _signal(
                "aws_db_os_swap",
                ("Swap", "スワップ"),
                (
                    "Memory moved to the disk; a database that reads it back is slow.",
                    "ディスクへ退避されたメモリ。読み戻しが続くとデータベースは遅くなる。",
                ),
                f"{_memory('swap_total')} - {_memory('swap_free')}",
                unit=Unit.BYTES,
            ),
        ),
    ),
)

GROUP = Group(
    id="aws_database_os",
    title=Words("AWS databases: operating system", "AWS データベースのOS"),
    panels=PANELS,
    optional=True,
)
