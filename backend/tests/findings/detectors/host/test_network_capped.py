"""A full interface is found where more was wanted; a flat rate alone is none."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.host import network_capped as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.detectors.statements.costs import costing, statement
from backend.tests.findings.machines import HOST
from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window

SLOW = load(300.0, p95=steps((20, 0.02), (40, 0.8)), p50=0.01, target=500.0)
TOP = steps((20, 4e6), (40, 11.7e6))
ETH = f'{HOST},device="eth0"'


def _series(sent: Values, queued: Values = 0.0, **limits: float) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"node_network_transmit_bytes_total{{{ETH}}}": rising(sent),
        f"node_network_receive_bytes_total{{{ETH}}}": rising(3e5),
        f'node_network_transmit_bytes_total{{{HOST},device="lo"}}': rising(9e8),
        f'node_tcp_connection_states{{{HOST},state="tx_queued_bytes"}}': queued,
    }
    if "declared" in limits:
        labels = 'job="web",instance="vm-1",resource="eth0",unit="bytes_per_second"'
        series[f"declared_limit{{{labels}}}"] = limits["declared"]
    if "speed" in limits:
        series[f"node_network_speed_bytes{{{ETH}}}"] = limits["speed"]
    return series


def test_a_declared_cap_that_is_reached_is_found() -> None:
    finding = found(DETECTOR, window(_series(TOP, declared=12.5e6, speed=1.25e9), load=SLOW))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels["device"] == "eth0"
    assert START_MS + 20_000 <= finding.from_ms <= START_MS + 22_000
    assert "eth0 of vm-1 sent 93.6 Mbit/s, of 100 Mbit/s (declared)" in finding.sentence.en
    assert "宣言値" in finding.sentence.ja
    assert "eth0: 94Mbit/s" in finding.steps[1].code


def test_a_flat_top_that_nobody_declared_is_found_by_what_stands_in_the_sockets() -> None:
    series = _series(TOP, queued=over(steps((20, 0.0), (40, 5e6))), speed=1.25e9)
    finding = found(DETECTOR, window(series, load=SLOW))
    assert "flat" in finding.sentence.en
    assert START_MS + 20_000 <= finding.from_ms <= START_MS + 22_000


def test_a_flat_rate_that_may_have_any_other_reason_is_none() -> None:
    seen = DETECTOR.look(window(_series(TOP, speed=1.25e9), load=SLOW))
    assert not seen.findings
    assert seen.clear is not None


def test_a_cap_that_nobody_felt_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(TOP, declared=12.5e6), load=load(300.0)))
    assert not seen.findings
    assert "of 11.9 MiB/s at most" in seen.observations[0].en


def test_a_burst_and_two_samples_of_thirty_seconds_are_none() -> None:
    burst = steps((20, 1e6), (2, 12.4e6), (38, 1e6))
    assert not DETECTOR.look(window(_series(burst, declared=12.5e6), load=SLOW)).findings
    assert not DETECTOR.look(window(_series(12e6, declared=12.5e6), load=SLOW, interval=30)).findings


def test_the_route_that_sends_most_is_where_to_begin() -> None:
    cost = costing(statement()).cost
    assert cost is not None
    routes = [replace(one, totals=replace(one.totals, sent_bytes=2.0**30)) for one in cost.routes]
    seen = replace(window(_series(TOP, declared=12.5e6), load=SLOW), cost=replace(cost, routes=routes))
    assert "Begin with GET /timeline: it sent 1 GiB, 100 %" in found(DETECTOR, seen).steps[0].text.en
