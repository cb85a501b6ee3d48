"""From a value that flips to the webhook; the price of 1,000 rules a second; 10,000 alerts at once.

`python -m bench.alerts [FLIPS]`. Loadwatch and Prometheus with Alertmanager watch the same target and call the same
receiver at the same time for the flips, and one after another for what costs processor time.
"""

import json
import random
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bench.alerts.systems import System, loadwatch, prometheus
from bench.alerts.watched import Receiver, Target
from bench.machine import describe_machine, write_result

FLIPS = 30
RULES = 1_000
RULE_SECONDS = 30
ALERTS = 10_000
GOAL_SECONDS = 0.7

Start = Callable[[Path, int, int, str], AbstractContextManager[System]]
STARTS: Sequence[Start] = (loadwatch, prometheus)


def main(arguments: Sequence[str]) -> int:
    """Runs everything and writes the result."""
    flips = int(arguments[0]) if arguments else FLIPS
    scratch = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    receiver = Receiver()
    receiver.open()
    try:
        latency = _latency(scratch, receiver, flips)
        rules = [_rules(scratch, receiver, start) for start in STARTS]
        burst = [_burst(scratch, receiver, start) for start in STARTS]
    finally:
        receiver.close()
        shutil.rmtree(scratch, ignore_errors=True)
    _write(latency, rules, burst)
    return 0


# The flips ------------------------------------------------------------------------------------------------------------


def _latency(scratch: Path, receiver: Receiver, flips: int) -> list[dict[str, Any]]:
    target = Target(1)
    rule = "groups: [{name: bench, interval: 1s, rules: [{alert: Flipped, expr: bench_value == 1}]}]\n"
    seconds: dict[tuple[str, str], list[float | None]] = {}
    chance = random.Random(4)
    with (
        loadwatch(scratch / "latency-ours", target.port, receiver.port, rule) as ours,
        prometheus(scratch / "latency-peer", target.port, receiver.port, rule) as peer,
    ):
        time.sleep(5)
        for flip in range(flips):
            for value, state in ((1, "firing"), (0, "resolved")):
                since = time.monotonic()
                target.set(value)
                for system in (ours, peer):
                    taken = receiver.wait(system.path, state, 1, since, 15)
                    seconds.setdefault((system.name, state), []).append(taken)
                time.sleep(2 + chance.random())  # beyond group_interval, so that no flip waits for the last
            print(f"  flip {flip + 1} of {flips}", end="\r", flush=True)
        print()
    target.close()
    return [
        {
            "system": name,
            "state": state,
            "median": statistics.median(known),
            "best": min(known),
            "worst": max(known),
            "missed": values.count(None),
            "flips": len(values),
        }
        for (name, state), values in seconds.items()
        if (known := [value for value in values if value is not None])
    ]


# Many rules -----------------------------------------------------------------------------------------------------------


def _rules(scratch: Path, receiver: Receiver, start: Start) -> dict[str, Any]:
    """Processor time of a minute with the rules, and of one without: what is watched is the same."""
    target = Target(RULES)
    shares = {}
    missed = 0.0
    name = ""
    memory = 0.0
    for count in (0, RULES):
        with start(scratch / f"rules-{start.__name__}-{count}", target.port, receiver.port, _many(count)) as system:
            time.sleep(10)
            before, began = system.cpu_seconds(), time.monotonic()
            time.sleep(RULE_SECONDS)
            shares[count] = (system.cpu_seconds() - before) / (time.monotonic() - began)
            if count:
                missed = _missed(system)
            name, memory = system.name, system.resident_mb()
        print(f"  {name}, {count} rules: {shares[count]:.3f} of a core, missed {missed:g}", flush=True)
    target.close()
    return {
        "system": name,
        "core_share": shares[RULES],
        "core_share_without_rules": shares[0],
        "missed": missed,
        "memory_mb": memory,
    }


