import math

import numpy as np
from loadwatch_backend.evidence.records.model import Endpoint, Latency
from loadwatch_backend.runs.analysis.load import endpoint_out, latency_out, sparkline
from loadwatch_formats.outcomes import Outcome

from backend.tests.runs.analysis.building import figures_of


def test_a_sparkline_has_at_most_sixty_values_and_keeps_the_mean():
    for count in (1, 59, 60, 61, 3_599, 86_400):
        requests = np.random.default_rng(1).poisson(50, count).astype(np.float64)
        found = [value or 0.0 for value in sparkline(requests)]
        assert len(found) <= 60
        assert abs(np.mean(found) - requests.mean()) < 5
    assert sparkline(np.empty(0)) == []


def test_nan_is_null():
    found = latency_out(Latency(p50=math.nan, p95=0.5, max=math.inf))
    assert (found.p50, found.p95, found.max, found.min) == (None, 0.5, None, None)


def test_an_endpoint_has_its_name_and_figures():
    found = endpoint_out(Endpoint(name="GET /", figures=figures_of([0.1, 0.3], {Outcome.OK: 2}, 4.0)))
    assert (found.name, found.requests, found.rate, found.latency_seconds.p95) == ("GET /", 2, 0.5, 0.3)
    assert found.outcomes == {"ok": 2}
