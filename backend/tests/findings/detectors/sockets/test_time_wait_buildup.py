"""TIME-WAIT that will take all buckets is found; a level without the rate for it, or FIN-WAIT-2, is not."""

from loadwatch_backend.findings.detectors.sockets import time_wait_buildup as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import HOST
from backend.tests.findings.windows import START_MS, Values, found, over, rising, steps, window

LEVEL = over(steps((30, 1_000.0), (30, 6_000.0)))


def _series(level: Values, opened: Values, proven: Values | None = None) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"node_sockstat_TCP_tw{{{HOST}}}": level,
        f"kernel_tcp_max_tw_buckets{{{HOST}}}": 8_192.0,
        f"node_netstat_Tcp_PassiveOpens{{{HOST}}}": rising(opened),
        f"node_netstat_Tcp_ActiveOpens{{{HOST}}}": rising(opened),
        f'tcp_connections{{{HOST},port="8080",side="local",state="time_wait"}}': level,
    }
    return series if proven is None else series | {f'node_tcp_connection_states{{{HOST},state="time_wait"}}': proven}


def test_a_level_that_rises_at_a_rate_beyond_the_buckets_is_found() -> None:
    finding = found(DETECTOR, window(_series(LEVEL, 200.0, LEVEL)))
    assert finding.certainty is Certainty.LIKELY
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 32_000
    assert "6,000 of the 8,192 TIME-WAIT buckets of vm-1 are taken, 6,000 of them at port 8080" in finding.sentence.en
    assert "need 12,000" in finding.sentence.en
    assert "12,000" in finding.sentence.ja


def test_a_level_without_the_rate_for_it_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(LEVEL, 10.0)))
    assert not seen.findings
    assert seen.observations


def test_orphaned_fin_wait_is_no_time_wait() -> None:
    seen = DETECTOR.look(window(_series(LEVEL, 200.0, 0.0)))
    assert not seen.findings
    assert seen.observations


def test_a_low_level_is_clear() -> None:
    seen = DETECTOR.look(window(_series(1_000.0, 200.0)))
    assert not seen.findings
    assert seen.clear is not None
    assert "1,000 of 8,192" in seen.clear.en