def _many(count: int) -> str:
    """Ten groups: half of the rules read a value, half a rate."""
    groups: list[dict[str, Any]] = []
    for group in range(10 if count else 0):
        rules: list[dict[str, Any]] = []
        for number in range(group, count, 10):
            selector = f'bench_value{{series="{number}"}}'
            expression = f"{selector} > 10" if number % 20 < 10 else f"rate({selector}[30s]) > 5"
            rules.append({"alert": f"Rule{number}", "expr": expression, "for": "5s", "labels": {"severity": "page"}})
        groups.append({"name": f"group-{group}", "interval": "1s", "rules": rules})
    return json.dumps({"groups": groups})  # JSON is YAML


def _missed(system: System) -> float:
    """Evaluations that were left out, as the system itself counts them."""
    with urllib.request.urlopen(system.metrics, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(system.missed)]
    if not found:
        raise LookupError(f"{system.name} has no metric {system.missed}: nothing is known of missed evaluations")
    return sum(found)


# Many alerts ----------------------------------------------------------------------------------------------------------


def _burst(scratch: Path, receiver: Receiver, start: Start) -> dict[str, Any]:
    target = Target(ALERTS)
    rule = "groups: [{name: bench, interval: 1s, rules: [{alert: Flipped, expr: bench_value == 1}]}]\n"
    with start(scratch / f"burst-{start.__name__}", target.port, receiver.port, rule) as system:
        time.sleep(10)
        idle = system.resident_mb()
        row: dict[str, Any] = {"system": system.name, "memory_before_mb": idle}
        for value, state in ((1, "firing"), (0, "resolved")):
            before, since, calls = system.cpu_seconds(), time.monotonic(), len(receiver.calls)
            target.set(value)
            row[f"{state}_seconds"] = receiver.wait(system.path, state, ALERTS, since, 120)
            row[f"{state}_cpu_seconds"] = system.cpu_seconds() - before
            row[f"{state}_requests"] = len(receiver.calls) - calls
            row["memory_mb"] = max(row.get("memory_mb", 0.0), system.resident_mb())
            print(f"  {system.name}: {state} {row[f'{state}_seconds']} s, {row['memory_mb']:.0f} MB", flush=True)
            time.sleep(5)
    target.close()
    return row


# The page -------------------------------------------------------------------------------------------------------------


def _write(latency: list[dict[str, Any]], rules: list[dict[str, Any]], burst: list[dict[str, Any]]) -> None:
    text = [
        "A target is sampled each second; its value flips at a random phase; the clock stops when the receiver has the "
        "webhook. Loadwatch's agent and server, and Prometheus (scrape and evaluation each second) with Alertmanager "
        "(group_wait 0, group_interval 0.1 s), watched one target and called one receiver at the same time.\n",
        "| from the flip to the webhook, seconds | state | median | best | worst | not told within 15 s |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['system']} | {row['state']} | {row['median']:.2f} | {row['best']:.2f} | {row['worst']:.2f} "
            f"| {row['missed']} of {row['flips']} |"
            for row in latency
        ),
        f"\nGoal: median {GOAL_SECONDS} s.\n",
        f"{RULES:,} rules each second over {RULES:,} series, for {RULE_SECONDS} s, one system after another; agent or "
        "scraping included:\n",
        "| | share of one core | without rules | evaluations missed | memory, MB |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['system']} | {row['core_share']:.2f} | {row['core_share_without_rules']:.2f} "
            f"| {row['missed']:g} | {row['memory_mb']:.0f} |"
            for row in rules
        ),
        f"\n{ALERTS:,} alerts of one rule begin to fire at once and resolve at once, in one group:\n",
        "| | firing told after, s | resolved told after, s | CPU seconds | memory before, MB | most memory, MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['system']} | {_seconds(row['firing_seconds'])} | {_seconds(row['resolved_seconds'])} "
            f"| {row['firing_cpu_seconds'] + row['resolved_cpu_seconds']:.1f} "
            f"| {row['memory_before_mb']:.0f} | {row['memory_mb']:.0f} |"
            for row in burst
        ),
    ]
    result = {"machine": describe_machine(), "latency": latency, "rules": rules, "burst": burst}
    write_result("alerts", "Alerts, from a value to the person", "\n".join(text), result)


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
