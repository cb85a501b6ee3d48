"""Limits that somebody declared, as resources of a forecast."""

from collections.abc import Sequence

from loadwatch_backend.signals.model import Resource, Unit
from loadwatch_backend.texts.words import Words

_NO_RULE = "Somebody declared the limit; what to warn of is theirs to say."
NAMED = '"resource", "$1", "device", "(.*)"'


def _network(direction: str, title: Words) -> Resource:
    """An interface against the cap of that name; each direction has all of it."""
    rate = f"sum by (instance, device) (rate(node_network_{direction}_bytes_total[$window]))"
    return Resource(
        id=f"declared_{direction}",
        title=title,
        help=Words(
            "Bytes a second of an interface against the cap that was declared for it.",
            "インターフェースの毎秒バイト数と、宣言された上限。",
        ),
        unit=Unit.BYTES_PER_SECOND,
        used=f"label_replace({rate}, {NAMED})",
        limit='max by (instance, resource) (declared_limit{unit="bytes_per_second"})',
        legend="{{instance}} {{device}}",
        group="host",
        no_rule=_NO_RULE,
    )


DECLARED: Sequence[Resource] = (
    _network("receive", Words("Declared network cap, in", "宣言されたネットワーク上限(受信)")),
    _network("transmit", Words("Declared network cap, out", "宣言されたネットワーク上限(送信)")),
    Resource(
        id="declared_cores",
        title=Words("Declared cores", "宣言されたコア数"),
        help=Words(
            "CPU of the target's process against the cores that were declared for it.",
            "対象プロセスのCPUと、宣言されたコア数。",
        ),
        unit=Unit.COUNT,
        used="sum by (job, instance) (rate(process_cpu_seconds_total[$window]))",
        limit='max by (job, instance) (declared_limit{unit="cores"})',
        legend="{{job}} {{instance}}",
        group="process",
        no_rule=_NO_RULE,
    ),
)
"""Caps in bytes a second count against the interface of their name, cores against the target's process."""
