"""Requests a minute for 200 resources, and processor time and memory of a poll of 5,000 metrics.

`python -m bench.aws [MINUTES]`. The real agent reads an account minute by minute over HTTP; the peers' requests for the
same metrics are counted by their documents (`peers.py`), since neither could be had here.
"""

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.agent_cost import cpu_seconds, memory_mb, running, sink
from bench.aws.account import Account, count_operations
from bench.aws.peers import Asked, netdata, yace
from bench.machine import describe_machine, write_result
from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy, running_proxy
from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION

MINUTES = 6
DATABASES, BALANCERS, INSTANCES = 100, 20, 80
QUEUES = 556
PRICE = 0.01 / 1_000
MINUTES_A_MONTH = 30 * 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """An agent that has polled for some minutes; figures are of one minute, which is one poll."""

    asked: Asked
    queries: int
    cpu_seconds: float
    memory_mb: float
    account: Account


def main() -> None:
    """Measure, print, and write the result."""
    minutes = int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    # Side by side: what is measured is processor time of each agent, and a poll leaves most of its minute free.
    with ThreadPoolExecutor(3) as pool:
        mixed = Account(databases=DATABASES, balancers=BALANCERS, instances=INSTANCES)
        futures = [
            pool.submit(watch, mixed, "[rds, alb, ec2]", minutes),
            pool.submit(watch, Account(queues=1), "[sqs]", minutes),
            pool.submit(watch, Account(queues=QUEUES), "[sqs]", minutes),
        ]
    resources, idle, poll = (future.result() for future in futures)
    peers = [yace(resources.account.queries), netdata(resources.account.queries)]
    text = describe([resources.asked, *peers], resources, idle, poll, minutes)
    print(text)
    result = {
        "machine": describe_machine(),
        "minutes": minutes,
        "resources": {"databases": DATABASES, "load_balancers": BALANCERS, "instances": INSTANCES},
        "requests_per_minute": {
            one.name: {name: round(count, 2) for name, count in one.calls.items()} for one in (resources.asked, *peers)
        },
        "metrics_requested_per_minute": {one.name: round(one.metrics, 1) for one in (resources.asked, *peers)},
        "statistics_per_minute": resources.queries,
        "poll": _figures(poll),
        "poll_of_one_queue": _figures(idle),
    }
    write_result("aws", "Reading CloudWatch", text, result)


def watch(account: Account, presets: str, minutes: int) -> Watched:
    """Let the agent poll an account; the first poll and the first look for resources are left out of the figures."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lw-aws-")))
        proxy = stack.enter_context(running_proxy("http://127.0.0.1:9"))
        account.attach(proxy)
        pid = stack.enter_context(_agent(folder, proxy, presets, stack.enter_context(sink())))
        _wait_for_polls(proxy, 1, folder)
        _sleep_to_half_minute()
        before, cpu = len(proxy.requests), cpu_seconds(pid)
        metrics, queries = account.data.metrics_requested, sum(window[2] for window in account.data.windows)
        began = time.monotonic()
        time.sleep(60 * minutes)
        spent = (time.monotonic() - began) / 60
        counted = count_operations(proxy.requests[before:])
        assert counted["cloudwatch GetMetricData"] >= minutes - 1, (folder / "agent").read_text()
        return Watched(
            asked=Asked(
                name="Loadwatch (measured)",
                calls={name: count / spent for name, count in sorted(counted.items())},
                metrics=(account.data.metrics_requested - metrics) / minutes,
            ),
            queries=(sum(window[2] for window in account.data.windows) - queries) // minutes,
            cpu_seconds=(cpu_seconds(pid) - cpu) / minutes,
            memory_mb=memory_mb(pid),
            account=account,
        )


def describe(rows: list[Asked], resources: Watched, idle: Watched, poll: Watched, minutes: int) -> str:
    """The page of the result."""
    total = DATABASES + BALANCERS + INSTANCES
    names = sorted({name for row in rows for name in row.calls})
    head = "| | " + " | ".join(row.name for row in rows) + " |"
    lines = [f"| {name} | " + " | ".join(f"{row.calls.get(name, 0):.1f}" for row in rows) + " |" for name in names]
    lines.append("| **all requests a minute** | " + " | ".join(f"**{row.total:.1f}**" for row in rows) + " |")
    lines.append("| **metrics requested a minute** | " + " | ".join(f"**{row.metrics:,.0f}**" for row in rows) + " |")
    month = " | ".join(f"{row.metrics * MINUTES_A_MONTH * PRICE:,.0f}" for row in rows)
    lines.append(f"| USD in 30 days for them | {month} |")
    table = "\n".join(lines)
    return f"""
{total} resources ({DATABASES} RDS instances, {BALANCERS} load balancers, {INSTANCES} EC2 instances), all that our
presets rds, alb and ec2 read of them each minute: {resources.queries:,} statistics. {minutes} minutes of the running
agent after its first poll.

