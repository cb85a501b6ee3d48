"""Memory that grew since the baseline is a finding where the host has little left, or swaps."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.baseline import memory_grown as DETECTOR
from loadwatch_backend.findings.model import Certainty, Look

from backend.tests.findings.detectors.baseline.baselines import APP, baseline
from backend.tests.findings.windows import Values, load, rising, window

MIB = 1024.0**2
KEY = (APP, "resident_memory")
HOST = '{job="host",instance="app-1"}'


def _look(available: float, swapped: float = 0.0, now: float = 600.0, total: float = 1_024.0) -> Look:
    series: dict[str, Values] = {
        'process_resident_memory_bytes{job="app",instance="app-1",name="app"}': now * MIB,
        'node_cpu_seconds_total{job="host",instance="app-1",cpu="0",mode="user"}': rising(0.2),
        f"node_memory_MemAvailable_bytes{HOST}": available * MIB,
        f"node_memory_MemTotal_bytes{HOST}": total * MIB,
        f"node_vmstat_pswpout{HOST}": rising(swapped),
    }
    against = baseline({KEY: 300.0 * MIB}, {KEY: now * MIB})
    return DETECTOR.look(replace(window(series, load=load(100.0)), baseline=against))


def test_a_process_that_kept_its_memory_on_a_host_that_is_full_and_swaps_is_found() -> None:
    (finding,) = _look(60.0, swapped=500.0).findings
    assert finding.id == "memory-grown"
    assert finding.certainty is Certainty.CERTAIN
    assert "began with 600 MiB of memory, 300 MiB at the baseline; 60 MiB of 1 GiB were left" in finding.sentence.en
    assert "600 MiB" in finding.sentence.ja


def test_with_room_left_it_is_no_limit_that_was_full() -> None:
    seen = _look(500.0)
    assert not seen.findings
    assert not seen.observations
    assert seen.clear is not None
    assert "held 600 MiB" in seen.clear.en


def test_a_little_more_is_clear() -> None:
    seen = _look(60.0, now=320.0)
    assert not seen.findings
    assert seen.clear is not None


def test_a_process_that_grew_by_little_of_a_large_host_is_not_what_the_host_is_short_of() -> None:
    seen = _look(6_000.0, swapped=500.0, total=64_000.0)
    assert not seen.findings
    assert seen.clear is not None
