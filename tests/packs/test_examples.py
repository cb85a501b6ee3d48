"""Packs that a reader copies load beside the shipped ones, and say what their cases expect."""

from pathlib import Path

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_collectors.collector import Sample

from tests.packs.ticks import Ticks

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "packs"


def test_each_pack_loads() -> None:
    catalogue = Library([FOLDER]).current()
    assert catalogue.faults == []
    assert {one.name for one in FOLDER.iterdir()} <= {one.id for one in catalogue.packs}


def test_its_resource_is_judged_as_a_shipped_one(tmp_path: Path) -> None:
    ticks = Ticks(job="kafka", instance="kafka-1")
    labels = (("consumergroup", "mail"), ("topic", "orders"))
    for second in range(60):
        failed = 20.0 * max(second - 20, 0)
        ticks.add(
            [
                Sample("kafka_consumergroup_lag", 9.0 if second < 20 else 15_000.0, labels),
                Sample("loadtest_requests_total", 100.0 * second - failed, (("outcome", "ok"),)),
                Sample("loadtest_requests_total", failed, (("outcome", "http_5xx"),)),
            ]
        )
    found = ticks.findings(tmp_path / "data", packs=[FOLDER])
    assert found["kafka-backlog-exhausted"]["labels"]["topic"] == "orders"
