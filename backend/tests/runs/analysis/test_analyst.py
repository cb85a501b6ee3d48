from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import Figures, RampFacts
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.analysis.schemas import WindowSource
from loadwatch_backend.runs.fields import RunState, Verdict, Window
from loadwatch_backend.runs.schemas import Generator
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.embedded.engine import open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_formats.outcomes import OUTCOMES, Outcome

from backend.tests.runs.analysis.building import (
    START_MS,
    Bench,
    Requests,
    figures_of,
    gauge,
    load_result,
    nearest_rank,
    per_second,
    result_of,
    subject,
)

RUN = "20260116-080000-aaaa"


def warm_run(seconds: int = 60, rate: int = 50) -> Requests:
    """Latencies begin ten times too high and settle in the first ten seconds."""
    random = np.random.default_rng(7)
    starts = START_MS * 10**6 + (np.arange(seconds * rate) * (10**9 / rate)).astype(np.int64)
    times = np.arange(seconds * rate) / rate
    latencies = (0.02 + 0.2 * np.exp(-times / 3)) * random.uniform(0.8, 1.2, len(times))
    outcomes = [Outcome.TIMEOUT if i % 500 == 499 else Outcome.OK for i in range(len(times))]
    return Requests(starts, latencies, outcomes)


def test_thresholds_cover_the_steady_window_and_are_exact_from_records(bench: Bench):
    requests = warm_run()
    asked = ("p95<30ms", "p95<30ms over whole", "p95>100ms over 0s..5s", "error_rate<1%", "rate>=0.99*target")
    found = bench.analyst(requests).analyse(subject(requests.result(), thresholds=asked, target_rate=50.0))
    window = found.steady_window
    assert window is not None
    assert (window.source, window.reason) == (WindowSource.FOUND, "stable")
    assert 5 < window.from_seconds < 15
    assert window.to_seconds > 55
    assert [one.state for one in found.thresholds] == ["passed", "failed", "passed", "passed", "passed"]
    inside = (requests.starts >= window.from_ms * 10**6) & (requests.starts < window.to_ms * 10**6)
    assert found.thresholds[0].actual == nearest_rank(requests.latencies[inside].tolist(), 0.95)
    assert found.thresholds[1].actual == nearest_rank(requests.latencies.tolist(), 0.95)
    assert found.thresholds[4].limit == pytest.approx(49.5)
    assert (found.verdict, found.verdict_reasons) == (Verdict.FAILED, ["p95<30ms over whole"])
    assert found.steady is not None
    assert found.steady.requests == int(inside.sum())
    assert found.figures is not None
    assert found.figures.requests == 3_000
    assert found.figures.outcomes == {"ok": 2_994, "timeout": 6}
    assert found.sparkline == [50.0] * 60
    assert found.generator.state == "ok"
    assert (found.ramp, found.reconciliation, found.resources, found.remarks) == (None, None, [], [])
    assert found.analysed_ms == bench.now_ms


def test_a_window_set_by_hand_is_used_and_the_one_found_is_told(bench: Bench):
    requests = warm_run()
    by_hand = subject(requests.result(), steady=Window(from_seconds=0, to_seconds=5), thresholds=("p95<30ms",))
    found = bench.analyst(requests).analyse(by_hand)
    assert found.steady_window is not None
    assert (found.steady_window.source, found.steady_window.reason) == (WindowSource.ADJUSTED, "by-hand")
    assert (found.steady_window.from_ms, found.steady_window.to_ms) == (START_MS, START_MS + 5_000)
    assert found.steady_window.found is not None
    assert found.steady_window.found.from_seconds > 5
    assert found.steady is not None
    assert found.steady.requests == 250
    assert found.verdict is Verdict.FAILED


def test_a_window_by_hand_beyond_the_run_is_cut_to_it(bench: Bench):
    requests = warm_run()
    asked = subject(requests.result(), steady=Window(from_seconds=50, to_seconds=500))
    found = bench.analyst(requests).analyse(asked).steady_window
    assert found is not None
    assert found.to_seconds <= 60
    beyond = subject(requests.result(), steady=Window(from_seconds=400, to_seconds=500))
    assert bench.analyst(requests).analyse(beyond).steady_window is not None


def test_a_run_of_zero_requests_is_invalid(bench: Bench):
    empty = load_result(figures_of([], {}, 0.0), None)
    found = bench.analyst().analyse(subject(empty, thresholds=("p95<300ms",)))
    assert (found.verdict, found.verdict_reasons) == (Verdict.INVALID, ["no-requests", "not-measured"])
    assert found.steady_window is not None
    assert found.steady_window.reason == "no-requests"
    assert found.thresholds[0].detail == "No requests in the window."
    zeros = result_of(per_second([0.0] * 30))
    found = bench.analyst().analyse(subject(zeros, thresholds=("rate>=10/s",)))
    assert (found.verdict, found.verdict_reasons) == (Verdict.FAILED, ["rate>=10/s", "no-requests"])


