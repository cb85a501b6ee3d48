"""Watched processes."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="fds",
        title=Words("File descriptors", "ファイル記述子"),
        signals=(
            Signal(
                id="process_fds",
                title=Words("Open", "オープン"),
                help=Words("Files and sockets that the process has open.", "プロセスが開いているファイルとソケット。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="process_fds",
                expression="max by (job, instance, name) (process_open_fds)",
                legend="{{job}} {{instance}} {{name}}",
            ),
            Signal(
                id="process_fds_limit",
                title=Words("Limit", "上限"),
                help=Words(
                    "The process's own limit; the shell's says nothing.", "プロセス自身の上限(シェルの値とは無関係)。"
                ),
                unit=Unit.COUNT,
                limit=True,
                orientation=Orientation.NEUTRAL,
                expression="max by (job, instance, name) (process_max_fds)",
                legend="{{job}} {{instance}} {{name}}",
            ),
        ),
    ),
    Panel(
        id="process-cpu",
        title=Words("CPU of processes", "プロセスのCPU"),
        signals=(
            Signal(
                id="process_cpu",
                title=Words("CPU", "CPU"),
                help=Words("CPU time per second; 1 is one core.", "1秒あたりのCPU時間。1で1コア分。"),
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_WORSE,
                total=Total.SUM,
                expression="sum by (job, instance, name) (rate(process_cpu_seconds_total[$window]))",
                legend="{{job}} {{instance}} {{name}}",
            ),
        ),
    ),
    Panel(
        id="process-memory",
        title=Words("Memory of processes", "プロセスのメモリ"),
        signals=(
            Signal(
                id="process_memory",
                title=Words("Resident", "常駐"),
                help=Words("Memory in use.", "使用中の物理メモリ。"),
                unit=Unit.BYTES,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance, name) (process_resident_memory_bytes)",
                legend="{{job}} {{instance}} {{name}}",
            ),
        ),
    ),
    Panel(
        id="process-threads",
        title=Words("Threads and goroutines", "スレッドとゴルーチン"),
        signals=(
            Signal(
                id="process_threads",
                title=Words("Threads", "スレッド"),
                help=Words("Threads of the process.", "プロセスのスレッド数。"),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance, name) (process_threads)",
                legend="{{job}} {{instance}} {{name}}",
            ),
            Signal(
                id="goroutines",
                title=Words("Goroutines", "ゴルーチン"),
                help=Words(
                    "Goroutines that exist; they pile up where requests wait.",
                    "存在するゴルーチン数。待ちが発生すると積み上がる。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (go_goroutines)",
                legend="{{job}} {{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="process", title=Words("Processes", "プロセス"), panels=PANELS)
