from typing import Any

import numpy as np
import pytest
from loadwatch_backend.runs.analysis.generator import GeneratorEvidence, check_generator


def evidence(**fields: Any) -> GeneratorEvidence:
    given: dict[str, Any] = {
        "target_rate": None,
        "reached_rate": 100.0,
        "sends": np.full(60, 100.0),
        "users": None,
        "dropped_iterations": None,
        "host_cpu": None,
        "process_cores": None,
        "host_cores": 4,
        "tool": "vegeta",
        "requests": 6_000,
        "paced": False,
    }
    return GeneratorEvidence(**(given | fields))


LATE = np.full(60, 100.0)
LATE[10:20], LATE[40:50] = 60.0, 140.0
"""Four seconds behind for a while, and made up for."""
GAPS = np.where(np.arange(60) % 20 == 10, 10.0, 100.0)
FULL_USERS = np.full(60, 50.0)


@pytest.mark.parametrize(
    ("fields", "state", "reasons"),
    [
        ({}, "unknown", []),
        ({"target_rate": 100.0}, "ok", []),
        ({"target_rate": 101.0}, "ok", []),
        ({"target_rate": 102.0}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 200.0}, "saturated", ["rate-not-reached"]),
        ({"target_rate": 102.0, "process_cores": 3.9}, "saturated", ["rate-not-reached", "cpu"]),
        ({"target_rate": 102.0, "users": FULL_USERS}, "suspect", ["rate-not-reached", "users-capped"]),
        (
            {"target_rate": 102.0, "users": FULL_USERS, "process_cores": 3.9},
            "saturated",
            ["rate-not-reached", "cpu", "users-capped"],
        ),
        ({"target_rate": 100.0, "reached_rate": None}, "unknown", []),
        ({"target_rate": 102.0, "users": np.arange(60.0)}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 100.0, "users": FULL_USERS}, "ok", []),
        ({"dropped_iterations": 0}, "ok", []),
        ({"dropped_iterations": 5}, "suspect", ["dropped-iterations"]),
        ({"dropped_iterations": 500}, "saturated", ["dropped-iterations"]),
        ({"process_cores": 0.5}, "ok", []),
        ({"process_cores": 3.8}, "saturated", ["cpu"]),
        ({"target_rate": 100.0, "process_cores": 3.8}, "suspect", ["cpu"]),
        ({"target_rate": 100.0, "process_cores": 1.0}, "ok", []),
        ({"target_rate": 100.0, "process_cores": 0.97, "tool": "locust"}, "suspect", ["cpu"]),
        ({"process_cores": 1.0, "tool": "locust"}, "saturated", ["cpu"]),
        ({"process_cores": 2.0, "tool": "locust"}, "ok", []),
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