def test_a_run_without_any_data_has_an_analysis(bench: Bench):
    found = bench.analyst().analyse(subject(thresholds=("p95<300ms", "max(go_goroutines)<5")[:1]))
    assert found.figures is None
    assert found.steady is None
    assert found.steady_window is not None
    assert found.steady_window.reason == "no-seconds"
    assert found.verdict is Verdict.INVALID
    assert found.generator.state == "unknown"
    assert found.sparkline == []


def test_a_run_of_one_second(bench: Bench):
    requests = Requests(np.array([START_MS * 10**6, START_MS * 10**6 + 5 * 10**8]), np.array([0.1, 0.2]))
    found = bench.analyst(requests).analyse(subject(requests.result(), thresholds=("max<=200ms", "requests==2")))
    assert found.verdict is Verdict.PASSED
    assert found.steady_window is not None
    assert found.steady_window.reason == "too-short"


def test_a_run_under_way_has_figures_from_the_stream_and_no_verdict(bench: Bench):
    times = [START_MS + 1_000 * i for i in range(61)]
    bench.write(
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"},
            [(t, 90.0 * i) for i, t in enumerate(times)],
        ),
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "reset"},
            [(t, 10.0 * i) for i, t in enumerate(times)],
        ),
        (
            {"__name__": "loadtest_requests_total", "run": "other", "outcome": "ok"},
            [(t, 7.0 * i) for i, t in enumerate(times)],
        ),
        (
            {"__name__": "loadtest_bytes_total", "run": RUN, "direction": "in"},
            [(t, 5.0 * i) for i, t in enumerate(times)],
        ),
        gauge("loadtest_target_rate", [100.0] * 61, run=RUN),
        *[
            (
                {"__name__": "loadtest_request_duration_seconds", "run": RUN, "quantile": name},
                [(t, value) for t in times[1:]],
            )
            for name, value in zip(("0.5", "0.9", "0.95", "0.99", "1"), (0.1, 0.2, 0.25, 0.3, 0.4), strict=True)
        ],
    )
    asked = ("p95<300ms", "p95<200ms", "error_rate<=10%", "max<=400ms", "mean<1s", "rate>=0.99*target")
    running = subject(state=RunState.RUNNING, thresholds=asked, target_rate=100.0)
    found = bench.analyst().analyse(running)
    assert found.figures is not None
    assert found.figures.requests == 6_000
    assert found.figures.outcomes == {"ok": 5_400, "reset": 600}
    assert found.figures.bytes_in == 300
    assert [one.state for one in found.thresholds] == ["passed", "failed", "passed", "passed", "unknown", "passed"]
    assert found.thresholds[0].actual == pytest.approx(0.25)
    assert found.verdict is None
    assert [remark.code for remark in found.remarks] == ["live-figures"]
    assert found.steady_window is not None
    assert found.steady_window.reason == "stable"
    assert found.generator.state == "ok"
    aborted = bench.analyst().analyse(subject(state=RunState.ABORTED, thresholds=asked[2:4]))
    assert (aborted.verdict, aborted.verdict_reasons) == (Verdict.INVALID, ["aborted"])


def test_figures_of_k6s_own_series_say_what_they_lack(bench: Bench):
    times = [START_MS + 5_000 * i for i in range(1, 13)]
    ok = {"__name__": "k6_http_reqs_total", "run": RUN, "status": "200", "expected_response": "true"}
    bad = {"__name__": "k6_http_reqs_total", "run": RUN, "status": "503", "expected_response": "false"}
    bench.write((ok, [(t, 500.0 * (i + 1)) for i, t in enumerate(times)]), (bad, [(times[-1], 60.0)]))
    found = bench.analyst().analyse(subject())
    assert found.figures is not None
    assert found.figures.latency_seconds.p95 is None
    assert [remark.code for remark in found.remarks] == ["live-figures-k6"]


def test_the_generators_own_facts_make_a_run_invalid(bench: Bench):
    seconds = per_second([90.0] * 60, [0.02] * 60)
    busy = Generator(cpu_cores=2, process_cpu_seconds=10.0, thread_cpu=0.98)
    slow = subject(result_of(seconds), target_rate=100.0, thresholds=("p95<300ms",), generator=busy)
    found = bench.analyst().analyse(slow)
    assert (found.verdict, found.verdict_reasons) == (Verdict.INVALID, ["generator-saturated"])
    assert found.generator.reasons == ["rate-not-reached", "cpu"]
    busy = subject(
        result_of(per_second([100.0] * 60, [0.02] * 60), facts=RampFacts(target_rate=100.0, dropped_iterations=500)),
        generator=Generator(cpu_mean=0.5, cpu_max=0.7),
        thresholds=("error_rate<1%",),
    )
    found = bench.analyst().analyse(busy)
    assert found.verdict is Verdict.PASSED
    assert (found.generator.state, found.generator.reasons[0]) == ("held-back", "dropped-iterations")
    assert found.generator.target_rate == 100


