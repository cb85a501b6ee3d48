"""Writer and readers of a replicated database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.core.texts.numbers import count, share
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.cloud import PERIOD_MS, cloud_databases
from loadwatch_backend.findings.measures.demand import unmet
from loadwatch_backend.findings.measures.facts import largest, load_effects, longest_episode, selector, usual
from loadwatch_backend.findings.measures.hosts import PROGRAM_CPU, PROGRAM_METRICS, programs
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Finding
from loadwatch_backend.findings.window import Episode, Window

FAR_SECONDS = 5.0
AURORA_FAR_SECONDS = 1.0
"""Aurora's readers share the writer's storage: below 0.1 s is usual."""
REPLICA_GREW = 2.0

BEHIND = ("mysql_slave_status_seconds_behind_master", "mysql_slave_status_seconds_behind_source")
CLOUD_LAG, AURORA_LAG = "aws_rds_replica_lag_average", "aws_rds_aurora_replica_lag_average"
WRITES = "mysql_global_status_handlers_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replica:
    labels: Mapping[str, str]
    name: str
    lag: FloatArray
    """[instant], seconds."""
    far: float
    interval_ms: int
    expression: str
    source: Words


@detector("replica-lag", needs=(*BEHIND, CLOUD_LAG, AURORA_LAG), reads=(WRITES,))
def replica_lag(window: Window) -> Iterator[Outcome]:
    """A replica is so far behind its primary that its readers see old rows.

    One finding for each replica that fell behind under load.
    """
    for replica in _replicas(window):
        most = largest(replica.lag, window.focus)
        if not np.isfinite(most):
            continue
        words = message("replica-lag.figures", name=replica.name, most=most, source=replica.source)
        episode = longest_episode(window, replica.lag >= replica.far, replica.interval_ms)
        if episode is None:
            yield Clear(words)
            continue
        before = -largest(-replica.lag, slice(0, episode.first + 1))
        if most < REPLICA_GREW * before:
            yield Observation(words)
            continue
        yield _replica_finding(window.during(episode), replica, episode, largest(replica.lag, episode.span))


def _replicas(window: Window) -> Iterator[_Replica]:
    for metric in BEHIND:
        for labels, table in window[metric].by("job", "instance"):
            yield _Replica(
                labels=labels,
                name=labels.get("instance", "The replica"),
                lag=table.max,
                far=FAR_SECONDS,
                interval_ms=table.slowest_ms,
                expression=f"{metric}{selector(labels)}",
                source=SILENT,
            )
    for metric, far, scale in ((CLOUD_LAG, FAR_SECONDS, 1.0), (AURORA_LAG, AURORA_FAR_SECONDS, 1_000.0)):
        for database in cloud_databases(window, metric):
            yield _Replica(
                labels=database.labels,
                name=database.name,
                lag=database.values(window, metric) / scale,
                far=far,
                interval_ms=PERIOD_MS,
                expression=f"{metric}{selector(database.key)} / {scale:g}",
                source=message("replica-lag.source"),
            )


def _replica_finding(window: Window, replica: _Replica, episode: Episode, most: float) -> Finding:
    draft = Draft(window, episode, replica.labels, replica=replica, most=most)
    shown = [draft.show("replica-lag.effect", replica.lag, limit=replica.far)]
    writes = window[WRITES].where(handler="write").rate
    rate = window.total(writes, episode.span) / (len(episode) * window.step_seconds)
    if rate >= 1:
        minute = Words(f", {count(rate * 60)} a minute", "")
        shown.append(draft.show("replica-lag.demand", writes, rate=rate, minute=minute))
    return draft.finding("replica-lag.sentence", shown)


IMBALANCE_HOT, IMBALANCE_COLD = 0.9, 0.4
"""Shares of the CPU."""
LEAST_SECONDS = 5.0

ROLE, CLOUD_INFO = "mysql_server_role_info", "aws_rds_info"
CLOUD_CPU = "aws_rds_cpuutilization_average"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A server of a replicated database; `cpu` [instant] is the share of its CPU that it uses."""

    group: tuple[str, str]
    name: str
    role: str
    cpu: FloatArray
    interval_ms: int
    expression: str
    source: Words


