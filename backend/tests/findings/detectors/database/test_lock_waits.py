"""Lock waits are found where several statements wait all the time; a gauge that stuck, and short waits, are none."""

import numpy as np
from loadwatch_backend.findings.detectors.database_locks import lock_waits as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

DB = '{job="mysql",instance="db"}'


def _series(waiting: Values, waits: Values, waited: Values) -> dict[str, Values]:
    return {
        f"mysql_global_status_innodb_row_lock_current_waits{DB}": waiting,
        f"mysql_global_status_innodb_row_lock_waits{DB}": rising(waits),
        f"mysql_global_status_innodb_row_lock_time{DB}": rising(np.multiply(waited, 1_000.0)),
    }


def test_statements_that_queue_for_a_row_are_found() -> None:
    series = _series(over(steps((15, 0.0), (45, 28.0))), steps((15, 0), (45, 20)), steps((15, 0), (45, 25)))
    finding = found(DETECTOR, window(series, load=load(50.0, p95=steps((15, 0.05), (45, 3.2)))))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 16_000
    assert "Up to 28 statements of db waited" in finding.sentence.en
    assert "900 waits, 1.2 s each" in finding.sentence.en
    assert "900" in finding.sentence.ja


def test_waits_that_never_end_are_seen_by_the_gauge_and_others_by_their_time() -> None:
    assert DETECTOR.look(
        window(_series(over(steps((15, 0.0), (45, 9.0))), steps((15, 0), (2, 5), (43, 0)), 0.0))
    ).findings
    timed = _series(np.nan, 20.0, 6.0)
    assert DETECTOR.look(window(timed)).findings


def test_locks_that_nobody_felt_are_an_observation() -> None:
    seen = DETECTOR.look(window(_series(5.0, 20.0, 5.0), load=load(50.0)))
    assert not seen.findings
    assert seen.observations


def test_a_gauge_that_stuck_long_ago_is_none() -> None:
    slow = load(50.0, timeout=20.0)
    seen = DETECTOR.look(window(_series(7.0, 0.0, 0.0), load=slow))
    assert not seen.findings


def test_short_and_few_waits_are_clear() -> None:
    for waiting in (over(steps((20, 0.0), (3, 9.0), (37, 0.0))), over(1.0)):
        seen = DETECTOR.look(window(_series(waiting, 2.0, 0.0), load=load(50.0, timeout=20.0)))
        assert not seen.findings
        assert seen.clear is not None


def test_unknown_is_not_zero() -> None:
    unknown = {f"mysql_global_status_innodb_row_lock_waits{DB}": np.nan}
    seen = DETECTOR.look(window(_series(9.0, 0.0, 0.0) | unknown))
    assert not seen.findings
    assert seen.clear is None
