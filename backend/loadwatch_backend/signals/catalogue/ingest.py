"""What was accepted and is not in the database yet."""

from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Unit
from loadwatch_backend.texts.words import Words

PANELS = (
    Panel(
        id="ingest-instances",
        title=Words("Accepted and stored by instance", "インスタンス別の受理と保存"),
        signals=(
            Signal(
                id="accepted_by_instance",
                title=Words("Accepted", "受理"),
                help=Words(
                    "Requests that each instance accepted. One that takes fewer than the others is sick, or is sent "
                    "fewer.",
                    "各インスタンスが受理したリクエスト数。他より少ないものは不調か、割り当てが少ない。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_BETTER,
                expression="sum by (job, instance) (rate(ingest_accepted_total[$window]))",
                legend="{{instance}}",
            ),
            Signal(
                id="stored_by_instance",
                title=Words("Stored", "保存"),
                help=Words(
                    "Rows that each instance wrote to the database. Less than it accepted: its backlog grows.",
                    "各インスタンスがDBに書き込んだ行数。受理より少ない間はそのインスタンスの滞留が増えている。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_BETTER,
                expression="sum by (job, instance) (rate(ingest_stored_total[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="backlog",
        title=Words("Accepted and not stored", "受理済み・未保存"),
        signals=(
            Signal(
                id="backlog",
                title=Words("Backlog", "滞留"),
                help=Words(
                    "Accepted minus stored: what waits in memory, and what was lost. After a kill it "
                    "understates the loss: reconcile with the sender's count.",
                    "受理数-保存数。メモリで待つ分と失われた分。強制終了後は損失を過小に示すため、"
                    "送信側の数と突き合わせること。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                expression=(
                    "sum by (job, instance) (ingest_accepted_total) - sum by (job, instance) (ingest_stored_total)"
                ),
                legend="{{instance}}",
            ),
            Signal(
                id="queue_length",
                title=Words("Queue", "キュー"),
                help=Words(
                    "Accepted requests in the application's queue; saw-tooths with each flush.",
                    "アプリのキューにあるリクエスト数。書き出しのたびに鋸歯状に動く。",
                ),
                unit=Unit.COUNT,
                orientation=Orientation.MORE_IS_WORSE,
                resource="ingest_queue",
                expression="sum by (job, instance) (ingest_queue_length)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="oldest",
        title=Words("Age of the oldest request not stored", "未保存で最も古いリクエストの経過時間"),
        signals=(
            Signal(
                id="ingest_oldest",
                title=Words("Oldest", "最古"),
                help=Words(
                    "How long the oldest request has waited for its row.",
                    "最も古いリクエストが行になるまで待っている時間。",
                ),
                unit=Unit.SECONDS,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (job, instance) (ingest_oldest_seconds)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="table-growth",
        title=Words("Rows added to tables", "テーブルに追加された行"),
        signals=(
            Signal(
                id="table_growth",
                title=Words("Rows", "行"),
                help=Words(
                    "Growth of watched tables by counting rows: the proof that does not depend on the application.",
                    "監視テーブルの行数の増加。アプリの申告に依存しない証拠。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.NEUTRAL,
                expression="sum by (job, instance, table) (deriv(table_rows[$window]))",
                legend="{{instance}} {{table}}",
            ),
        ),
    ),
    Panel(
        id="freshness",
        title=Words("Age of the newest row", "最新行の経過時間"),
        signals=(
            Signal(
                id="newest_row_age",
                title=Words("Newest row", "最新行"),
                help=Words(
                    "Age of the newest row of a watched table; grows while nothing arrives.",
                    "監視テーブルの最新行の経過時間。何も届かない間は増え続ける。",
                ),
                unit=Unit.SECONDS,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (job, instance, table) (table_newest_row_age_seconds)",
                legend="{{instance}} {{table}}",
            ),
        ),
    ),
    Panel(
        id="probe",
        title=Words("Probe", "プローブ"),
        signals=(
            Signal(
                id="probe_answer",
                title=Words("Answer", "応答"),
                help=Words(
                    "Time in which the application answered the marked request.", "印付きリクエストへの応答時間。"
                ),
                unit=Unit.SECONDS,
                orientation=Orientation.MORE_IS_WORSE,
                expression="max by (job, instance) (probe_http_duration_seconds)",
                legend="{{instance}}",
            ),
        ),
    ),
    Panel(
        id="probe-failures",
        title=Words("Probes that failed", "失敗したプローブ"),
        signals=(
            Signal(
                id="probe_failures",
                title=Words("Failed", "失敗"),
                help=Words(
                    "Marked requests that were not taken, or whose row never came.",
                    "受け付けられなかった、または行が現れなかった印付きリクエスト。",
                ),
                unit=Unit.PER_SECOND,
                orientation=Orientation.MORE_IS_WORSE,
                expression="sum by (job, instance) (rate(probe_failures_total[$window]))",
                legend="{{instance}}",
            ),
        ),
    ),
)

GROUP = Group(id="ingest", title=Words("Ingest", "取り込み"), panels=PANELS)
