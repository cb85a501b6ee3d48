"""A hotspot is one full node among idle equals while the load suffers."""

from loadwatch_backend.findings.detectors.instances import hotspot as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Load

from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

SECONDS = 180
SLOW = steps((30, 0.05), (150, 2.0))


def _nodes(*used: Values, seconds: int = SECONDS) -> dict[str, Values]:
    series: dict[str, Values] = {}
    for number, rate in enumerate(used):
        labels = f'instance="node-{number}"'
        series[f'process_cpu_seconds_total{{job="store",{labels},name="store"}}'] = rising(rate, seconds=seconds)
        for cpu in (0, 1):
            key = f'node_cpu_seconds_total{{job="host",{labels},cpu="{cpu}",mode="user"}}'
            series[key] = rising(0.5, seconds=seconds)
    return series


def _load(p95: Values = SLOW, seconds: int = SECONDS) -> Load:
    return load(100.0, seconds=seconds, p95=p95)


def test_one_full_node_among_idle_ones_is_found_while_the_load_suffers() -> None:
    hot = steps((30, 0.4), (150, 1.9))
    finding = found(DETECTOR, window(_nodes(hot, 0.3, 0.4, 0.35), seconds=SECONDS, load=_load()))
    assert finding.id == "hotspot"
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "store", "instance": "node-0"}
    assert "node-0 used 95 % of its CPU and the other 3 nodes of store about 18 %" in finding.sentence.en
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 33_000


def test_the_same_without_harm_is_no_finding() -> None:
    seen = DETECTOR.look(window(_nodes(1.9, 0.3, 0.4), seconds=SECONDS, load=_load(0.05)))
    assert not seen.findings
    assert seen.clear is not None
    assert "15 % to 95 %" in seen.clear.en


def test_nodes_that_are_all_full_are_no_hotspot() -> None:
    assert not DETECTOR.look(window(_nodes(1.9, 1.8, 1.9), seconds=SECONDS, load=_load())).findings


def test_half_a_minute_is_too_short_and_two_nodes_are_too_few() -> None:
    short = steps((100, 0.4), (30, 1.9), (50, 0.4))
    assert not DETECTOR.look(window(_nodes(short, 0.3, 0.4), seconds=SECONDS, load=_load())).findings
    assert not DETECTOR.look(window(_nodes(1.9, 0.3), seconds=SECONDS, load=_load())).findings


def test_a_run_of_fifteen_seconds_is_long_enough() -> None:
    suffers = _load(steps((3, 0.05), (12, 2.0)), seconds=15)
    look = DETECTOR.look(window(_nodes(1.9, 0.3, 0.4, seconds=15), seconds=15, load=suffers))
    assert [one.labels["instance"] for one in look.findings] == ["node-0"]


def test_cores_that_are_not_known_are_not_guessed() -> None:
    series = {key: value for key, value in _nodes(1.9, 0.3, 0.4).items() if not key.startswith("node_cpu")}
    assert DETECTOR.look(window(series, seconds=SECONDS, load=_load())).clear is None
