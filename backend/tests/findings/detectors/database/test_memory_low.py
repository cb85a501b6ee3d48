"""Memory is short where the database swapped or waited for pages and the load felt it."""

import numpy as np
from loadwatch_backend.findings.detectors.database_resources import memory_low as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

CLOUD = '{name="arn",dimension_DBInstanceIdentifier="orders",region="eu-west-1"}'
DB = '{job="mysql",instance="db"}'
GIB = 1024.0**3


def _cloud(free: Values, swap: Values) -> dict[str, Values]:
    return {
        f"aws_rds_freeable_memory_minimum{CLOUD}": free,
        f"aws_rds_memory_bytes{CLOUD}": 8 * GIB,
        f"aws_rds_swap_usage_average{CLOUD}": swap,
    }


def _pages(waits: Values) -> dict[str, Values]:
    return {
        f"mysql_global_status_innodb_buffer_pool_wait_free{DB}": rising(waits),
        f"mysql_global_variables_innodb_buffer_pool_size{DB}": 64 * 1024.0**2,
        'mysql_global_status_buffer_pool_pages{job="mysql",instance="db",state="free"}': 0.0,
    }


SLOW = load(100.0, p95=steps((120, 0.05), (240, 0.8)), seconds=360)


def test_an_instance_that_swaps_is_found() -> None:
    series = _cloud(steps((120, 2 * GIB), (240, 0.1 * GIB)), steps((120, 0.0), (240, 0.5 * GIB)))
    finding = found(DETECTOR, window(series, load=SLOW, seconds=360, interval=60))
    assert finding.certainty is Certainty.CERTAIN
    assert "swapped 512 MiB out (CloudWatch, by the minute)" in finding.sentence.en
    assert "512 MiB" in finding.sentence.ja


def test_little_free_memory_that_hurts_nobody_is_an_observation() -> None:
    seen = DETECTOR.look(window(_cloud(0.1 * GIB, 0.2 * GIB), load=SLOW, seconds=360, interval=60))
    assert not seen.findings
    assert seen.observations


def test_statements_that_wait_for_a_free_page_are_found() -> None:
    finding = found(
        DETECTOR,
        window(_pages(steps((20, 0), (40, 50))), load=load(100.0, p95=steps((20, 0.05), (40, 0.8)))),
    )
    assert finding.certainty is Certainty.CERTAIN
    assert finding.from_ms == START_MS + 21_000
    assert "The buffer pool of 64 MiB of db" in finding.sentence.en
    assert "2,000 times" in finding.sentence.en


def test_few_waits_and_waits_that_nobody_felt_are_clear() -> None:
    for series, sent in ((_pages(1.0), load(100.0, timeout=20.0)), (_pages(50.0), load(100.0))):
        seen = DETECTOR.look(window(series, load=sent))
        assert not seen.findings
        assert seen.clear is not None


def test_unknown_is_not_zero() -> None:
    seen = DETECTOR.look(window({f"mysql_global_status_innodb_buffer_pool_wait_free{DB}": np.nan}))
    assert not seen.findings
    assert seen.clear is None
