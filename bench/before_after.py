"""Another checkout beside this one, in turns on one machine: `python -m bench.before_after CHECKOUT`.

The other checkout has its own `.venv`. Start, memory, ingest, panels, and what an idle pair of server and agent takes.
"""

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.ingest import CLIENT, SERVERS, WARM_UP, Kind, Server, make_bodies, measure, running
from bench.machine import describe_machine, write_result

ROOT = Path(__file__).resolve().parent.parent
SAMPLES, SECONDS, PANELS = 1_000, 600, 12
AGENT = """server: {{url: {url}/prometheus/api/v1/write}}
interval: 1s
spool: {{directory: {spool}}}
targets:
  - {{job: host, host: {{}}, sockets: {{}}}}
"""
Figures = dict[str, float]


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_start(server: Server, _options: argparse.Namespace) -> Figures:
    """Start with an empty directory, and memory of a server to which nobody sends."""
    with tempfile.TemporaryDirectory(prefix="bench-start-") as name, running(server, Path(name)) as (_, pid):
        cpu = cpu_seconds(pid)
        time.sleep(10)
        status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return {"start until ready, CPU s": cpu, "resident after 10 s, MiB": resident / 1024}


def measure_ingest(server: Server, options: argparse.Namespace) -> Figures:
    """One connection at full speed."""
    found: Figures = {}
    for samples in (1_000, 10_000):
        count = WARM_UP + int(options.seconds * 1_500_000 / samples)
        with tempfile.TemporaryDirectory(prefix="bench-bodies-") as name:
            body = Path(name) / "body"
            make_bodies(body, 0, Kind(samples), count, int(time.time() * 1000) - count * 1000 - 1000)
            run = measure(server, options.client, [body], samples, options.seconds)
        found[f"ingest, {samples:,} a request, samples/s"] = run["samples_per_second"]
    return found


def measure_panels(server: Server, _options: argparse.Namespace) -> Figures:
    """Twelve panels of eight instances over ten minutes, with no cache."""
    with tempfile.TemporaryDirectory(prefix="bench-panels-") as name, running(server, Path(name)) as (address, _):
        start_ms = int(time.time() * 1000) - SECONDS * 1000
        bodies = Path(name) / "bodies"
        make_bodies(bodies, 0, Kind(SAMPLES), SECONDS, start_ms)
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=60)

        def ask(method: str, path: str, body: bytes | None = None) -> bytes:
            connection.request(method, path, body, {"Content-Encoding": "snappy"} if body else {})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
            return text

        with bodies.open("rb") as file:
            while size := file.read(4):
                ask("POST", server.write, file.read(int.from_bytes(size, "little")))
        span = {"start": start_ms / 1000, "end": start_ms / 1000 + SECONDS, "step": 5, "nocache": 1}
        text = "sum by (instance) (rate(node_network_receive_bytes_total_{}[1m]))"
        paths = [
            "/prometheus/api/v1/query_range?" + urllib.parse.urlencode({"query": text.format(panel), **span})
            for panel in range(PANELS)
        ]
        times: list[float] = []
        answer = b""
        for _ in range(30):
            for path in paths:
                began = time.perf_counter()
                answer = ask("GET", path)
                times.append(1000 * (time.perf_counter() - began))
        if len(json.loads(answer)["data"]["result"]) != 8:
            raise RuntimeError("a panel has not eight series")
    return {"a panel, median ms": statistics.median(times)}


def measure_pair(server: Server, options: argparse.Namespace) -> Figures:
    """Server and agent of this host at rest, with all rules and findings on."""
    with tempfile.TemporaryDirectory(prefix="bench-pair-") as name, running(server, Path(name)) as (address, pid):
        settings = Path(name) / "agent.yml"
        settings.write_text(AGENT.format(url=address, spool=Path(name) / "spool"))
        command = [server.command(Path(), 0)[0], "agent", "--config", str(settings)]
        with (Path(name) / "agent.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as agent:
            time.sleep(20)
            before = cpu_seconds(pid), cpu_seconds(agent.pid)
            time.sleep(options.idle)
            after = cpu_seconds(pid), cpu_seconds(agent.pid)
            agent.send_signal(signal.SIGTERM)
    spent, sent = ((end - begin) * 60 / options.idle for begin, end in zip(before, after, strict=True))
    return {"idle server, CPU s a minute": spent, "idle agent, CPU s a minute": sent}


MEASURES: Sequence[Callable[[Server, argparse.Namespace], Figures]] = (
    measure_start,
    measure_ingest,
    measure_panels,
    measure_pair,
)


def main() -> None:
    """Measure both in turns, and write the medians beside each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    commits = {
        name: subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=path, capture_output=True, text=True, check=True
        ).stdout.strip()
        for name, path in (("before", options.checkout), ("after", ROOT))
    }

    def at(path: Path) -> Server:
        program = str(path.resolve() / ".venv" / "bin" / "loadwatch")

        def command(_directory: Path, _port: int) -> Sequence[str]:
            return program, "server"

        return replace(SERVERS[0], command=command)

    servers: Mapping[str, Server] = {"before": at(options.checkout), "after": at(ROOT)}
    runs: dict[str, list[Figures]] = {name: [] for name in servers}
    with tempfile.TemporaryDirectory(prefix="bench-client-") as name:
        options.client = Path(name) / "ingest_client"
        subprocess.run(["go", "build", "-o", options.client, "."], cwd=CLIENT, check=True)
        for repeat in range(options.repeats):
            for side in ("before", "after") if repeat % 2 == 0 else ("after", "before"):
                figures = {key: value for each in MEASURES for key, value in each(servers[side], options).items()}
                runs[side].append(figures)
                print(side, json.dumps(figures), flush=True)
    medians = {
        side: {key: statistics.median(run[key] for run in each) for key in each[0]} for side, each in runs.items()
    }
    lines = [
        f"The commits {commits['before']} and {commits['after']} in turns, {options.repeats} times; medians.",
        "",
        "| what | before | after | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for key, before in medians["before"].items():
        after = medians["after"][key]
        lines.append(f"| {key} | {before:,.4g} | {after:,.4g} | {after / before:.2f} |")
    result = {"machine": describe_machine(), "commits": commits, "runs": runs}
    write_result("before-and-after-fewer-lines", "Before and after fewer lines", "\n".join(lines), result)


if __name__ == "__main__":
    main()