def test_a_run_whose_clients_waited_for_answers_is_valid(bench: Bench):
    seconds = per_second([40.0] * 60, [0.5] * 60)
    asked = {"target_rate": 100.0, "thresholds": ("p95<800ms",), "tool": "hey"}
    found = bench.analyst().analyse(subject(result_of(seconds), **asked, concurrency=20))
    assert (found.verdict, found.verdict_reasons) == (Verdict.PASSED, [])
    assert (found.generator.state, found.generator.clients) == ("held-back", 20)
    told = bench.analyst().analyse(subject(result_of(replace(seconds, users=np.full(60, 20.0))), **asked))
    assert (told.generator.state, told.generator.clients) == ("held-back", 20)


def test_percentiles_without_single_requests_come_with_their_bounds(bench: Bench):
    seconds = per_second([100.0] * 60, np.tile([0.1, 0.1, 0.3], 20))
    found = bench.analyst().analyse(
        subject(result_of(seconds), thresholds=("p95<400ms over 0s..30s", "p95<200ms over 0s..30s"))
    )
    assert [one.state for one in found.thresholds] == ["passed", "unknown"]
    assert "Between" in found.thresholds[1].detail
    assert (found.verdict, found.verdict_reasons) == (Verdict.INVALID, ["not-measured"])


def test_a_file_without_a_wall_clock_is_placed_at_the_runs_start(bench: Bench):
    seconds = per_second([100.0] * 40, [0.1] * 40)
    hey = load_result(figures_of([], {Outcome.OK: 4_000}, 40.0), seconds, start_ms=None)
    late = subject(hey, started_ms=START_MS + 7_200_500, ended_ms=START_MS + 7_240_500)
    found = bench.analyst().analyse(late)
    assert found.steady_window is not None
    assert START_MS + 7_200_000 <= found.steady_window.from_ms < found.steady_window.to_ms <= START_MS + 7_240_500


def test_measure_is_for_expectations(bench: Bench):
    requests = warm_run()
    run = subject(requests.result(), expectations=("p95<1s",))
    analyst = bench.analyst(requests)
    assert [one.state for one in analyst.analyse(run).expectations] == ["passed"]
    first, second = analyst.measure(["max<10us", "requests>1k"], run)
    assert (first.state, second.state) == ("failed", "passed")
    assert analyst.analyse(run).verdict is None


def test_a_run_of_a_day_is_analysed(bench: Bench):
    count = 86_400
    random = np.random.default_rng(3)
    seconds = per_second(random.poisson(1_000, count), random.gamma(4, 0.01, count))
    assert seconds.outcomes.shape == (count, len(OUTCOMES))
    found = bench.analyst().analyse(
        subject(result_of(seconds), thresholds=("p95<1s", "rate>900/s", 'max("vector(1)")<2'))
    )
    assert found.verdict is Verdict.PASSED
    assert len(found.sparkline) == 60
    assert found.steady_window is not None
    assert found.steady_window.reason == "stable"


@pytest.mark.parametrize("away_ms", [-86_400_000, 86_400_000])
def test_a_file_of_another_time_than_its_run_is_analysed_all_the_same(bench: Bench, away_ms: int):
    requests = warm_run()
    run = subject(requests.result(), started_ms=START_MS + away_ms, ended_ms=START_MS + away_ms + 60_000)
    found = bench.analyst(requests).analyse(run)
    assert found.steady is not None
    assert found.steady.requests > 2_000
    assert found.steady_window is not None
    assert found.steady_window.from_ms < found.steady_window.to_ms


