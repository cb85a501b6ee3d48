import numpy as np
import pytest
from loadwatch_backend.runs.analysis.analyst import read_host_cpu
from loadwatch_backend.runs.analysis.counters import SeriesReader
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.schemas import Generator
from loadwatch_backend.series.promql.engine import Engine

from backend.tests.runs.analysis.building import START_MS, Bench, gauge, per_second, result_of, subject

SECONDS = np.arange(121.0)


def watch(bench: Bench, instance: str, idle: float) -> None:
    """Two cores, each idle for that share of the time."""
    for cpu in ("0", "1"):
        bench.write(
            gauge("node_cpu_seconds_total", idle * SECONDS, cpu=cpu, mode="idle", instance=instance),
            gauge("node_cpu_seconds_total", 0 * SECONDS, cpu=cpu, mode="iowait", instance=instance),
            gauge("node_cpu_seconds_total", (1 - idle) * SECONDS, cpu=cpu, mode="user", instance=instance),
        )


@pytest.mark.parametrize("instance", ["load-1.example", "load-1.example:9100"])
def test_the_hosts_cpu_is_found_by_its_name(bench: Bench, instance: str):
    watch(bench, instance, 0.25)
    watch(bench, "load-10example", 0.9)
    series = SeriesReader(Engine(bench.store), lambda: bench.now_ms)
    found = read_host_cpu(series, "load-1.example", Span(START_MS + 20_000, START_MS + 120_000))
    assert found == pytest.approx((0.75, 0.75), abs=0.01)
    for stranger in ("load-2", "", 'x"}', "-"):
        assert read_host_cpu(series, stranger, Span(START_MS, START_MS + 120_000)) is None


def test_a_busy_host_is_told_unless_the_generator_spoke_for_itself(bench: Bench):
    watch(bench, "load-1", 0.02)
    load = result_of(per_second([100.0] * 120, [0.1] * 120))
    found = bench.analyst().analyse(subject(load, host="load-1", thresholds=("p95<1s",)))
    assert (found.generator.state, found.generator.remarks, found.verdict) == ("unknown", ["host-busy"], "passed")
    reached = bench.analyst().analyse(subject(load, host="load-1", target_rate=100.0, thresholds=("p95<1s",)))
    assert (reached.generator.state, reached.generator.remarks, reached.verdict) == ("ok", ["host-busy"], "passed")
    spoken = subject(load, host="load-1", generator=Generator(cpu_mean=0.1, cpu_max=0.2))
    assert bench.analyst().analyse(spoken).generator.remarks == []
