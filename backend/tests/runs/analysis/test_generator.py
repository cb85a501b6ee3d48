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
        "cpu_mean": None,
        "cpu_max": None,
        "requests": 6_000,
        "paced": False,
    }
    return GeneratorEvidence(**(given | fields))


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
        ({"target_rate": 102.0, "cpu_max": 0.99}, "saturated", ["rate-not-reached", "cpu"]),
        ({"target_rate": 102.0, "users": FULL_USERS}, "suspect", ["rate-not-reached", "users-capped"]),
        (
            {"target_rate": 102.0, "users": FULL_USERS, "cpu_max": 0.99},
            "saturated",
            ["rate-not-reached", "cpu", "users-capped"],
        ),
        ({"target_rate": 100.0, "reached_rate": None}, "unknown", []),
        ({"target_rate": 102.0, "users": np.arange(60.0)}, "suspect", ["rate-not-reached"]),
        ({"target_rate": 100.0, "users": FULL_USERS}, "ok", []),
        ({"dropped_iterations": 0}, "ok", []),
        ({"dropped_iterations": 5}, "suspect", ["dropped-iterations"]),
        ({"dropped_iterations": 500}, "saturated", ["dropped-iterations"]),
        ({"cpu_mean": 0.3, "cpu_max": 0.5}, "ok", []),
        ({"cpu_mean": 0.5, "cpu_max": 0.95}, "suspect", ["cpu"]),
        ({"cpu_mean": 0.95, "cpu_max": 1.0}, "saturated", ["cpu"]),
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
