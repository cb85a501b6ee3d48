"""What packs cost: `python -m bench packs`. Sixty of a user, to read and while nothing sends what they are for.

Beside them the collectors of two packs, PostgreSQL and Redis, each second.
"""

import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml
from loadwatch_backend.catalogue.packs.library import Library

from bench.idle import SECONDS, SETTLE_SECONDS, cpu_seconds, process
from bench.machine import describe_machine, write_result
from collectors.tests.postgresql import own_postgresql
from collectors.tests.redis_server import own_redis
from tests.serving import LOADWATCH, free_port, wait_until_answers

PACKS, REPEATS, TURNS = 60, 5, 3
READ_GOAL_MS, IDLE_GOAL, COLLECTOR_GOAL = 150, 0.1, 0.5
SIGNAL = """          - id: s{pack}_{signal}
            title: {{en: Title, ja: 題}}
            help: {{en: What it is., ja: 説明。}}
            unit: count
            better: lower
            expr: 'sum by (job, instance) (rate(m{pack}_{signal}_total[$window]))'
            legend: '{{{{instance}}}}'
"""
PACK = """pack: p{pack}
title: P
there_when: m{pack}
groups:
  - id: g{pack}
    panels:
      - id: p{pack}
        signals:
{signals}resources:
  - {{id: r{pack}, title: R, unit: count, used: m{pack}, limit: 5, legend: ''}}
"""


RULE = """groups:
  - name: own{pack}
    rules:
      - {{alert: Own{pack}, expr: m{pack} > 4, for: 10s, labels: {{severity: warning}}, annotations: {{summary: High}}}}
"""


def main() -> int:
    """Measures and writes the result."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-bench-") as folder:
        read = _read_times(Path(folder))
        servers, agents = _running(Path(folder))
    idle = {name: statistics.median(one["cpu_seconds_a_minute"]) for name, one in {**servers, **agents}.items()}
    more = idle["60 packs"] - idle["no packs"]
    rows = "\n".join(
        f"| {name} | {', '.join(f'{one:.2f}' for one in each['cpu_seconds_a_minute'])} | {idle[name]:.2f} |"
        f" {each['start_cpu_seconds']:.1f} | {each['resident_mb']:.0f} |"
        for name, each in {**servers, **agents}.items()
    )
    lines = "\n".join(f"| {name} | {one:.0f} |" for name, one in read.items())
    verdicts = [
        ("60 packs are read in less than 150 ms", read["60 packs of 101 lines, again"] < READ_GOAL_MS),
        (f"60 packs that are not there take {more:.2f} s a minute, less than {IDLE_GOAL} s", more < IDLE_GOAL),
        *(
            (f"an agent with {name} alone takes less than {COLLECTOR_GOAL} s a minute", idle[name] < COLLECTOR_GOAL)
            for name in agents
        ),
    ]
    goals = "\n".join(f"- {text}: {'reached' if met else 'MISSED'}." for text, met in verdicts)
    text = f"""
`python -m bench packs`. Load average at the end {os.getloadavg()[0]:.1f}: other work ran beside it where that is above
0, and CPU times are longer than on a quiet machine.

| CPU time to read | ms |
| --- | --- |
{lines}

Each has a signal, a resource with an alert and a rule, and nobody sends its metric. The servers and agents run at the
same time, {TURNS} intervals of {SECONDS} s, {SETTLE_SECONDS} s after their start; each agent watches one server of its
own each second.

| | CPU seconds a minute | median | CPU s to the first answer | resident MB |
| --- | --- | --- | --- | --- |
{rows}

