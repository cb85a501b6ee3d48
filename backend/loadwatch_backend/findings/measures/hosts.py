"""Which host a process runs on, how many cores it may use, and how busy they are. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import largest
from loadwatch_backend.findings.window import Window

CPU, AGENT = "node_cpu_seconds_total", "collector_agent_info"
QUOTA, PERIOD, DECLARED = "container_spec_cpu_quota", "container_spec_cpu_period", "declared_limit"
HOST_METRICS = (CPU, AGENT, QUOTA, PERIOD, DECLARED)
_IDLE = ("idle", "iowait")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that an agent watches.

    Attributes:
        labels: job and instance of its figures.
        busy: [instant] cores that work on something, of `cores`; NaN where unknown.
    """

    labels: Mapping[str, str]
    cores: int
    busy: FloatArray


def host_of(window: Window, labels: Mapping[str, str]) -> Host | None:
    """The host that a target's process runs on: of the same instance, or read by an agent on the same machine."""
    place = instance_of_host(window, labels)
    return None if place is None else host(window, place)


def host(window: Window, instance: str) -> Host | None:
    """The host whose figures have this instance."""
    table = window[CPU]
    rows = [row for row, one in enumerate(table.labels) if one.get("instance") == instance]
    cores = len({table.labels[row].get("cpu") for row in rows})
    if not cores:
        return None
    working = [row for row in rows if table.labels[row].get("mode") not in _IDLE]
    rates = table.rates[working]
    known = np.isfinite(rates).any(axis=0)
    job = table.labels[rows[0]].get("job")
    return Host(
        labels={"instance": instance} if job is None else {"job": job, "instance": instance},
        cores=cores,
        busy=np.where(known, np.nansum(np.where(known, rates, 0.0), axis=0), np.nan),
    )


def cores_of(window: Window, labels: Mapping[str, str]) -> float | None:
    """Cores that a target's process may use: declared, its control group's quota, or those of its host."""
    own = {name: labels[name] for name in ("job", "instance") if name in labels}
    declared = window[DECLARED].where(**own, unit="cores")
    bounds = [largest(declared.held, slice(None))]
    for group, quota in window[QUOTA].where(**own).by("id"):
        period = largest(window[PERIOD].where(**own, **group).held, slice(None))
        bounds.append(largest(quota.held, slice(None)) / period if period > 0 else np.nan)
    found = host_of(window, labels)
    bounds.append(np.nan if found is None else found.cores)
    known = [bound for bound in bounds if np.isfinite(bound) and bound > 0]
    return min(known) if known else None


def instance_of_host(window: Window, labels: Mapping[str, str]) -> str | None:
    """The instance of the host that a target's process runs on; None where nobody knows."""
    instance = labels.get("instance", "")
    hosts = {one.get("instance", "") for one in window[CPU].labels}
    if instance in hosts:
        return instance
    agents = window[AGENT].labels
    own = {
        one.get("agent_host")
        for one in agents
        if one.get("instance") == instance
        and one.get("job") == labels.get("job", one.get("job"))
        and one.get("collector") == "process"
    } - {None}
    same = {
        one.get("instance", "") for one in agents if one.get("collector") == "host" and one.get("agent_host") in own
    }
    found = sorted(same & hosts)
    return found[0] if len(found) == 1 else None