@detector(
    "read-write-imbalance", least_seconds=LEAST_SECONDS, needs=(ROLE, CLOUD_INFO), reads=(*PROGRAM_METRICS, CLOUD_CPU)
)
def read_write_imbalance(window: Window) -> Iterator[Outcome]:
    """One part of a replicated database is full while another one has little to do.

    One finding for each cluster (or job) of which one member was full and another one idle.
    """
    groups: dict[tuple[str, str], list[_Member]] = {}
    for member in _members(window):
        if np.isfinite(window.inside(member.cpu)).any():
            groups.setdefault(member.group, []).append(member)
    for group, members in sorted(groups.items()):
        # Two writers are two databases, not two members of one.
        if len(members) < 2 or sum(one.role == "writer" for one in members) > 1:
            continue
        parts = [f"{one.name} {share(largest(one.cpu, window.focus))}" for one in members[:5]]
        clear = Clear(message("read-write-imbalance.clear", members=", ".join(parts)))
        yield _imbalance_finding(window, group, members) or clear


def _members(window: Window) -> Iterator[_Member]:
    roles = {(one.get("job", ""), one.get("instance", "")): one.get("role", "") for one in window[ROLE].labels}
    for program in programs(window):
        role = roles.get((program.labels.get("job", ""), program.labels.get("instance", "")), "")
        if program.database and role and np.isfinite(program.allowed):
            yield _Member(
                group=("job", program.labels.get("job", "")),
                name=program.name,
                role=role,
                cpu=program.cpu / program.allowed,
                interval_ms=program.interval_ms,
                expression=f"sum(rate({PROGRAM_CPU}{selector(program.labels)}[5s]))",
                source=SILENT,
            )
    facts = {one.get("identifier", ""): one for one in window[CLOUD_INFO].labels}
    for database in cloud_databases(window, CLOUD_CPU):
        known: Mapping[str, str] = facts.get(database.name, {})
        if known.get("role") and known.get("cluster"):
            yield _Member(
                group=("cluster", known["cluster"]),
                name=database.name,
                role=known["role"],
                cpu=database.values(window, CLOUD_CPU) / 100,
                interval_ms=PERIOD_MS,
                expression=f"{CLOUD_CPU}{selector(database.key)} / 100",
                source=message("read-write-imbalance.source"),
            )


def _imbalance_finding(window: Window, group: tuple[str, str], members: Sequence[_Member]) -> Finding | None:
    for hot in sorted(members, key=lambda one: -np.nan_to_num(largest(one.cpu, window.focus))):
        episode = longest_episode(window, hot.cpu >= IMBALANCE_HOT, hot.interval_ms, seconds=LEAST_SECONDS)
        if episode is None:
            continue
        level = {one.name: usual(one.cpu, episode.span) for one in members}
        cold = [one for one in members if one is not hot and level[one.name] <= IMBALANCE_COLD]
        harm = [*unmet(window, episode), *load_effects(window, episode)]
        if not cold or not harm:
            continue
        idlest = min(cold, key=lambda one: level[one.name])
        key = "read-write-imbalance.limit"
        advice = "read-write-imbalance.step-readers" if hot.role == "writer" else "read-write-imbalance.step-spread"
        draft = Draft(window, episode, {group[0]: group[1]})
        shown = [
            draft.show(key, one.cpu, value=level[one.name], at=episode.first, limit=1.0, member=one, role=_role(one))
            for one in (hot, idlest)
        ]
        return draft.finding(
            "read-write-imbalance.sentence",
            [*shown, *harm],
            [advice, "read-write-imbalance.step"],
            hot=hot,
            hot_role=_role(hot),
            used=level[hot.name],
            cold=idlest,
            cold_role=_role(idlest),
            idle=level[idlest.name],
        )
    return None


def _role(member: _Member) -> Words:
    key = {"writer": "read-write-imbalance.writer", "reader": "read-write-imbalance.reader"}.get(member.role)
    return Words(member.role, member.role) if key is None else message(key)
