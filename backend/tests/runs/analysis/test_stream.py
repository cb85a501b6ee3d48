import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.model import OUTCOME_CODES
from loadwatch_backend.runs.analysis.load import summarise_seconds
from loadwatch_backend.runs.analysis.stream import (
    counts_per_second,
    k6_outcome,
    read_gauge,
    read_k6,
    read_stream,
    without_tail,
)
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_formats.outcomes import Outcome

from backend.tests.runs.analysis.building import START_MS, Bench

RUN = "20260116-080000-aaaa"
END_MS = START_MS + 60_000


def test_a_counter_is_cut_into_seconds():
    times = START_MS + np.array([0, 1_000, 2_000, 5_000, 6_000])
    assert counts_per_second(times, np.array([0.0, 5, 12, 21, 21]), START_MS, 7).tolist() == [5, 7, 3, 3, 3, 0, 0]
    assert counts_per_second(times[:3], np.array([10.0, 15, 2]), START_MS, 2).tolist() == [5, 2]
    assert counts_per_second(times[:1], np.array([7.0]), START_MS, 2).tolist() == [0, 0]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50), st.integers(1, 3_000))
def test_no_request_is_lost_in_between(increases: list[int], step: int):
    values = np.concatenate([[0.0], np.cumsum(increases)])
    times = START_MS + step * np.arange(len(values))
    count = -(-int(times[-1] - START_MS) // 1_000)
    found = counts_per_second(times, values, START_MS, count)
    assert int(found.sum()) == sum(increases)
    assert (found >= 0).all()


def test_each_second_has_its_own_percentiles(bench: Bench):
    bench.write(
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"},
            [(START_MS + 1_000 * i, float(v)) for i, v in enumerate([0, 4, 4, 9])],
        ),
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "strange"},
            [(START_MS, 0.0), (START_MS + 3_000, 3.0), (START_MS + 4_000, math.nan)],
        ),
        *[
            (
                {"__name__": "loadtest_request_duration_seconds", "run": RUN, "quantile": quantile},
                [(START_MS + 1_000, 0.1), (START_MS + 3_000, 0.3)],
            )
            for quantile in ("0.5", "0.9", "0.95", "0.99", "1", "0.75")
        ],
        ({"__name__": "loadtest_active_users", "run": RUN}, [(START_MS + 1_000, 5.0)]),
    )
    found = read_stream(bench.store, RUN, START_MS, END_MS)
    assert found is not None
    assert found.fastest is None, "an agent of before sent no fastest answer"
    assert found.start_ms == START_MS
    assert found.outcomes[:, 0].tolist() == [4, 0, 5]
    assert found.outcomes[:, OUTCOME_CODES[Outcome.OTHER]].tolist() == [0, 0, 3]
    assert found.latency is not None
    np.testing.assert_array_equal(found.latency[:, 2], [0.1, np.nan, 0.3])
    assert found.users is not None
    assert found.users.tolist() == [5, 5, 5]
    assert (found.bytes_in, found.exact) == (None, True)
    assert read_stream(bench.store, "20260116-080000-bbbb", START_MS, END_MS) is None
    assert read_gauge(bench.store, "nothing", RUN, START_MS, 3) is None


def test_the_fastest_and_the_slowest_answer_are_read_from_a_stream(bench: Bench):
    bench.write(
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"},
            [(START_MS + 1_000 * i, float(5 * i)) for i in range(4)],
        ),
        *[
            (
                {"__name__": "loadtest_request_duration_seconds", "run": RUN, "quantile": quantile},
                [(START_MS + 1_000, scale * 0.2), (START_MS + 3_000, scale * 0.1)],
            )
            for quantile, scale in (("0", 1.42), ("0.5", 3), ("0.9", 5), ("0.95", 8), ("0.99", 9), ("1", 32.64))
        ],
    )
    found = read_stream(bench.store, RUN, START_MS, END_MS)
    assert found is not None
    latency = summarise_seconds(found, slice(None), 3.0).figures.latency
    assert (latency.min, latency.max) == pytest.approx((0.142, 6.528))
    assert without_tail(found, START_MS + 3_000).fastest is not None


