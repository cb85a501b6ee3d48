"""Connections that are closed without TIME-WAIT are found, also where the level stands still."""

import numpy as np
from loadwatch_backend.findings.detectors.sockets import time_wait_overflow as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import HOST
from backend.tests.findings.windows import START_MS, Values, found, rising, steps, window


def _series(lost: Values, level: Values = 8_192.0) -> dict[str, Values]:
    return {
        f"node_netstat_TcpExt_TCPTimeWaitOverflow{{{HOST}}}": rising(lost),
        f"node_sockstat_TCP_tw{{{HOST}}}": level,
        f"kernel_tcp_max_tw_buckets{{{HOST}}}": 8_192.0,
    }


def test_an_overflow_is_found_with_its_limit() -> None:
    finding = found(DETECTOR, window(_series(steps((30, 0.0), (30, 90.0)))))
    assert finding.certainty is Certainty.LIKELY
    assert START_MS + 30_000 <= finding.from_ms <= START_MS + 32_000
    assert "all 8,192 buckets of TIME-WAIT" in finding.sentence.en
    assert "2,700 connections were closed without" in finding.sentence.en
    assert "2,700" in finding.sentence.ja
    assert finding.steps[1].code == "sysctl -w net.ipv4.tcp_max_tw_buckets=16384"


def test_a_full_level_without_overflow_is_none() -> None:
    seen = DETECTOR.look(window(_series(0.0)))
    assert not seen.findings
    assert seen.clear is not None


def test_a_counter_that_begins_anew_is_no_overflow() -> None:
    values = np.full(121, 5.0)
    values[60:] = 0.0
    series = _series(0.0) | {f"node_netstat_TcpExt_TCPTimeWaitOverflow{{{HOST}}}": values}
    assert not DETECTOR.look(window(series)).findings
