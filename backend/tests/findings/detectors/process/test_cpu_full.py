"""An application is accused of its CPU where it used all that it may and the load was held up, else not."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.detectors.process import app_cpu_full as DETECTOR
from loadwatch_backend.findings.model import Certainty, Link
from loadwatch_backend.findings.window import Load, Totals

from backend.tests.findings.machines import APP, host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

SLOW = load(steps((20, 100.0), (40, 180.0)), p95=steps((20, 0.02), (40, 0.9)), p50=0.01)
EASY = load(100.0, p95=0.02)
WORK = over(steps((20, 1.0), (40, 3.9)))


def test_all_cores_and_slow_answers_are_found() -> None:
    series = host(WORK + 0.1) | program(WORK)
    waiting: dict[str, Values] = {
        'node_pressure_cpu_waiting_seconds_total{job="host",instance="vm-1"}': np.cumsum(over(0.8))
    }
    finding = found(DETECTOR, window(series | waiting, load=SLOW))
    assert finding.labels == {"job": "app", "instance": "app-1"}
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 17_000 <= finding.from_ms <= START_MS + 23_000
    assert "3.9 of 4 cores (all that the host has)" in finding.sentence.en
    assert "p95" in finding.sentence.ja
    # 3.9 cores at 180/s.
    assert "21.7 ms of CPU" in finding.steps[0].text.en


def test_gomaxprocs_below_the_hosts_cores_is_what_bounds_it() -> None:
    cpu = over(steps((20, 0.3), (40, 0.98)))
    limit: dict[str, Values] = {f"go_sched_gomaxprocs_threads{{{APP}}}": 1.0}
    finding = found(DETECTOR, window(host(cpu + 0.2) | program(cpu) | limit, load=SLOW))
    assert "0.98 of 1 cores (its GOMAXPROCS)" in finding.sentence.en
    assert finding.steps[0].code == "GOMAXPROCS=4"


def test_a_rate_that_was_not_reached_is_harm_enough() -> None:
    series = host(4.0) | program(3.9)
    finding = found(DETECTOR, window(series, load=load(100.0, target=300.0)))
    assert "wanted 300 requests/s and could send 100" in finding.sentence.en


def test_most_of_a_host_that_watched_programs_fill_together() -> None:
    cpu = over(steps((20, 0.5), (40, 2.6)))
    database = program(over(steps((20, 0.2), (40, 1.2))), labels='job="mysql",instance="db"')
    series = host(over(steps((20, 0.8), (40, 3.95)))) | program(cpu) | database
    assert found(DETECTOR, window(series, load=SLOW)).labels["job"] == "app"


@pytest.mark.parametrize(
    ("series", "impact"),
    [
        (host(4.0) | program(3.9), EASY),
        (host(4.0) | program(1.5), SLOW),
        (host(3.1, stolen=0.9) | program(3.0), SLOW),
        (host(3.0) | program(2.9), SLOW),
        (
            host(over(steps((30, 1.0), (2, 4.0), (28, 1.0)))) | program(over(steps((30, 0.9), (2, 3.9), (28, 0.9)))),
            SLOW,
        ),
    ],
    ids=["nobody felt it", "others have the rest", "the hypervisor takes it", "cores are left", "for a moment"],
)
def test_is_not_accused(series: dict[str, Values], impact: Load) -> None:
    assert not DETECTOR.look(window(series, load=impact)).findings


def test_a_database_is_no_application_and_one_without_a_host_is_not_judged() -> None:
    server: dict[str, Values] = {f"mysql_global_status_threads_connected{{{APP}}}": 3.0}
    assert not DETECTOR.look(window(host(4.0) | program(3.9) | server, load=SLOW)).findings
    seen = DETECTOR.look(window(program(3.9), load=SLOW))
    assert not seen.findings
    assert seen.clear is None


def test_samples_of_each_ten_seconds_have_to_last_longer() -> None:
    cpu = over(steps((30, 1.0), (12, 3.9), (18, 1.0)))
    seen = window(host(cpu) | program(cpu), load=SLOW, interval=10)
    assert not DETECTOR.look(seen).findings


def test_one_that_fills_a_host_by_far_is_found_beside_what_else_runs_there() -> None:
    assert found(DETECTOR, window(host(4.0) | program(2.7), load=SLOW)).labels["job"] == "app"
    assert not DETECTOR.look(window(host(4.0) | program(2.2), load=SLOW)).findings


ONE_CORE: dict[str, Values] = {f"go_sched_gomaxprocs_threads{{{APP}}}": 1.0}


def test_one_declared_core_with_a_queue_before_it_is_found_though_it_was_slow_from_the_first_second() -> None:
    # 50 clients, each of which waits for its answer: no second was any better than the others.
    busy = host(1.3) | program(0.98) | ONE_CORE
    finding = found(DETECTOR, window(busy, load=load(160.0, p50=0.3, p95=0.32)))
    assert finding.evidence[-1].link is Link.EFFECT
    assert "48 requests shared 1 core" in finding.sentence.en
    assert "6.1 ms of CPU" in finding.sentence.en
    assert "1コア" in finding.sentence.ja


def test_the_applications_own_count_of_requests_inside_tells_where_the_load_tool_tells_nothing() -> None:
    busy = host(1.3) | program(0.98) | ONE_CORE | {f"http_requests_in_flight{{{APP}}}": 48.0}
    assert "48 requests shared 1 core" in found(DETECTOR, window(busy)).sentence.en
    few = host(1.3) | program(0.98) | ONE_CORE | {f"http_requests_in_flight{{{APP}}}": 2.0}
    assert not DETECTOR.look(window(few)).findings


def test_a_full_core_before_which_few_wait_is_no_harm() -> None:
    busy = host(1.3) | program(0.98) | ONE_CORE
    seen = DETECTOR.look(window(busy, load=load(160.0, p50=0.012, p95=0.02)))
    assert not seen.findings
    assert seen.observations


def test_a_threshold_that_was_not_met_is_harm_though_the_load_tool_tells_no_second() -> None:
    said = Words("p95 was 960 ms, against p95 < 300 ms.", "p95は960ミリ秒(p95 < 300 ms)。")
    run = replace(window(host(1.3) | program(0.98) | ONE_CORE), of_run=True, totals=Totals(broken=[said]))
    finding = found(DETECTOR, run)
    assert finding.sentence.en.endswith(said.en)
    assert finding.evidence[-1].link is Link.EFFECT
    brief = over(steps((50, 0.2), (10, 0.98)))
    seen = replace(window(host(brief + 0.3) | program(brief) | ONE_CORE), of_run=True, totals=run.totals)
    assert not DETECTOR.look(seen).findings
