"""Targets of one program under one name: what one page says of it is joined with what another says. Pure.

Two targets are one program when one agent's host asks both at one address (`collector_target_info`), or when both have
the same `host:port` for an instance. Where they send the same series they are two, behind one gateway say; unless
both name the same start of their process.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.model import Diagnosis, Finding
from loadwatch_backend.findings.window import Table, Target, Window

INFO, START = "collector_target_info", "process_start_time_seconds"
_ADDRESS = re.compile(r"(?!localhost:|127\.|\[::1\]).+:\d+")
_SELECTOR = re.compile(r"\b([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^{}]*)\}")
_JOB, _INSTANCE = (re.compile(rf'(?<![a-z_]){name}="([^"]*)"') for name in ("job", "instance"))
_SAME_START_SECONDS = 1.0


def target_of(labels: Mapping[str, str]) -> Target:
    return labels.get("job", ""), labels.get("instance", "")


def join_programs(tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables with all targets of a program under the name of the first of them, in the order of names."""
    names: dict[Target, Target] = {}
    hosts = {labels.get("agent_host") for labels in tables[INFO].labels} if INFO in tables else set[str | None]()
    for targets in _sharing(tables):
        if len(targets) > 1 and not _are_several(tables, targets):
            # A name that was given says more than the host's, which stands where none was.
            names |= dict.fromkeys(targets, min(targets, key=lambda one: (one[1] in hosts, one)))
    return {metric: _renamed(table, names) for metric, table in tables.items()} if names else dict(tables)


def _sharing(tables: Mapping[str, Table]) -> list[set[Target]]:
    """Targets that share an address, directly or by way of others."""
    by_address: defaultdict[tuple[str, str], set[Target]] = defaultdict(set)
    for metric, table in tables.items():
        for labels in table.labels:
            if metric == INFO:
                by_address[labels.get("agent_host", ""), labels.get("address", "")].add(target_of(labels))
            elif _ADDRESS.fullmatch(labels.get("instance", "")):
                by_address["", labels["instance"]].add(target_of(labels))
    groups: list[set[Target]] = []
    for targets in by_address.values():
        joined = set(targets).union(*(group for group in groups if group & targets))
        groups = [group for group in groups if not group & targets] + [joined]
    return groups


def _are_several(tables: Mapping[str, Table], targets: set[Target]) -> bool:
    """Whether these targets are more than one program: they send the same series, and not of the same process."""
    started: set[Target] = set()
    first: FloatArray | None = None
    for labels, table in tables[START].by("job", "instance") if START in tables else ():
        values = table.values[np.isfinite(table.values)]
        if target_of(labels) not in targets or not len(values):
            continue
        if first is not None and not (np.abs(first[:, None] - values) <= _SAME_START_SECONDS).any():
            return True
        started.add(target_of(labels))
        first = values if first is None else first
    sent: defaultdict[Target, set[tuple[str, frozenset[tuple[str, str]]]]] = defaultdict(set)
    for metric, table in tables.items():
        for labels in table.labels:
            target = target_of(labels)
            if target in targets and "collector" not in labels:
                rest = frozenset(one for one in labels.items() if one[0] not in ("job", "instance"))
                sent[min(started) if target in started else target].add((metric, rest))
    return sum(map(len, sent.values())) > len(set[object]().union(*sent.values()))


def _renamed(table: Table, names: Mapping[Target, Target]) -> Table:
    """The table under the names of programs; of a series that two targets of one program send, the first stays."""
    labels: dict[tuple[tuple[str, str], ...], int] = {}
    rows: list[int] = []
    origins: defaultdict[Target, set[Target]] = defaultdict(set)
    for row, own in enumerate(table.labels):
        target = target_of(own)
        job, instance = names.get(target, target)
        renamed = {**own, "job": job, "instance": instance} if target in names else own
        if target in names:
            key = tuple(sorted(renamed.items()))
            if key in labels and "collector" not in own:
                continue
            labels[key] = row
            origins[job, instance].add(target)
        rows.append(row)
    if not origins:
        return table
    taken = table.take(rows)
    shown = [dict(one) for one in taken.labels]
    for one in shown:
        if target_of(one) in names:
            one["job"], one["instance"] = names[target_of(one)]
    return replace(taken, labels=shown, origins={name: sorted(found) for name, found in origins.items()})


def real_expression(window: Window, expression: str) -> str:
    """The expression with the labels that its series have in the store."""

    def real(match: re.Match[str]) -> str:
        metric, selector = match[1], match[2]
        job, instance = _JOB.search(selector), _INSTANCE.search(selector)
        name = ("" if job is None else job[1], "" if instance is None else instance[1])
        origins = window[metric].origins.get(name)
        if not origins:
            return match[0]
        for pattern, values in ((_JOB, {one[0] for one in origins}), (_INSTANCE, {one[1] for one in origins})):
            equal = f'="{next(iter(values))}"'
            if len(values) > 1:
                equal = '=~"' + "|".join(re.escape(one).replace("\\", r"\\") for one in sorted(values)) + '"'
            selector = pattern.sub(lambda found, equal=equal: found[0].partition("=")[0] + equal, selector)
        return f"{metric}{{{selector}}}"

    return _SELECTOR.sub(real, expression)


def with_real_labels(diagnosis: Diagnosis, window: Window) -> Diagnosis:
    """The findings with the labels of the target whose series is their first evidence, where programs were joined."""
    keys: dict[str, str] = {}
    findings: list[Finding] = []
    for one in diagnosis.findings:
        labels = dict(one.labels)
        origins = {origin for table in window.tables.values() for origin in table.origins.get(target_of(labels), ())}
        shown = [(_JOB.search(evidence.expression), _INSTANCE.search(evidence.expression)) for evidence in one.evidence]
        real = [(job[1], instance[1]) for job, instance in shown if job and instance]
        if origins and real and real[0] in origins:
            labels["job"], labels["instance"] = real[0]
        findings.append(replace(one, labels=labels))
        keys[one.key] = findings[-1].key
    because_of = {keys[key]: [keys[cause] for cause in causes] for key, causes in diagnosis.because_of.items()}
    return replace(diagnosis, findings=findings, because_of=because_of)
