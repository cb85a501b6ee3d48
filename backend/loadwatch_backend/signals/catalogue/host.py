"""The watched hosts."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="cpu",
        title=Words("CPU by mode", "モード別CPU"),
        signals=(
            Signal(
                id="host_cpu",
                title=Words("CPU", "CPU"),
                help=Words(
                    "Share of all cores' time, without idle; steal is time that the hypervisor took.",
                    "全コア時間に占める割合(アイドルを除く)。stealはハイパーバイザーが取った時間。",
                ),
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_WORSE,
                expression=(
                    'sum by (instance, mode) (rate(node_cpu_seconds_total{mode!="idle"}[$window])) / on '
                    '(instance) group_left () count by (instance) (node_cpu_seconds_total{mode="idle"})'
                ),
                legend="{{instance}} {{mode}}",
            ),
        ),
    ),
    Panel(
        id="load",
        title=Words("Load average", "ロードアベレージ"),
        signals=(
            Signal(
                id="host_load",
                title=Words("Load, 1 min", "1分平均"),
                help=Words(
                    "Tasks that run or wait, averaged over a minute.", "実行中または待機中のタスク数の1分平均。"
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (instance) (node_load1)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="memory",
        title=Words("Memory", "メモリ"),
        signals=(
            Signal(
                id="host_memory_used",
                title=Words("Used", "使用"),
                help=Words("Memory that cannot be had without swapping.", "スワップなしでは確保できないメモリ。"),
                unit=Unit.BYTES,
                orientation=Orientation.MORE_IS_WORSE,
                resource="host_memory",
                expression=(
                    "max by (instance) (node_memory_MemTotal_bytes) - max by (instance) "
                    "(node_memory_MemAvailable_bytes)"
                ),
                legend="{{instance}}",
            ),
            Signal(
                id="host_memory_limit",
                title=Words("All", "合計"),
                help=Words("Memory of the host.", "ホストのメモリ。"),
                unit=Unit.BYTES,
                limit=True,
                orientation=Orientation.NEUTRAL,
                expression="max by (instance) (node_memory_MemTotal_bytes)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="swap",
        title=Words("Swap", "スワップ"),
        signals=(
            Signal(
                id="host_swap_used",
                title=Words("Used", "使用"),
                help=Words("Swap in use.", "使用中のスワップ。"),
                unit=Unit.BYTES,
                orientation=Orientation.MORE_IS_WORSE,
                resource="host_swap",
                expression=(
                    "max by (instance) (node_memory_SwapTotal_bytes) - max by (instance) (node_memory_SwapFree_bytes)"
                ),
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="network",
        title=Words("Network by interface", "インターフェース別ネットワーク"),
        signals=(
            Signal(
                id="host_received",
                title=Words("Received", "受信"),
                help=Words(
                    "Bytes received; tell the internal from the outward network.",
                    "受信量。内部と外部のネットワークを区別する。",
                ),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance, device) (rate(node_network_receive_bytes_total[$window]))",
                legend="{{instance}} {{device}}",
            ),
            Signal(
                id="host_transmitted",
                title=Words("Sent", "送信"),
                help=Words("Bytes sent; a flat top is a cap.", "送信量。頭打ちなら帯域上限。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance, device) (rate(node_network_transmit_bytes_total[$window]))",
                legend="{{instance}} {{device}}",
            ),
        ),
    ),
    Panel(
        id="disk",
        title=Words("Disks in use", "ディスク使用率"),
        signals=(
            Signal(
                id="host_disk_busy",
                title=Words("Busy", "稼働"),
                help=Words(
                    "Share of time with at least one request under way.", "要求が1つ以上処理中だった時間の割合。"
                ),
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (instance, device) (rate(node_disk_io_time_seconds_total[$window]))",
                legend="{{instance}} {{device}}",
            ),
        ),
    ),
    Panel(
        id="disk-bytes",
        title=Words("Disk traffic", "ディスク転送量"),
        signals=(
            Signal(
                id="host_disk_read",
                title=Words("Read", "読み取り"),
                help=Words("Bytes read from disks.", "ディスク読み取り量。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance, device) (rate(node_disk_read_bytes_total[$window]))",
                legend="{{instance}} {{device}}",
            ),
            Signal(
                id="host_disk_written",
                title=Words("Written", "書き込み"),
                help=Words("Bytes written to disks.", "ディスク書き込み量。"),
                unit=Unit.BYTES_PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (instance, device) (rate(node_disk_written_bytes_total[$window]))",
                legend="{{instance}} {{device}}",
            ),
        ),
    ),
)

GROUP = Group(id="host", title=Words("Hosts", "ホスト"), panels=PANELS)
