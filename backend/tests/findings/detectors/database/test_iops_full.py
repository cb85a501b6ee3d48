"""A disk is full where operations wait for it that are the database's; a busy disk alone accuses nobody."""

from loadwatch_backend.findings.detectors.database_resources import iops_full as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import host
from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders",region="eu-west-1"}'
DB = '{job="mysql",instance="db"}'
DISK = '{job="host",instance="db",device="sda"}'
MIB = 1024.0**2


def _cloud(writes: Values, depth: Values) -> dict[str, Values]:
    return {
        f"aws_rds_read_iops_average{CLOUD}": 200.0,
        f"aws_rds_write_iops_average{CLOUD}": writes,
        f"aws_rds_provisioned_iops{CLOUD}": 3_000.0,
        f"aws_rds_disk_queue_depth_average{CLOUD}": depth,
    }


def _disk(busy: Values, queue: Values, *, own: float = 20.0) -> dict[str, Values]:
    return {
        **host(0.3, cores=2, labels='job="host",instance="db"'),
        f"mysql_global_status_threads_connected{DB}": 20.0,
        f"node_disk_io_time_seconds_total{DISK}": rising(busy),
        f"node_disk_io_time_weighted_seconds_total{DISK}": rising(queue),
        f"node_disk_written_bytes_total{DISK}": rising(25.0 * MIB),
        f"mysql_global_status_innodb_data_written{DB}": rising(own * MIB),
    }


SLOW = load(100.0, p95=steps((120, 0.05), (240, 0.8)), seconds=360)


def test_provisioned_operations_that_are_used_up_are_found() -> None:
    series = _cloud(steps((120, 500.0), (240, 2_800.0)), steps((120, 1.0), (240, 40.0)))
    finding = found(DETECTOR, window(series, load=SLOW, seconds=360, interval=60))
    assert finding.certainty is Certainty.CERTAIN
    assert "3,000 of its 3,000 provisioned disk operations" in finding.sentence.en
    assert "CloudWatch" in finding.sentence.ja
    assert "--iops 6000" in finding.steps[0].code


def test_used_up_without_a_queue_is_an_observation() -> None:
    seen = DETECTOR.look(window(_cloud(2_800.0, 2.0), load=load(100.0, seconds=360), seconds=360, interval=60))
    assert not seen.findings
    assert seen.observations


def test_a_disk_that_the_database_keeps_busy_is_found() -> None:
    series = _disk(steps((20, 0.2), (40, 1.0)), steps((20, 0.5), (40, 12.0)))
    finding = found(DETECTOR, window(series, load=load(100.0, p95=steps((20, 0.05), (40, 0.8)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 21_000
    assert "The disk sda of db had work all the time" in finding.sentence.en
    assert finding.labels == {"job": "mysql", "instance": "db"}


def test_a_backup_that_keeps_the_disk_busy_accuses_nobody() -> None:
    seen = DETECTOR.look(window(_disk(1.0, 12.0, own=1.0), load=load(100.0, timeout=20.0)))
    assert not seen.findings
    assert seen.observations


def test_a_busy_disk_without_a_queue_is_clear() -> None:
    seen = DETECTOR.look(window(_disk(1.0, 1.0), load=load(100.0, timeout=20.0)))
    assert not seen.findings
    assert seen.clear is not None
