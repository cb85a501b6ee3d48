"""A replica that falls behind is found; one that always was behind, and a moment of it, are not."""

import numpy as np
from loadwatch_backend.findings.detectors.database_replicas import replica_lag as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, over, rising, steps, window

BEHIND = 'mysql_slave_status_seconds_behind_master{job="mysqld",instance="replica"}'
CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders-2",region="eu-west-1"}'


def test_a_replica_that_falls_behind_under_load_is_found() -> None:
    series: dict[str, Values] = {
        BEHIND: over(np.concatenate([np.zeros(10), np.arange(50.0)])),
        'mysql_global_status_handlers_total{job="mysql",instance="db",handler="write"}': rising(900.0),
    }
    finding = found(DETECTOR, window(series))
    assert finding.from_ms == START_MS + 16_000
    assert "by up to 49 s" in finding.sentence.en
    assert "49秒" in finding.sentence.ja
    assert finding.certainty is Certainty.LIKELY


def test_aurora_counts_in_milliseconds_and_by_the_minute() -> None:
    lag: dict[str, Values] = {f"aws_rds_aurora_replica_lag_average{CLOUD}": steps((120, 20.0), (240, 2_500.0))}
    finding = found(DETECTOR, window(lag, seconds=360, interval=60))
    assert "2.5 s (CloudWatch, by the minute)" in finding.sentence.en
    one_minute: dict[str, Values] = {
        f"aws_rds_aurora_replica_lag_average{CLOUD}": steps((120, 20.0), (60, 2_500.0), (180, 20.0))
    }
    assert not DETECTOR.look(window(one_minute, seconds=360, interval=60)).findings


def test_a_replica_that_is_behind_on_purpose_is_an_observation() -> None:
    seen = DETECTOR.look(window({BEHIND: 3_600.0}))
    assert not seen.findings
    assert seen.observations


def test_a_moment_is_clear_and_unknown_is_not_zero() -> None:
    assert DETECTOR.look(window({BEHIND: steps((30, 0), (2, 9), (28, 0))})).clear is not None
    assert DETECTOR.look(window({BEHIND: np.nan})).clear is None
