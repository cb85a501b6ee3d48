from typing import Any

import numpy as np
import pytest
from loadwatch_backend.runs.analysis.generator import OWN_ERRORS, GeneratorEvidence, check_generator


def evidence(**fields: Any) -> GeneratorEvidence:
    given: dict[str, Any] = {
        "target_rate": None,
        "reached_rate": 100.0,
        "sends": np.full(60, 100.0),
        "clients": None,
        "mean_seconds": 0.01,
        "p95_seconds": 0.03,
        "slowest_seconds": 0.05,
        "dropped_iterations": None,
        "host_cpu": None,
        "process_cores": None,
        "thread_cpu": None,
        "host_cores": 4,
        "own_errors": 0,
        "tool": "vegeta",
        "requests": 6_000,
        "paced": False,
    }
    return GeneratorEvidence(**(given | fields))


LATE = np.full(60, 100.0)
LATE[10:20], LATE[40:50] = 60.0, 140.0
"""Four seconds behind for a while, and made up for."""
GAPS = np.where(np.arange(60) % 20 == 10, 10.0, 100.0)
SLOW = {"mean_seconds": 0.25, "p95_seconds": 0.48, "slowest_seconds": 0.6}
STALL = {"mean_seconds": 0.05, "p95_seconds": 0.1, "slowest_seconds": 3.0}
FULL = {"host_cpu": 1.0, "process_cores": 0.54, "p95_seconds": 0.004}
HELD = ["rate-not-reached", "waited-for-answers"]


@pytest.mark.parametrize(
    ("fields", "state", "reasons"),
    [
        ({}, "unknown", []),
        ({"target_rate": 100.0}, "ok", []),
        ({"target_rate": 101.0}, "ok", []),
        ({"target_rate": 102.0}, "suspect", ["rate-not-reached"]),
        # Vegeta waits for no answer: what it does not send is its own fault.
        ({"target_rate": 200.0}, "saturated", ["rate-not-reached"]),
        ({"target_rate": 200.0} | SLOW, "saturated", ["rate-not-reached"]),
        ({"target_rate": 200.0, "clients": 20} | SLOW, "held-back", HELD),
        ({"target_rate": 102.0, "process_cores": 3.9}, "saturated", ["rate-not-reached", "cpu"]),
        ({"target_rate": 100.0, "reached_rate": None}, "unknown", []),
        # A tool that waits for answers, by how long they took; nobody said how many clients it has.
        ({"target_rate": 200.0, "tool": "any"}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 200.0, "tool": "any"} | SLOW, "held-back", HELD),
        ({"target_rate": 102.0, "tool": "any"} | SLOW, "held-back", HELD),
        ({"target_rate": 200.0, "tool": "any"} | STALL, "held-back", HELD),
        ({"target_rate": 100.0, "tool": "any"} | SLOW, "ok", []),
        ({"target_rate": 200.0, "tool": "any", "host_cpu": 1.0, "process_cores": 0.1} | SLOW, "held-back", HELD),
        ({"target_rate": 200.0, "tool": "any", "process_cores": 3.9} | SLOW, "saturated", [HELD[0], "cpu", HELD[1]]),
        # With clients and rate known it is the beat of one client that answers must keep to: 50 / 200 = 0.25 s here.
        ({"target_rate": 200.0, "tool": "hey", "clients": 50} | SLOW, "held-back", HELD),
        ({"target_rate": 200.0, "tool": "hey", "clients": 50}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 200.0, "tool": "hey", "clients": 500} | SLOW, "suspect", ["rate-not-reached"]),
        ({"target_rate": 200.0, "tool": "hey", "clients": 5}, "held-back", HELD),
        ({"target_rate": 200.0, "tool": "any", "sends": GAPS, "paced": True} | STALL, "held-back", HELD),
        ({"target_rate": 200.0, "tool": "any", "sends": GAPS, "paced": True}, "saturated", [HELD[0], "gaps"]),
        # On a full host, of which it used a part itself, answers of milliseconds are no reason to send less.
        ({"target_rate": 200.0, "tool": "any"} | FULL, "saturated", ["rate-not-reached", "cpu"]),
        ({"target_rate": 200.0, "tool": "any"} | FULL | {"process_cores": 0.1}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 100.0, "tool": "any"} | FULL, "ok", []),
        ({"dropped_iterations": 0}, "ok", []),
        ({"dropped_iterations": 5, "tool": "k6"}, "suspect", ["dropped-iterations"]),
        ({"dropped_iterations": 500, "tool": "k6"}, "held-back", ["dropped-iterations", "waited-for-answers"]),
        (
            {"dropped_iterations": 500, "tool": "k6", "thread_cpu": 0.97},
            "saturated",
            ["dropped-iterations", "cpu", "waited-for-answers"],
        ),
        ({"process_cores": 0.5}, "ok", []),
        ({"process_cores": 3.8}, "saturated", ["cpu"]),
        ({"target_rate": 100.0, "process_cores": 3.8}, "suspect", ["cpu"]),
        ({"target_rate": 100.0, "process_cores": 1.0}, "ok", []),
        ({"target_rate": 100.0, "process_cores": 0.97, "thread_cpu": 0.97}, "suspect", ["cpu"]),
        ({"process_cores": 1.0, "thread_cpu": 0.97}, "saturated", ["cpu"]),
        ({"process_cores": 2.0, "thread_cpu": 0.5}, "ok", []),
        ({"target_rate": 100.0, "own_errors": 100}, "saturated", ["own-errors"]),
        ({"target_rate": 100.0, "own_errors": 10}, "ok", []),
        ({"target_rate": 100.0, "host_cpu": 1.0}, "ok", []),
        ({"host_cpu": 1.0}, "unknown", []),
        ({"target_rate": 100.0, "sends": LATE, "paced": True}, "suspect", ["late-sends"]),
        ({"target_rate": 100.0, "sends": LATE}, "ok", []),
        ({"target_rate": 95.0, "reached_rate": 95.0, "sends": GAPS, "paced": True}, "suspect", ["gaps"]),
        ({"target_rate": 95.0, "reached_rate": 95.0, "sends": GAPS}, "ok", []),
        ({"target_rate": 100.0, "reached_rate": None, "sends": np.empty(0)}, "unknown", []),
        ({"target_rate": 0.2, "reached_rate": 11 / 60, "sends": np.full(60, 0.2)}, "ok", []),
        ({"target_rate": 1.0, "reached_rate": 1.0, "sends": np.tile([0.0, 2.0], 30), "paced": True}, "ok", []),
        ({"target_rate": 0.0, "reached_rate": 0.0}, "ok", []),
    ],
)
def test_states_and_reasons(fields: dict[str, Any], state: str, reasons: list[str]):
    found = check_generator(evidence(**fields))
    assert (found.state, found.reasons) == (state, reasons)
    assert bool(found.detail) == bool(reasons)