{head}
|{" --- |" * (len(rows) + 1)}
{table}

The peers are not run: YACE could not be had on this machine, and Netdata's collector comes with its agent. Their
requests are those of their documents and sources for the same metrics at the same period; by default both ask once in
5 minutes, as `interval: 5m` does here. Metrics requested are what AWS bills, and are the same for all: re-reading ten
minutes in each request costs nothing. Loadwatch looks for roles and counts each 30 s by describe calls, which are free;
YACE asks for tags and lists metrics in each scrape, Netdata lists once in 5 minutes. Attributes of load balancers and
parameter groups ({BALANCERS + 1} requests, free) are asked for once in some 5 minutes; they count here where
such a time was measured.

| | metrics | statistics | CPU seconds a poll | resident MB |
| --- | --- | --- | --- | --- |
| one queue | {idle.asked.metrics:,.0f} | {idle.queries:,} | {idle.cpu_seconds:.2f} | {idle.memory_mb:.0f} |
| {QUEUES} queues | {poll.asked.metrics:,.0f} | {poll.queries:,} | {poll.cpu_seconds:.2f} | {poll.memory_mb:.0f} |

A poll reads each statistic of the last ten minutes again. CPU is that of the whole agent in a minute, its spool and
sending included.
"""


def _figures(watched: Watched) -> Mapping[str, Any]:
    return {
        "metrics": round(watched.asked.metrics),
        "statistics": watched.queries,
        "requests": round(watched.asked.total, 1),
        "cpu_seconds": round(watched.cpu_seconds, 2),
        "memory_mb": round(watched.memory_mb, 1),
    }


@contextlib.contextmanager
def _agent(folder: Path, proxy: FaultProxy, presets: str, port: int) -> Generator[int]:
    config = folder / "loadwatch.yml"
    config.write_text(
        f"spool: {{directory: '{folder / 'spool'}'}}\n"
        "targets:\n"
        "  - job: aws\n"
        f"    cloudwatch: {{endpoint_url: '{proxy.url}', regions: [{REGION}], presets: {presets}}}\n"
    )
    program = str(Path(sys.executable).parent / "loadwatch")
    command = [program, "agent", "--config", str(config), "--server", f"http://127.0.0.1:{port}/write"]
    environment = {**ENVIRONMENT, "PATH": os.environ.get("PATH", "")}
    with running(command, folder / "agent", **environment) as pid:
        yield pid


def _wait_for_polls(proxy: FaultProxy, polls: int, folder: Path) -> None:
    give_up = time.monotonic() + 200
    while time.monotonic() < give_up:
        if len(proxy.seen("GetMetricData")) >= polls:
            return
        time.sleep(0.2)
    raise SystemExit(f"the agent does not poll: {(folder / 'agent').read_text()}")


def _sleep_to_half_minute() -> None:
    """Polls come with the minute; measured is from the middle of one to the middle of another."""
    time.sleep((30 - time.time() % 60) % 60)


if __name__ == "__main__":
    main()
