"""A database's CPU is full where statements waited for it; where others took the CPU it is not to blame."""

import numpy as np
from loadwatch_backend.findings.detectors.database_resources import cpu_full as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

DB = 'job="mysql",instance="db"'
CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders",region="eu-west-1"}'


def _series(database: Values, *, running: Values = 30.0, others: Values = 0.1) -> dict[str, Values]:
    return {
        **host(np.add(over(database), over(others)), cores=2),
        **program(database, labels=DB),
        f"mysql_global_status_threads_connected{{{DB}}}": 33.0,
        f"mysql_global_status_threads_running{{{DB}}}": running,
    }


def test_all_cores_in_use_and_statements_that_wait_for_one() -> None:
    series = _series(over(steps((10, 0.4), (50, 1.9))), running=over(steps((10, 2.0), (50, 30.0))))
    finding = found(DETECTOR, window(series, load=load(100.0, p95=steps((10, 0.05), (50, 0.9)))))
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 10_000 <= finding.from_ms <= START_MS + 14_000
    assert "db used 1.9 of 2 cores" in finding.sentence.en
    assert "2コア中1.9を使用" in finding.sentence.ja
    assert finding.labels["instance"] == "db"


def test_it_began_when_statements_began_to_wait() -> None:
    series = _series(over(steps((10, 0.4), (10, 1.5), (40, 1.95))), running=over(steps((10, 2.0), (50, 12.0))))
    finding = found(DETECTOR, window(series, load=load(100.0, p95=steps((10, 0.05), (50, 0.9)))))
    assert START_MS + 9_000 <= finding.from_ms <= START_MS + 14_000


def test_full_without_harm_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(1.9, running=2.0), load=load(100.0)))
    assert not seen.findings
    assert "1.9 of 2 cores" in seen.observations[0].en


def test_a_host_that_others_keep_busy_accuses_nobody() -> None:
    slow = load(100.0, p95=steps((10, 0.05), (50, 0.9)))
    seen = DETECTOR.look(window(_series(0.9, others=1.1), load=slow))
    assert not seen.findings
    assert seen.clear is not None


def test_a_short_spike_is_none() -> None:
    spike = over(steps((30, 0.4), (3, 2.0), (27, 0.4)))
    assert not DETECTOR.look(window(_series(spike), load=load(100.0, timeout=20.0))).findings


def test_unknown_cores_are_not_judged() -> None:
    series = {name: values for name, values in _series(1.9).items() if not name.startswith("node_cpu")}
    seen = DETECTOR.look(window(series, load=load(100.0, timeout=20.0)))
    assert not seen.findings
    assert seen.clear is None


def test_minutes_of_cloudwatch_count_by_the_minute() -> None:
    cpu = steps((120, 40.0), (240, 99.0))
    series: dict[str, Values] = {
        f"aws_rds_cpuutilization_average{CLOUD}": cpu,
        f"aws_rds_dbload_relative_to_num_vcpus_average{CLOUD}": steps((120, 0.3), (240, 3.0)),
    }
    slow = load(100.0, p95=steps((120, 0.05), (240, 0.9)), seconds=360)
    finding = found(DETECTOR, window(series, load=slow, seconds=360, interval=60))
    assert finding.certainty is Certainty.CERTAIN
    assert "orders used 99 % of its CPU" in finding.sentence.en
    assert "CloudWatch, by the minute" in finding.sentence.en
    assert finding.labels == {"instance": "orders", "region": "eu-west-1"}


def test_one_full_minute_of_cloudwatch_is_too_short() -> None:
    cpu = steps((120, 40.0), (60, 99.0), (180, 40.0))
    seen = DETECTOR.look(
        window(
            {f"aws_rds_cpuutilization_average{CLOUD}": cpu},
            load=load(100.0, timeout=20.0, seconds=360),
            seconds=360,
            interval=60,
        )
    )
    assert not seen.findings
