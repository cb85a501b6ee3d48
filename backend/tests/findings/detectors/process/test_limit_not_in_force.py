"""A unit's LimitNOFILE of today against the limit that its process was started with."""

import math
from collections.abc import Mapping

import pytest
from loadwatch_backend.findings.detectors.process import limit_not_in_force as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.registry import DETECTORS
from loadwatch_backend.findings.window import Window

from backend.tests.findings.machines import APP
from backend.tests.findings.windows import Values, found, window


def service(
    more: Mapping[str, Values] | None = None, *, soft: float, hard: float, unit_soft: float, unit_hard: float
) -> Window:
    series: dict[str, Values] = {
        f"process_max_fds{{{APP}}}": soft,
        f"process_max_fds_hard{{{APP}}}": hard,
        f'process_unit_max_fds{{{APP},unit="app.service",bound="soft"}}': unit_soft,
        f'process_unit_max_fds{{{APP},unit="app.service",bound="hard"}}': unit_hard,
    }
    return window(series | dict(more or {}))


def test_a_limit_that_was_raised_since_the_start_is_said_with_the_command_that_puts_it_in_force() -> None:
    finding = found(DETECTOR, service(soft=1_024, hard=4_096, unit_soft=65_536, unit_hard=65_536))
    assert finding.sentence.en.startswith("LimitNOFILE of app.service was changed to 65,536 and is not in force")
    assert "1,024" in finding.sentence.en
    assert "65,536" in finding.sentence.ja
    assert finding.certainty is Certainty.CERTAIN
    assert finding.steps[0].code.startswith("systemctl restart app.service\n")
    assert DETECTOR in DETECTORS


def test_a_hard_limit_alone_counts_for_a_program_that_raises_its_soft_limit_itself() -> None:
    finding = found(DETECTOR, service(soft=4_096, hard=4_096, unit_soft=1_024, unit_hard=524_288))
    assert "may open 4,096 files" in finding.sentence.en


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ((65_536, 65_536, 65_536, 65_536), "in force"),
        ((524_288, 524_288, 1_024, 524_288), "Go raises its soft limit to the hard one"),
        ((65_536, 65_536, 1_024, 4_096), "a program that runs as root may raise both"),
        ((1_024, 4_096, math.nan, math.nan), "systemd does not answer"),
    ],
)
def test_what_is_in_force_is_not_accused(limits: tuple[float, float, float, float], why: str) -> None:
    soft, hard, unit_soft, unit_hard = limits
    seen = DETECTOR.look(service(soft=soft, hard=hard, unit_soft=unit_soft, unit_hard=unit_hard))
    assert not seen.findings, why


def test_systemd_gives_no_service_more_than_the_kernel_allows() -> None:
    kernel: dict[str, Values] = {'kernel_nr_open{job="host",instance="vm-1"}': 100_000.0}
    seen = service(kernel, soft=100_000, hard=100_000, unit_soft=500_000, unit_hard=500_000)
    assert not DETECTOR.look(seen).findings
    seen = service(soft=100_000, hard=100_000, unit_soft=500_000, unit_hard=500_000)
    assert found(DETECTOR, seen).evidence[0].limit == 500_000
    assert not DETECTOR.look(service(soft=1_048_576, hard=1_048_576, unit_soft=2e6, unit_hard=2e6)).findings


def test_a_worker_that_lowers_its_own_limit_hides_nothing_of_its_master() -> None:
    workers: dict[str, Values] = {
        f'process_max_fds{{{APP},pid="2"}}': 512.0,
        f'process_max_fds_hard{{{APP},pid="2"}}': 512.0,
    }
    seen = DETECTOR.look(service(workers, soft=65_536, hard=65_536, unit_soft=65_536, unit_hard=65_536))
    assert not seen.findings


def test_of_several_units_nobody_can_tell_whose_limit_it_is() -> None:
    other: dict[str, Values] = {f'process_unit_max_fds{{{APP},unit="b.service",bound="hard"}}': 99_999.0}
    seen = DETECTOR.look(service(other, soft=1_024, hard=4_096, unit_soft=1_024, unit_hard=4_096))
    assert not seen.findings
    assert seen.unjudged is not None