def test_a_clock_that_jumps_leaves_figures_that_add_up(bench: Bench):
    random = np.random.default_rng(4)
    rates = np.where((np.arange(3_720) // 60) % 61 == 0, random.poisson(100, 3_720), 0).astype(np.float64)
    seconds = per_second(rates, random.gamma(4, 0.01, len(rates)))
    found = bench.analyst().analyse(subject(result_of(seconds), thresholds=("requests>0",)))
    assert found.figures is not None
    assert found.figures.requests == int(rates.sum())
    assert found.steady_window is not None
    assert found.steady_window.to_seconds > found.steady_window.from_seconds


def test_a_backlog_is_looked_at_again_until_ten_minutes_after_the_end(bench: Bench):
    run = subject(result_of(per_second([100.0] * 60)))
    assert bench.analyst().analyse(run).again_ms is None, "nobody counted"
    bench.write(
        gauge("ingest_accepted_total", 100 * np.minimum(np.arange(90.0), 60)),
        gauge("ingest_stored_total", 20 * np.arange(90.0)),
    )
    bench.now_ms = START_MS + 90_000
    assert bench.analyst().analyse(run).again_ms == START_MS + 134_000, "45 s and 2 s after the last row"
    bench.now_ms = START_MS + 140_000
    assert bench.analyst().analyse(run).again_ms == START_MS + 200_000
    bench.now_ms = START_MS + 640_000
    assert bench.analyst().analyse(run).again_ms == START_MS + 660_000
    bench.now_ms = START_MS + 660_000
    assert bench.analyst().analyse(run).again_ms is None
    bench.write(gauge("ingest_stored_total", np.concatenate([np.zeros(100), np.full(10, 6_000.0)])))
    bench.now_ms = START_MS + 120_000
    assert bench.analyst().analyse(run).again_ms is None, "all is stored"


def test_records_that_are_gone_leave_the_series_of_seconds(bench: Bench):
    requests = warm_run()

    def gone(files: RunFiles, from_ns: int, to_ns: int) -> Figures:
        raise FileNotFoundError(files.records)

    def now() -> int:
        return bench.now_ms

    analyst = Analyst(Engine(bench.store), now, gone, Findings(bench.store, now))
    found = analyst.analyse(subject(requests.result(), thresholds=("p95<50ms",)))
    assert found.thresholds[0].state == "passed"
    assert [remark.code for remark in found.remarks] == ["estimated-percentiles"]


def test_more_samples_than_a_query_may_load_cost_their_part_only(tmp_path: Path):
    settings = EmbeddedSettings(data_directory=tmp_path, query_samples=50)
    store = open_embedded(settings, lambda: START_MS + 3_600_000)
    try:
        bench = Bench(store)
        k6 = [gauge("k6_http_reqs_total", np.arange(60.0), run=RUN, url=str(i)) for i in range(3)]
        bench.write(*k6, gauge("ingest_accepted_total", np.arange(60.0)))
        found = bench.analyst().analyse(subject(thresholds=("max(queue_length)<5",)))
        assert (found.figures, found.reconciliation, found.resources) == (None, None, [])
        assert found.thresholds[0].state == "unknown"
    finally:
        store.close()


def slow_run(count: int, failed: int) -> Requests:
    """A request each 30 s, of which the last ones are answered with 504 after 30 s."""
    starts = START_MS * 10**6 + np.arange(count) * 30 * 10**9
    bad = np.arange(count) >= count - failed
    outcomes = [Outcome.HTTP_5XX if one else Outcome.OK for one in bad.tolist()]
    return Requests(starts, np.where(bad, 30.0, 0.2), outcomes)


def test_a_slow_run_that_ends_with_a_failure_does_not_pass(bench: Bench):
    requests = slow_run(11, 1)
    asked = ("error_rate<1%", "success_ratio>=99%", "failures<1", "p50<1s", "p90<100s", "max<100s")
    found = bench.analyst(requests).analyse(subject(requests.result(), thresholds=asked))
    assert found.steady_window is not None
    assert (found.steady_window.source, found.steady_window.reason) == (WindowSource.WHOLE, "too-few")
    assert [one.state for one in found.thresholds] == ["failed", "failed", "failed", "passed", "passed", "passed"]
    assert found.thresholds[0].actual == pytest.approx(1 / 11)
    assert found.verdict is Verdict.FAILED


def test_what_would_hold_by_chance_is_not_said_to_hold(bench: Bench):
    requests = slow_run(11, 0)
    asked = ("error_rate<1%", "success_ratio>=99%", "p95<1s", "p99.9<1s", "error_rate<=0", "error_rate<10%", "rate<1")
    found = bench.analyst(requests).analyse(subject(requests.result(), thresholds=asked))
    assert [one.state for one in found.thresholds] == [*["unknown"] * 4, *["passed"] * 3]
    assert found.thresholds[0].detail == "Too few requests to tell: 11, at least 100 are needed."
    assert [one.detail for one in found.thresholds[2:4]] == [
        "Too few requests to tell: 11, at least 20 are needed.",
        "Too few requests to tell: 11, at least 1000 are needed.",
    ]
    assert (found.verdict, found.verdict_reasons) == (Verdict.INVALID, ["not-measured"])


@pytest.mark.parametrize("count", [1, 100])
def test_a_run_in_one_instant_has_figures_and_no_rate(bench: Bench, count: int):
    requests = Requests(np.full(count, START_MS * 10**6), np.full(count, 0.1))
    found = bench.analyst(requests).analyse(subject(requests.result(), thresholds=("max<1s", "failures<1", "rate>1/s")))
    assert found.figures is not None
    assert (found.figures.requests, found.figures.rate) == (count, None)
    assert [one.state for one in found.thresholds[:2]] == ["passed", "passed"]
