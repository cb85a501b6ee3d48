"""Local ports that ran out are found where something failed for it."""

from loadwatch_backend.findings.detectors.sockets.ephemeral_ports import DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import APP, HOST
from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window


def _series(waiting: Values) -> dict[str, Values]:
    return {
        f'tcp_connections{{{HOST},port="3306",side="remote",state="time_wait"}}': waiting,
        f'tcp_connections{{{HOST},port="3306",side="remote",state="established"}}': 200.0,
        f'tcp_connections{{{HOST},port="8080",side="local",state="established"}}': 50_000.0,
        f'tcp_connections{{{HOST},port="443",side="remote",state="established"}}': 12.0,
        f"kernel_ephemeral_ports{{{HOST}}}": 28_232.0,
    }


FULL = over(steps((30, 9_000.0), (30, 28_000.0)))


def test_ports_that_ran_out_while_requests_failed_are_found() -> None:
    failing = load(steps((30, 100.0), (30, 40.0)), http_5xx=steps((30, 0.0), (30, 60.0)))
    finding = found(DETECTOR, window(_series(FULL), load=failing))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "host", "instance": "vm-1", "port": "3306"}
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 32_000
    assert "no local port left towards port 3306" in finding.sentence.en
    assert "28,200 of 28,232, 28,000 in TIME-WAIT" in finding.sentence.en
    assert "28,200" in finding.sentence.ja


def test_rows_that_could_not_be_written_are_harm_enough() -> None:
    failed: dict[str, Values] = {f"ingest_failed_total{{{APP}}}": rising(steps((30, 0.0), (30, 5.0)))}
    assert "150 rows could not be written" in found(DETECTOR, window(_series(FULL) | failed)).sentence.en


def test_full_without_harm_is_an_observation_and_room_is_clear() -> None:
    seen = DETECTOR.look(window(_series(FULL), load=load(100.0)))
    assert not seen.findings
    assert seen.observations
    seen = DETECTOR.look(window(_series(9_000.0), load=load(40.0, http_5xx=60.0)))
    assert not seen.findings
    assert seen.clear is not None
    assert "9,200 of 28,232" in seen.clear.en
