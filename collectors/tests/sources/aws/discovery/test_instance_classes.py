import gzip
import json
import re
from pathlib import Path

import moto.ec2
import pytest
from loadwatch_collectors.sources.aws.discovery.readers import memory_bytes

GIB = 1024**3


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("db.t3.micro", 1),
        ("db.t4g.medium", 4),
        ("db.m5.large", 8),
        ("db.r6g.2xlarge", 64),
        ("db.r4.large", 15.25),
        ("db.x2iedn.32xlarge", 4096),
        ("db.r5b.xlarge.tpc2.mem4x", 128),
        ("cache.r7g.4xlarge", 128),
    ],
)
def test_memory_of_classes(name: str, gib: float):
    assert memory_bytes(name) == gib * GIB


def test_serverless_has_the_memory_it_may_grow_to():
    assert memory_bytes("db.serverless", max_capacity=16) == 32 * GIB
    assert memory_bytes("db.serverless") is None


@pytest.mark.parametrize("name", ["", "db", "db.m5", "db.q9.large", "db.m5.huge", "db.m5.metal"])
def test_an_unknown_class_has_none(name: str):
    assert memory_bytes(name) is None


def test_every_family_is_as_ec2_says():
    path = Path(moto.ec2.__path__[0]) / "resources" / "instance_types.json.gz"
    types = json.loads(gzip.decompress(path.read_bytes()))
    compared = 0
    for name, described in types.items():
        # Families that RDS or ElastiCache have; the first ones had odd sizes.
        if not re.match(r"(t[2-4]|m[3-9]|r[3-9]|x[12]|z1d)[a-z]*\.", name) or "flex" in name or name.startswith("r3."):
            continue
        found = memory_bytes(f"db.{name}")
        if found is not None:
            assert found == described["MemoryInfo"]["SizeInMiB"] * 1024**2, name
            compared += 1
    assert compared > 300