{goals}
"""
    result = {"machine": describe_machine(), "load_average": os.getloadavg()[0], "read_ms": read}
    write_result("packs", "What packs cost", text, {**result, "servers": servers, "agents": agents})
    return 0


def _read_times(folder: Path) -> Mapping[str, float]:
    """Milliseconds of CPU time, medians."""
    texts = _write(folder / "long", 13)
    first = f"{PACKS} packs of {texts[0].count(chr(10))} lines"
    return {
        "the shipped packs, the first time": _milliseconds(lambda: Library().current(), 1),
        f"{first}, the first time": _read(folder / "long", 1),
        f"{first}, again": _read(folder / "long"),
        "PyYAML's nodes of them alone": _milliseconds(lambda: [yaml.compose(one, yaml.CSafeLoader) for one in texts]),
    }


def _write(folder: Path, signals: int) -> Sequence[str]:
    """Packs and their rules; the packs' texts."""
    texts: list[str] = []
    for pack in range(PACKS):
        own = "".join(SIGNAL.format(pack=pack, signal=one) for one in range(signals))
        texts.append(PACK.format(pack=pack, signals=own))
        file = folder / str(pack) / "pack.yml"
        file.parent.mkdir(parents=True)
        file.write_text(texts[-1], encoding="utf-8")
        file.with_name("rules.yml").write_text(RULE.format(pack=pack), encoding="utf-8")
    return texts


def _running(folder: Path) -> tuple[Mapping[str, Mapping[str, Any]], ...]:
    """Of servers and of agents: CPU seconds a minute in each interval, those until the first answer, and memory."""
    _write(folder / "packs", 1)
    (folder / "none").mkdir()
    with ExitStack() as stack:
        servers: dict[str, int] = {}
        starts: dict[str, float] = {}
        urls: dict[str, str] = {}
        for name, packs in (("no packs", "none"), ("60 packs", "packs"), ("beside agents", "none")):
            urls[name] = url = f"127.0.0.1:{free_port()}"
            own = {
                "LOADWATCH_LISTEN": url,
                "LOADWATCH_DATA": str(folder / name),
                "LOADWATCH_PACKS": str(folder / packs),
            }
            server = stack.enter_context(process([str(LOADWATCH), "server"], folder / f"{name}.log", own))
            wait_until_answers(f"http://{url}/-/ready", server, 300)
            servers[name], starts[name] = server.pid, cpu_seconds(server.pid)
        postgresql, redis = stack.enter_context(own_postgresql()), stack.enter_context(own_redis())
        blocks = {
            "PostgreSQL": f"postgresql: {{host: 127.0.0.1, port: {postgresql.port}, user: app}}",
            "Redis": f"redis: {{url: 'redis://127.0.0.1:{redis.port}'}}",
        }
        agents: dict[str, int] = {}
        for name, block in blocks.items():
            config = folder / f"{name}.yml"
            config.write_text(
                f"server: {{url: 'http://{urls['beside agents']}/prometheus/api/v1/write'}}\ninterval: 1s\n"
                # Of two agents of one host that write to one server, the second ends without a label of its own.
                f"labels: {{agent: {name}}}\n"
                f"spool: {{directory: {folder / f'spool-{name}'}}}\ntargets:\n  - {{job: shop, {block}}}\n",
                encoding="utf-8",
            )
            command = [str(LOADWATCH), "agent", "--config", str(config)]
            agents[name] = stack.enter_context(process(command, folder / f"agent-{name}.log", {})).pid
            starts[name] = 0.0
        del servers["beside agents"]
        time.sleep(SETTLE_SECONDS)
        pids = {**servers, **agents}
        minutes: dict[str, list[float]] = {name: [] for name in pids}
        for _ in range(TURNS):
            before, begun = {name: cpu_seconds(pid) for name, pid in pids.items()}, time.monotonic()
            time.sleep(SECONDS)
            taken = (time.monotonic() - begun) / 60
            for name, pid in pids.items():
                minutes[name].append((cpu_seconds(pid) - before[name]) / taken)
        found: dict[str, dict[str, Any]] = {
            name: {
                "cpu_seconds_a_minute": minutes[name],
                "start_cpu_seconds": starts[name],
                "resident_mb": _resident_mb(pid),
            }
            for name, pid in pids.items()
        }
    return {name: found[name] for name in servers}, {name: found[name] for name in agents}


def _resident_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    assert found is not None, "the process has ended"
    return int(found[1]) / 1024


def _read(folder: Path, repeats: int = REPEATS) -> float:
    return _milliseconds(lambda: Library([folder]).current(), repeats)


def _milliseconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """CPU time, the median."""
    found: list[float] = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        found.append((time.process_time() - begun) * 1_000)
    return statistics.median(found)


if __name__ == "__main__":
    raise SystemExit(main())
