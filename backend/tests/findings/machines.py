"""Series of hosts and of the programs on them, for tests of detectors."""

import numpy as np
from loadwatch_backend.evidence.records.model import FloatArray

from backend.tests.findings.windows import BEFORE, Values, over

HOST = 'job="host",instance="vm-1"'
AGENT = "collector_agent_info"
APP = 'job="app",instance="app-1"'


def counter(per_second: Values, *, begin: float = 1_000.0, seconds: int = 60) -> FloatArray:
    """A counter that grows so much in each second, before and after the focus as at its edges."""
    rates = over(per_second, seconds)
    return begin + np.cumsum(rates)


def host(
    busy: Values, *, cores: int = 4, stolen: Values = 0.0, labels: str = HOST, box: str = "box", seconds: int = 60
) -> dict[str, Values]:
    """CPU of a host: so many cores at work, and so many taken by the hypervisor."""
    used, taken = over(busy, seconds), over(stolen, seconds)
    series: dict[str, Values] = {f'{AGENT}{{{labels},collector="host",agent_host="{box}"}}': 1.0}
    for cpu in range(cores):
        for mode, values in (("user", used), ("steal", taken), ("idle", cores - used - taken)):
            name = f'node_cpu_seconds_total{{{labels},cpu="{cpu}",mode="{mode}"}}'
            series[name] = counter(values / cores, seconds=seconds)
    return series


def program(cores: Values, *, labels: str = APP, box: str = "box", seconds: int = 60) -> dict[str, Values]:
    """CPU of a watched program."""
    return {
        f'{AGENT}{{{labels},collector="process",agent_host="{box}"}}': 1.0,
        f"process_cpu_seconds_total{{{labels}}}": counter(cores, seconds=seconds),
    }


def focus_only(values: Values, outside: float, *, seconds: int = 60) -> FloatArray:
    """Values of the focus, and another before and after."""
    result = np.full(seconds + 2 * BEFORE + 1, outside)
    result[BEFORE + 1 : BEFORE + 1 + seconds] = values
    return result
