"""The generator is the limit where it could not send, not where its host was busy or the system slow."""

import numpy as np
from loadwatch_backend.findings.detectors.load import generator_saturated as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Generator

from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

SHORT = Generator(
    state="saturated",
    reasons=["rate-not-reached", "late-sends"],
    target_rate=1_000.0,
    reached_rate=600.0,
    tool="vegeta",
)
CPU = {
    f'node_cpu_seconds_total{{job="load-generator",instance="gen",cpu="{cpu}",mode="{mode}"}}': rate
    for cpu in (0, 1)
    for mode, rate in (("user", rising(0.98)), ("idle", rising(0.02)))
}


def test_the_check_of_a_run_is_said_with_its_figures() -> None:
    sent = steps((20, 1_000.0), (40, 600.0))
    finding = found(DETECTOR, window({}, load=load(sent, target=1_000.0), generator=SHORT))
    assert finding.id == "generator-saturated"
    assert finding.certainty is Certainty.LIKELY
    assert finding.sentence.en == "vegeta sent 600 of the 1,000 requests/s that it was asked for."
    assert "1,000件に対し600件" in finding.sentence.ja
    assert START_MS + 19_000 <= finding.from_ms <= START_MS + 26_000


def test_the_cpu_of_its_host_completes_the_chain() -> None:
    finding = found(DETECTOR, window(dict[str, Values](CPU), load=load(600.0, target=1_000.0), generator=SHORT))
    assert finding.certainty is Certainty.CERTAIN
    assert "CPU was 98 % busy" in finding.sentence.en


def test_dropped_iterations_are_said() -> None:
    told = Generator(state="saturated", reasons=["dropped-iterations"], dropped=420, tool="k6")
    finding = found(DETECTOR, window({}, load=load(600.0), generator=told))
    assert "k6 dropped 420 iterations" in finding.sentence.en


def test_a_generator_whose_clients_waited_for_answers_is_cleared() -> None:
    told = Generator(state="held-back", reasons=["rate-not-reached"], target_rate=600.0, reached_rate=210.0, tool="hey")
    seen = DETECTOR.look(window(dict[str, Values](CPU), load=load(210.0, target=600.0, p95=0.6), generator=told))
    assert not seen.findings
    assert seen.clear is not None
    assert seen.clear.en.endswith(
        "sent 210 of the 600 requests/s that it was asked for: its clients waited for answers."
    )


def test_a_busy_host_alone_is_no_finding() -> None:
    told = Generator(state="ok", reasons=[], target_rate=1_000.0, reached_rate=1_000.0)
    seen = DETECTOR.look(window(dict[str, Values](CPU), load=load(1_000.0, target=1_000.0), generator=told))
    assert not seen.findings
    assert seen.clear is not None
    assert "1,000 of the 1,000" in seen.clear.en
    doubt = Generator(state="suspect", reasons=["rate-not-reached"], target_rate=1_000.0, reached_rate=9)
    assert not DETECTOR.look(window({}, load=load(9.0, target=1_000.0), generator=doubt)).findings


def test_a_rate_that_is_short_accuses_nobody_without_a_check_of_the_generator() -> None:
    sent = load(steps((60, 600.0), (60, 1_000.0)), seconds=120, target=1_000.0)
    seen = DETECTOR.look(window({}, seconds=120, load=sent))
    assert not seen.findings
    assert seen.clear is None


def test_uneven_clocks_and_no_load_are_no_finding() -> None:
    uneven = np.where(np.arange(60) % 2 == 0, 900.0, 1_100.0)
    assert not DETECTOR.look(window({}, load=load(uneven, target=1_000.0))).findings
    assert DETECTOR.look(window({}, generator=SHORT)).clear is None
