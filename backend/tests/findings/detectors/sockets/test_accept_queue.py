"""A queue of connections that nobody accepts is found; one that is emptied again and again is not."""

import numpy as np
from loadwatch_backend.findings.detectors.sockets import accept_queue_full as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

HOST = 'job="host",instance="vm-1"'
SLOW = load(100.0, p50=0.01, p95=steps((20, 0.02), (40, 1.05)))


def _queue(
    waiting: Values, dropped: Values = 0.0, impact: Load | None = None, limit: float = 128.0, back_log: float = 80.0
) -> Window:
    series: dict[str, Values] = {
        f'tcp_accept_queue{{{HOST},port="8080"}}': waiting,
        f'tcp_accept_queue_limit{{{HOST},port="8080"}}': limit,
        f'tcp_accept_queue{{{HOST},port="9090"}}': 0.0,
        f'tcp_accept_queue_limit{{{HOST},port="9090"}}': 4096.0,
        f"node_netstat_TcpExt_ListenOverflows{{{HOST}}}": rising(dropped),
        'mysql_global_variables_back_log{job="mysql",instance="db"}': back_log,
    }
    return window(series, load=impact)


def test_a_full_queue_that_drops_is_found_with_the_repeated_syn() -> None:
    finding = found(
        DETECTOR, _queue(over(steps((20, 0.0), (40, 129.0))), dropped=steps((20, 0.0), (40, 5.0)), impact=SLOW)
    )
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels["port"] == "8080"
    assert START_MS + 18_000 <= finding.from_ms <= START_MS + 22_000
    assert "Up to 129 of 128 connections waited" in finding.sentence.en
    assert "dropped 200 connections" in finding.sentence.en
    assert "129/128" in finding.sentence.ja
    assert any("sent again" in one.text.en for one in finding.evidence)


def test_a_standing_queue_counts_while_overflows_stay_at_zero() -> None:
    finding = found(DETECTOR, _queue(over(steps((20, 0.0), (40, 60.0))), impact=SLOW))
    assert finding.certainty is Certainty.LIKELY


def test_a_queue_of_the_databases_back_log_is_the_databases() -> None:
    queue = np.zeros(60)
    queue[20::2] = 70.0
    finding = found(DETECTOR, _queue(queue, dropped=steps((20, 0.0), (40, 3.0)), impact=SLOW, limit=80.0))
    assert "(the database)" in finding.sentence.en
    assert "back_log = 1024" in finding.steps[0].code


def test_a_queue_that_is_emptied_again_and_again_is_none() -> None:
    queue = np.zeros(60)
    queue[::3] = 40.0
    seen = DETECTOR.look(_queue(queue, impact=SLOW))
    assert not seen.findings
    assert seen.clear is not None
    assert "40 connections" in seen.clear.en


def test_a_standing_queue_that_nobody_felt_is_an_observation() -> None:
    seen = DETECTOR.look(_queue(60.0, impact=load(100.0)))
    assert not seen.findings
    assert seen.observations


def test_gaps_are_unknown() -> None:
    holes = np.full(60, np.nan)
    holes[::20] = 100.0
    assert not DETECTOR.look(_queue(holes, impact=SLOW)).findings
