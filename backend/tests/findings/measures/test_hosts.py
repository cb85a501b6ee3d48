"""A process is on the host of its instance, or on that of the agent that reads it; else nobody knows."""

import numpy as np
from loadwatch_backend.findings.measures.hosts import cores_of, host_of

from backend.tests.findings.windows import Values, rising, window

DATABASE = {"job": "mysql", "instance": "db"}
AGENT = 'agent_host="box",agent_pid="7"'


def _cpu(instance: str, cores: int = 2, used: float = 0.75) -> dict[str, Values]:
    series: dict[str, Values] = {}
    for cpu in range(cores):
        labels = f'job="host",instance="{instance}",cpu="{cpu}"'
        series[f'node_cpu_seconds_total{{{labels},mode="user"}}'] = rising(used)
        series[f'node_cpu_seconds_total{{{labels},mode="idle"}}'] = rising(1.0 - used)
    return series


def test_the_host_of_the_same_instance_is_taken() -> None:
    found = host_of(window(_cpu("db", cores=4) | _cpu("other")), DATABASE)
    assert found is not None
    assert found.cores == 4
    assert found.labels == {"job": "host", "instance": "db"}
    assert np.nanmedian(found.busy[31:91]) == 3.0


def test_else_the_host_whose_agent_reads_the_process() -> None:
    agents: dict[str, Values] = {
        f'collector_agent_info{{job="mysql",instance="db",collector="process",{AGENT}}}': 1.0,
        f'collector_agent_info{{job="host",instance="box-1",collector="host",{AGENT}}}': 1.0,
        'collector_agent_info{job="host",instance="box-2",collector="host",agent_host="other"}': 1.0,
    }
    found = host_of(window(_cpu("box-1") | _cpu("box-2", cores=8) | agents), DATABASE)
    assert found is not None
    assert found.labels["instance"] == "box-1"


def test_a_host_that_may_be_another_one_is_not_guessed() -> None:
    seen = window(_cpu("box-1"))
    assert host_of(seen, DATABASE) is None
    assert cores_of(seen, DATABASE) is None


def test_the_tightest_of_quota_declaration_and_host_counts() -> None:
    quota: dict[str, Values] = {
        'container_spec_cpu_quota{job="mysql",instance="db",id="/a"}': 50_000.0,
        'container_spec_cpu_period{job="mysql",instance="db",id="/a"}': 100_000.0,
    }
    declared: dict[str, Values] = {'declared_limit{job="mysql",instance="db",resource="cpu",unit="cores"}': 1.0}
    assert cores_of(window(_cpu("db")), DATABASE) == 2
    assert cores_of(window(_cpu("db") | declared), DATABASE) == 1
    assert cores_of(window(_cpu("db") | declared | quota), DATABASE) == 0.5
