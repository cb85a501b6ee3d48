"""Storage is full where rows could not be stored for it; a mounted image is always full, and nobody's fault."""

import numpy as np
from loadwatch_backend.findings.detectors.database_resources import storage_full as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import host
from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders",region="eu-west-1"}'
GIB = 1024.0**3
LOST = 'ingest_failed_total{job="app",instance="app-1"}'


def _disk(free: Values, *, mount: str = "/data") -> dict[str, Values]:
    labels = f'{{job="host",instance="db",device="sda1",mountpoint="{mount}"}}'
    return {
        **host(0.3, cores=2, labels='job="host",instance="db"'),
        'mysql_global_status_threads_connected{job="mysql",instance="db"}': 20.0,
        f"node_filesystem_avail_bytes{labels}": free,
        f"node_filesystem_size_bytes{labels}": 20 * GIB,
    }


FILLING = over(np.concatenate([np.linspace(2 * GIB, 0.0, 30), np.zeros(30)]))


def test_rows_that_cannot_be_stored_for_lack_of_room_are_found() -> None:
    series = _disk(FILLING) | {LOST: rising(steps((30, 0), (30, 40)))}
    finding = found(DETECTOR, window(series, load=load(60.0, http_5xx=steps((30, 0), (30, 40)))))
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 26_000 <= finding.from_ms <= START_MS + 30_000
    assert "0 B of 20 GiB of storage left" in finding.sentence.en
    assert "1,200 rows could not be stored" in finding.sentence.en
    assert "1,200" in finding.sentence.ja
    assert finding.labels["mountpoint"] == "/data"


def test_a_full_disk_that_stops_nobody_is_an_observation() -> None:
    seen = DETECTOR.look(window(_disk(FILLING), load=load(60.0, http_5xx=40.0)))
    assert not seen.findings
    assert "0 B of 20 GiB" in seen.observations[0].en


def test_a_mounted_image_that_is_always_full_is_left_out() -> None:
    seen = DETECTOR.look(window(_disk(0.0, mount="/snap/core") | {LOST: rising(40.0)}, load=load(60.0, http_5xx=40.0)))
    assert not seen.findings
    assert not seen.observations


def test_cloudwatch_counts_by_the_minute() -> None:
    series: dict[str, Values] = {
        f"aws_rds_free_storage_space_minimum{CLOUD}": steps((120, 9 * GIB), (240, 0.2 * GIB)),
        f"aws_rds_allocated_storage_bytes{CLOUD}": 100 * GIB,
        LOST: rising(steps((120, 0), (240, 40)), seconds=360),
    }
    failing = load(60.0, http_5xx=steps((120, 0), (240, 40)), seconds=360)
    finding = found(DETECTOR, window(series, load=failing, seconds=360, intervals={}, interval=60))
    assert "(CloudWatch, by the minute)" in finding.sentence.en
    assert finding.labels == {"instance": "orders", "region": "eu-west-1"}
