"""ElastiCache and SQS, as CloudWatch sees them."""

from loadwatch_backend.signals.catalogue.aws.parts import (
    CACHE,
    CACHE_ROLES,
    PER_SECOND,
    QUEUE,
    Family,
    by_resource,
    cloudwatch,
)
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

NODES = Family(prefix="aws_elasticache", dimension=CACHE, facts=CACHE_ROLES)
MESSAGES = Family(prefix="aws_sqs", dimension=QUEUE)


def _messages(
    id: str, title: tuple[str, str], help: tuple[str, str], metric: str, *, scale: str = "", unit: Unit = Unit.COUNT
) -> Signal:
    neutral = Orientation.NEUTRAL if scale else Orientation.MORE_IS_WORSE
    return MESSAGES.signal(id, title, help, metric, scale=scale, unit=unit, orientation=neutral)


CACHE_PANELS = (
    Panel(
        id="aws-cache-cpu",
        title=Words("Engine CPU", "エンジンのCPU"),
        signals=(
            NODES.signal(
                "aws_cache_engine_cpu",
                ("Engine", "エンジン"),
                (
                    "EngineCPUUtilization: Redis and Valkey run commands on one core; at 100 % it is full, whatever "
                    "the node's CPU says.",
                    "EngineCPUUtilization。RedisとValkeyは1コアでコマンドを処理する。100%なら満杯(ノード全体のCPUに関係なく)。",
                ),
                "engine_cpuutilization_maximum",
                scale=" / 100",
                unit=Unit.RATIO,
                total=Total.HIGHEST,
            ),
        ),
    ),
    Panel(
        id="aws-cache-connections",
        title=Words("Connections", "接続数"),
        signals=(
            NODES.signal(
                "aws_cache_connections",
                ("Connections", "接続数"),
                ("CurrConnections, the highest of each minute.", "CurrConnections。1分間の最大値。"),
                "curr_connections_maximum",
            ),
        ),
    ),
    Panel(
        id="aws-cache-memory",
        title=Words("Memory for data", "データ用メモリ"),
        signals=(
            NODES.signal(
                "aws_cache_memory",
                ("In use", "使用中"),
                (
                    "DatabaseMemoryUsagePercentage; at 100 % keys are evicted or writes fail.",
                    "DatabaseMemoryUsagePercentage。100%でキーが追い出されるか書き込みが失敗する。",
                ),
                "database_memory_usage_percentage_maximum",
                scale=" / 100",
                unit=Unit.RATIO,
                total=Total.HIGHEST,
            ),
        ),
    ),
    Panel(
        id="aws-cache-evictions",
        title=Words("Evictions", "追い出し"),
        signals=(
            NODES.signal(
                "aws_cache_evictions",
                ("Evicted", "追い出されたキー"),
                ("Keys thrown out for want of memory.", "メモリ不足で追い出されたキー。"),
                "evictions_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
        ),
    ),
)

CACHE_NETWORK = Panel(
    id="aws-cache-network",
    title=Words("Beyond the network allowance", "ネットワーク許容量の超過"),
    signals=(
        NODES.signal(
            "aws_cache_network_in",
            ("In", "受信"),
            (
                "NetworkBandwidthInAllowanceExceeded: packets queued or dropped, more than the node type may receive.",
                "NetworkBandwidthInAllowanceExceeded。受信帯域を超えて待機または破棄されたパケット。",
            ),
            "network_bandwidth_in_allowance_exceeded_sum",
            scale=PER_SECOND,
            unit=Unit.PER_SECOND,
        ),
        NODES.signal(
            "aws_cache_network_out",
            ("Out", "送信"),
            (
                "NetworkBandwidthOutAllowanceExceeded: packets queued or dropped, more than the node type may send.",
                "NetworkBandwidthOutAllowanceExceeded。送信帯域を超えて待機または破棄されたパケット。",
            ),
            "network_bandwidth_out_allowance_exceeded_sum",
            scale=PER_SECOND,
            unit=Unit.PER_SECOND,
        ),
        NODES.signal(
            "aws_cache_network_packets",
            ("Packets", "パケット数"),
            (
                "NetworkPacketsPerSecondAllowanceExceeded: too many packets a second, however small.",
                "NetworkPacketsPerSecondAllowanceExceeded。毎秒のパケット数が上限を超えたもの。",
            ),
            "network_packets_per_second_allowance_exceeded_sum",
            scale=PER_SECOND,
            unit=Unit.PER_SECOND,
        ),
        NODES.signal(
            "aws_cache_network_connections",
            ("Connections", "接続追跡"),
            (
                "NetworkConntrackAllowanceExceeded: the node tracks no more connections; new ones fail.",
                "NetworkConntrackAllowanceExceeded。追跡できる接続数を超えた。新しい接続は失敗する。",
            ),
            "network_conntrack_allowance_exceeded_sum",
            scale=PER_SECOND,
            unit=Unit.PER_SECOND,
        ),
    ),
)

QUEUE_PANELS = (
    Panel(
        id="aws-sqs-waiting",
        title=Words("Messages", "メッセージ数"),
        signals=(
            _messages(
                "aws_sqs_visible",
                ("Waiting", "待機中"),
                ("Messages that wait to be received.", "受信を待つメッセージ。"),
                "approximate_number_of_messages_visible_maximum",
            ),
            _messages(
                "aws_sqs_in_flight",
                ("In flight", "処理中"),
                ("Received, and not deleted yet.", "受信済みでまだ削除されていないメッセージ。"),
                "approximate_number_of_messages_not_visible_average",
            ),
        ),
    ),
    Panel(
        id="aws-sqs-age",
        title=Words("Age of the oldest message", "最古メッセージの経過時間"),
        signals=(
            cloudwatch(
                "aws_sqs_oldest",
                ("Oldest", "最古"),
                ("How far the consumers are behind.", "コンシューマーの遅れ。"),
                by_resource("aws_sqs_approximate_age_of_oldest_message_maximum", QUEUE),
                MESSAGES.legend,
                unit=Unit.SECONDS,
                total=Total.HIGHEST,
            ),
        ),
    ),
    Panel(
        id="aws-sqs-flow",
        title=Words("Sent and done", "送信と処理完了"),
        signals=(
            _messages(
                "aws_sqs_sent",
                ("Sent", "送信"),
                ("Messages put into the queue.", "キューに入れられたメッセージ。"),
                "number_of_messages_sent_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
            _messages(
                "aws_sqs_deleted",
                ("Done", "処理完了"),
                ("Messages deleted: done by a consumer.", "削除(処理完了)されたメッセージ。"),
                "number_of_messages_deleted_sum",
                scale=PER_SECOND,
                unit=Unit.PER_SECOND,
            ),
        ),
    ),
)

CACHES = Group(
    id="aws_caches", title=Words("AWS caches", "AWS キャッシュ"), panels=(*CACHE_PANELS, CACHE_NETWORK), optional=True
)
QUEUES = Group(id="aws_queues", title=Words("AWS queues", "AWS キュー"), panels=QUEUE_PANELS, optional=True)
