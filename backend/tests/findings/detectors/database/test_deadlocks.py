"""Several deadlocks are a finding, one is an observation, none is none."""

import numpy as np
from loadwatch_backend.findings.detectors.database_locks import deadlocks as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

DB = '{job="mysql",instance="db"}'
CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders",region="eu-west-1"}'


def _series(deadlocks: Values, waits: Values = 0.0) -> dict[str, Values]:
    return {
        f"mysql_global_status_innodb_deadlocks{DB}": rising(deadlocks),
        f"mysql_global_status_innodb_row_lock_waits{DB}": rising(waits),
    }


def test_several_deadlocks_are_found_from_the_first_one() -> None:
    series = _series(steps((20, 0), (40, 0.5)), steps((20, 0), (40, 10)))
    finding = found(DETECTOR, window(series, load=load(50.0, http_5xx=steps((20, 0), (40, 2)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.weight is Severity.WARNING
    assert finding.from_ms == START_MS + 21_000
    assert "db rolled 20 transactions back" in finding.sentence.en
    assert "20トランザクション" in finding.sentence.ja


def test_one_is_an_observation_and_none_is_clear() -> None:
    one = DETECTOR.look(window(_series(steps((20, 0), (1, 1), (39, 0)))))
    assert not one.findings
    assert "1 deadlock at db" in one.observations[0].en
    none = DETECTOR.look(window(_series(0.0)))
    assert none.clear is not None


def test_cloudwatch_says_so_by_the_minute() -> None:
    series: dict[str, Values] = {f"aws_rds_deadlocks_average{CLOUD}": steps((120, 0.0), (120, 0.2), (60, 0.0))}
    finding = found(DETECTOR, window(series, seconds=300, interval=60))
    assert "CloudWatch, by the minute" in finding.sentence.en
    assert finding.labels == {"instance": "orders", "region": "eu-west-1"}
    assert START_MS + 60_000 <= finding.from_ms <= START_MS + 121_000


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window(_series(0.0) | {f"mysql_global_status_innodb_deadlocks{DB}": np.nan}))
    assert not seen.findings
    assert seen.clear is None
