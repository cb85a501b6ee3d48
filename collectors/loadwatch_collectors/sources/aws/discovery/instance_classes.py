"""Memory of RDS and ElastiCache classes: within a family it is proportional to the size. Pure.

Source: "Hardware specifications for DB instance classes" of the RDS User Guide and EC2's DescribeInstanceTypes; a test
compares every family with the copy of the latter that moto brings.
"""

import re

from loadwatch_collectors.sources.aws.discovery.facts import GIB

_GIB_OF_XLARGE: tuple[tuple[str, float], ...] = (
    (r"c\d+g?d?", 8.0),
    (r"m1|m3", 15.0),
    (r"m\d+[a-z-]*", 16.0),
    (r"r3|r4", 30.5),
    (r"r\d+[a-z-]*", 32.0),
    (r"t[2-9]g?", 16.0),
    (r"x1", 61.0),
    (r"x1e", 122.0),
    (r"x2g|x2gd|x2idn|x8g", 64.0),
    (r"x2iedn|x2iezn", 128.0),
    (r"z1d", 32.0),
)
_SIZES = {"nano": 1 / 32, "micro": 1 / 16, "small": 1 / 8, "medium": 1 / 4, "large": 1 / 2, "xlarge": 1.0}
_CLASS = re.compile(r"(?:db\.|cache\.)?([a-z0-9-]+)\.(?:(\d+)xlarge|([a-z]+))(?:\.tpc\d+)?(?:\.mem(\d+)x)?")
_ACU_GIB = 2.0
"""Memory of one Aurora capacity unit."""


def memory_bytes(instance_class: str, *, max_capacity: float | None = None) -> int | None:
    """Memory of a class; None when it is not known.

    `max_capacity` (Aurora capacity units) is what `db.serverless` may grow to: max_connections follows from it.
    It is the whole machine's: RDS keeps some for itself, so `DBInstanceClassMemory` is a little less.
    """
    if instance_class == "db.serverless":
        return round(max_capacity * _ACU_GIB * GIB) if max_capacity else None
    match = _CLASS.fullmatch(instance_class)
    if match is None:
        return None
    family, count, word, times = match.groups()
    share = float(count) if count else _SIZES.get(word)
    gib = next((gib for pattern, gib in _GIB_OF_XLARGE if re.fullmatch(pattern, family)), None)
    if share is None or gib is None:
        return None
    return round(gib * share * GIB * (int(times) if times else 1))
