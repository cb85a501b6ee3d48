"""The route that fills a network is named; one that could not have, and a network with room, are none."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.traffic import route_bytes as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.window import Window

from backend.tests.findings.detectors.statements.costs import of_routes, route
from backend.tests.findings.machines import HOST
from backend.tests.findings.windows import Values, found, load, rising, window

ETH = f'{HOST},device="eth0"'


def seen(sent: float, images: float, others: float, *, slow: bool = False, **more: Values) -> Window:
    """An interface of 100 Mbit/s that sends so many bytes a second, and routes that do."""
    impact = load(100.0, p95=[0.05] * 20 + [2.0] * 40 if slow else 0.05)
    series: dict[str, Values] = {
        f"node_network_transmit_bytes_total{{{ETH}}}": rising([sent] * 60),
        f"node_network_speed_bytes{{{ETH}}}": 12.5e6,
        **more,
    }
    cost = of_routes(route("/image/:id", 3_000.0, sent_bytes=images * 60), route("/", 3_000.0, sent_bytes=others * 60))
    return replace(window(series, load=impact), cost=cost)


def test_the_route_that_fills_the_network_is_named() -> None:
    finding = found(DETECTOR, seen(11.9e6, 9.9e6, 1.1e6, slow=True))
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.CERTAIN)
    assert "GET /image/:id sent 9.4 MiB/s, 193 KiB an answer: 90 % of the bytes of all routes" in finding.sentence.en
    assert "eth0 of vm-1 was at 95 % of what it may carry" in finding.sentence.en
    assert "全ルートの90 %" in finding.sentence.ja
    assert finding.labels["route"] == "GET /image/:id"


def test_a_network_that_nobody_waited_for_is_a_note() -> None:
    assert found(DETECTOR, seen(11.9e6, 9.9e6, 1.1e6)).weight is Severity.INFO
    assert found(DETECTOR, seen(9.5e6, 8.0e6, 1.0e6, slow=True)).weight is Severity.INFO


def test_room_and_bytes_that_went_elsewhere_accuse_nobody() -> None:
    light = DETECTOR.look(seen(3e6, 2e6, 5e5))
    assert not light.findings
    assert light.clear is not None
    assert "GET /image/:id sent most, 1.9 MiB/s of 11.9 MiB/s" in light.clear.en
    # The answers went through another interface, another process sent most, or two interfaces may have carried them.
    assert not DETECTOR.look(seen(5e6, 9.9e6, 1.1e6, slow=True)).findings
    assert not DETECTOR.look(seen(11.9e6, 2e6, 1e6, slow=True)).findings
    second = {f'node_network_transmit_bytes_total{{{HOST},device="eth1"}}': rising([11.9e6] * 60)}
    second_speed = {f'node_network_speed_bytes{{{HOST},device="eth1"}}': 12.5e6}
    both = seen(11.9e6, 9.9e6, 1.1e6, slow=True, **second, **second_speed)
    assert DETECTOR.look(both) == DETECTOR.look(window({"up": 1.0}))