def test_k6s_outcomes_are_told_by_its_tags():
    assert k6_outcome({"status": "200", "expected_response": "true"}) is Outcome.OK
    assert k6_outcome({"status": "404", "expected_response": "false", "error_code": "1404"}) is Outcome.HTTP_4XX
    assert k6_outcome({"status": "503"}) is Outcome.HTTP_5XX
    assert k6_outcome({"status": "0", "error_code": "1050"}) is Outcome.TIMEOUT
    assert k6_outcome({"status": "0", "error_code": "1212"}) is Outcome.REFUSED
    assert k6_outcome({"status": "0", "error_code": "1220"}) is Outcome.RESET
    assert k6_outcome({"status": "0", "error_code": "1101"}) is Outcome.DNS
    assert k6_outcome({"status": "0"}) is Outcome.OTHER


def test_k6s_outcomes_are_those_of_its_files():
    codes = ("", "1000", "1050", "1100", "1101", "1201", "1211", "1212", "1220", "1404", "1503", "1610", "1665", "1666")
    for status, code, expected in product((0, 200, 302, 404, 503), codes, ("", "true", "false")):
        tags = {"status": str(status), "error_code": code, "expected_response": expected}
        written = k6_outcome({name: value for name, value in tags.items() if value})
        imported = SORTER.of_k6(status, code, "", expected)
        assert written is imported or (not status and not code), "a status of 0 is a tag of its own there"


def test_k6s_counters_begin_with_their_first_push(bench: Bench):
    bench.write(
        (
            {"__name__": "k6_http_reqs_total", "run": RUN, "status": "200"},
            [(START_MS + 5_000, 500.0), (START_MS + 10_000, 1_000.0)],
        ),
        ({"__name__": "k6_http_reqs_total", "run": RUN, "status": "500"}, [(START_MS + 10_000, 50.0)]),
        ({"__name__": "k6_vus", "run": RUN}, [(START_MS + 5_000, 8.0)]),
    )
    found = read_k6(bench.store, RUN, START_MS, END_MS)
    assert found is not None
    assert int(found.outcomes.sum()) == 1_050
    assert int(found.outcomes[:, 0].sum()) == 1_000
    assert len(found.outcomes) == 10
    assert found.outcomes[:, OUTCOME_CODES[Outcome.HTTP_5XX]].tolist() == [0] * 5 + [10] * 5


def test_an_outcome_that_comes_late_belongs_to_the_second_in_which_it_came(bench: Bench):
    times = [START_MS + 1_000 * i for i in range(21)]
    bench.write(
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"},
            [(time, 10.0 * i) for i, time in enumerate(times)],
        ),
        (
            {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "timeout"},
            [(START_MS, 0.0), (times[15], 7.0), (times[16], 9.0)],
        ),
        ({"__name__": "loadtest_requests_total", "run": RUN, "outcome": "dns"}, [(times[20], 3.0)]),
    )
    found = read_stream(bench.store, RUN, START_MS, END_MS)
    assert found is not None
    assert found.outcomes[:, OUTCOME_CODES[Outcome.TIMEOUT]].tolist() == [0] * 14 + [7, 2] + [0] * 4
    assert found.outcomes[:, OUTCOME_CODES[Outcome.DNS]].tolist() == [0] * 19 + [3]
    assert found.outcomes[:, 0].tolist() == [10] * 20


def test_a_stream_whose_beginning_was_lost_counts_from_the_runs_start(bench: Bench):
    labels = {"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"}
    bench.write((labels, [(START_MS + 1_000 * i, 10.0 * i) for i in range(4, 9)]))
    found = read_stream(bench.store, RUN, START_MS, END_MS)
    assert found is not None
    assert (found.start_ms, found.outcomes[:, 0].tolist()) == (START_MS, [10] * 8)


def test_a_counter_that_stands_still_after_the_run_adds_no_seconds(bench: Bench):
    counts = [0, 4, 8, 12, 15, *[15] * 9]
    samples = [(START_MS + 1_000 * second, float(count)) for second, count in enumerate(counts)]
    bench.write(({"__name__": "loadtest_requests_total", "run": RUN, "outcome": "ok"}, samples))
    found = read_stream(bench.store, RUN, START_MS, START_MS + 3_000)
    assert found is not None
    assert len(found.outcomes) == 13
    assert without_tail(found, START_MS + 3_000).requests.tolist() == [4, 4, 4, 3]
    assert len(without_tail(found, START_MS + 60_000).outcomes) == 13
