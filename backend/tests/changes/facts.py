"""What an agent's discovery sends, written to a server's store."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.tests.conftest import NOW_MS, RunningServer

MINUTE = 60_000
STALE: float = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]
WHERE = {"account_id": "123456789012", "region": "ap-northeast-1"}

Fact = tuple[dict[str, str], float]


def cluster(writer: str, name: str = "shop") -> list[Fact]:
    labels = {"name": f"arn:cluster:{name}", "cluster": name, "writer": writer, "engine_version": "3.05"}
    return [({"__name__": "aws_rds_cluster_info", **labels}, 1)]


def instance(name: str, **labels: str) -> list[Fact]:
    known = {"name": f"arn:db:{name}", "identifier": name, "class": "db.r6g.large", "max_connections": "1000"}
    return [({"__name__": "aws_rds_info", **known, **labels}, 1)]


def service(definition: str, desired: float) -> list[Fact]:
    named = {"name": "arn:api", "cluster": "prod", "service": "api", "task_definition": definition}
    counted = {"name": "arn:api", "dimension_ClusterName": "prod", "dimension_ServiceName": "api"}
    return [
        ({"__name__": "aws_ecs_service_info", **named}, 1),
        ({"__name__": "aws_ecs_service_desired_tasks", **counted}, desired),
    ]


def listed(**kinds: int) -> list[Fact]:
    return [({"__name__": "aws_discovered_resources", "kind": kind}, count) for kind, count in kinds.items()]


@dataclass
class Agent:
    """Sends facts at minutes after the beginning; what it does not repeat gets a stale marker, as from a real one."""

    server: RunningServer
    instance: str = "agent-1"
    shown: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def tell(self, minute: float, *facts: Sequence[Fact]) -> None:
        at_ms = NOW_MS + round(minute * MINUTE)
        told = [
            ({"job": "aws", "instance": self.instance, **WHERE, **labels}, value)
            for some in facts
            for labels, value in some
        ]
        shown = [labels for labels, _ in told]
        samples = [(labels, [(at_ms, float(value))]) for labels, value in told]
        samples += [(labels, [(at_ms, STALE)]) for labels in self.shown if labels not in shown]
        self.shown = shown
        self.server.clock.now_ms = max(self.server.clock.now_ms, at_ms + 1_000)
        if samples:
            self.server.write(*samples)

    def end(self, minute: float) -> None:
        """What the agent sends when it stops: stale markers for everything."""
        self.tell(minute)


def notes(server: RunningServer) -> list[tuple[str, list[str], float]]:
    """The annotations after one look: text, tags, and minute."""
    server.services.changes.scan()
    found = server.client.get("/api/annotations", params={"tag": "aws"}).json()["annotations"]
    assert all(note["author"] == "aws" for note in found)
    return [(note["text"], note["tags"], (note["start_ms"] - NOW_MS) / MINUTE) for note in found]