def test_a_busy_host_is_a_remark_and_no_failure_of_the_generator():
    """Of 100/s asked for 100.07/s were sent, beside a system that used all cores."""
    found = check_generator(evidence(target_rate=100.0, reached_rate=100.07, host_cpu=1.0, process_cores=0.2))
    assert (found.state, found.reasons, found.remarks, found.detail) == ("ok", [], ["host-busy"], "")
    assert (found.cpu_max, found.process_cores) == (1.0, 0.2)


def test_sends_that_come_by_chance_are_not_late():
    for seed in range(200):
        sends = np.random.default_rng(seed).poisson(50, 300).astype(np.float64)
        found = check_generator(evidence(target_rate=50.0, reached_rate=float(sends.mean()), sends=sends, paced=True))
        assert "late-sends" not in found.reasons


def test_a_tool_whose_clients_wait_is_held_back_and_not_saturated():
    """`hey -z 25s -c 100 -q 6` on a pool of 8: 100 clients that wait 0.48 s can send 208 requests/s and no more."""
    waits = {"target_rate": 600.0, "reached_rate": 207.0, "mean_seconds": 0.48, "p95_seconds": 0.6}
    found = check_generator(evidence(**waits, host_cpu=0.2, process_cores=0.07, tool="hey", clients=100))
    assert (found.state, found.reasons) == ("held-back", HELD)
    assert (found.clients, found.ceiling_rate) == (100, pytest.approx(100 / 0.48))
    assert "Its clients waited for answers: 100 can send 208.3 requests/s at most." in found.detail
    unknown = check_generator(evidence(**waits, host_cpu=0.2, process_cores=0.07, tool="a-tool-of-my-own"))
    assert (unknown.state, unknown.ceiling_rate) == ("held-back", None)


@pytest.mark.parametrize(
    "text",
    [
        "dial tcp 0.0.0.0:0->127.0.0.1:80: connect: cannot assign requested address",
        "dial tcp 127.0.0.1:80: socket: too many open files",
        "Error: connect EADDRNOTAVAIL 127.0.0.1:80",
    ],
)
def test_errors_for_want_of_the_tools_own_ports_or_descriptors(text: str):
    assert OWN_ERRORS.search(text)
    assert not OWN_ERRORS.search("dial tcp 127.0.0.1:80: connect: connection refused")
