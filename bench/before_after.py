"""Another checkout beside this one on one machine: `python -m bench.before_after CHECKOUT`.

The other checkout has its own `.venv`. Both servers run at the same time and get the same requests in turns, so that
what else the machine does meets both: ingest, panels, and what an idle pair of server and agent takes. Starts come one
after another.
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
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from bench.ingest import SERVERS, Kind, make_bodies, running
from bench.machine import describe_machine, write_result

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = {1_000: 600, 10_000: 90}
"""How many of so many samples, one for each second; the first tenth warms up."""
SPAN = 600
PANELS, ROUNDS, BLOCK = 12, 8, 48
SETTLE_SECONDS = 15.0
"""After which what a start and its samples bring is over."""
QUERIES: Mapping[str, str] = {
    "a panel: sum by (device) (rate([1m])), ms": "sum by (device) (rate(node_network_receive_bytes_total_{}[1m]))",
    "25 series as they are, ms": "node_network_receive_bytes_total_{}",
}
AGENT = """server: {{url: {url}/prometheus/api/v1/write}}
interval: 1s
spool: {{directory: {spool}}}
targets:
  - {{job: host, host: {{}}, sockets: {{}}}}
"""
Figures = dict[str, float]


@dataclass
class Side:
    """One of the two checkouts."""

    name: str
    checkout: Path

    @property
    def program(self) -> str:
        return str(self.checkout.resolve() / ".venv" / "bin" / "loadwatch")

    @property
    def commit(self) -> str:
        command = ["git", "rev-parse", "--short", "HEAD"]
        return subprocess.run(command, cwd=self.checkout, capture_output=True, text=True, check=True).stdout.strip()

    def start(self, stack: ExitStack, what: str = "server") -> "tuple[Path, str, int]":
        """Its empty folder, the server's address, and the pid of the command."""

        def command(_directory: Path, _port: int) -> Sequence[str]:
            return self.program, what

        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-sides-")))
        return folder, *stack.enter_context(running(replace(SERVERS[0], command=command), folder))


class Client:
    """Asks one server over one connection, and counts the seconds that each answer takes."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=60)

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[float, bytes]:
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"} if body else {}
        began = time.perf_counter()
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        taken = time.perf_counter() - began
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
        return taken, text

    def close(self) -> None:
        self._connection.close()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mebibytes(pid: int) -> float:
    """Memory of a process and of those that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = Path(f"/proc/{pid}/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return own / 1024 + sum(resident_mebibytes(int(child)) for child in children)


def measure_starts(sides: Sequence[Side], repeats: int) -> dict[str, Figures]:
    """Start with an empty directory: CPU of the command, and the memory of all of it once nobody has sent for 10 s."""
    figures: dict[str, Figures] = {side.name: {} for side in sides}
    for what in ("server", "up"):
        found: dict[str, list[tuple[float, float]]] = {side.name: [] for side in sides}
        for repeat in range(repeats):
            for side in sides if repeat % 2 == 0 else reversed(sides):
                with ExitStack() as stack:
                    _, _, pid = side.start(stack, what)
                    cpu = cpu_seconds(pid)
                    time.sleep(10)
                    found[side.name].append((cpu, resident_mebibytes(pid)))
        for name, runs in found.items():
            cpu, resident = map(statistics.median, zip(*runs, strict=True))
            figures[name] |= {f"`{what}` until ready, its own CPU s": cpu, f"`{what}`, resident, MiB": resident}
    return figures


def measure_requests(sides: Sequence[Side]) -> dict[str, Figures]:
    """Milliseconds of a request, medians."""
    found: dict[str, Figures] = {side.name: {} for side in sides}
    with ExitStack() as stack:
        started = {side.name: side.start(stack) for side in sides}
        clients = {name: Client(address) for name, (_, address, _) in started.items()}
        start_ms = int(time.time() * 1000) - SPAN * 1000
        for samples, count in REQUESTS.items():
            bodies = started[sides[0].name][0] / "bodies"
            make_bodies(bodies, 0, Kind(samples), count, start_ms)
            times: dict[str, list[float]] = {name: [] for name in clients}
            with bodies.open("rb") as file:
                while size := file.read(4):
                    body = file.read(int.from_bytes(size, "little"))
                    for name, client in clients.items():
                        times[name].append(client.ask("POST", SERVERS[0].write, body)[0])
            for name, each in times.items():
                found[name][f"ingest of {samples:,} samples, ms"] = 1000 * statistics.median(each[count // 10 :])
        time.sleep(SETTLE_SECONDS)
        span = {"start": start_ms / 1000, "end": start_ms / 1000 + SPAN, "step": 5, "nocache": 1}
        for what, text in QUERIES.items():
            paths = [
                "/prometheus/api/v1/query_range?" + urllib.parse.urlencode({"query": text.format(panel), **span})
                for panel in range(PANELS)
            ]
            times = {name: [] for name in clients}
            for _ in range(ROUNDS):
                for name, client in clients.items():
                    client.close()  # A server closes what is idle for some seconds.
                    for number in range(BLOCK):
                        taken, answer = client.ask("GET", paths[number % PANELS])
                        times[name].append(taken)
                        if not json.loads(answer)["data"]["result"]:
                            raise RuntimeError(f"{paths[number % PANELS]}: no series")
            for name, each in times.items():
                found[name][what] = 1000 * statistics.median(each)
    return found


def mean(first: dict[str, Figures], second: dict[str, Figures]) -> dict[str, Figures]:
    """Of two measurements: whoever is started and asked first has it easier, or harder, by up to a tenth."""
    return {
        side: {what: (one + second[side][what]) / 2 for what, one in found.items()} for side, found in first.items()
    }


def measure_idle(sides: Sequence[Side], seconds: float) -> dict[str, Figures]:
    """Server and agent of this host at rest, with all rules and findings on."""
    with ExitStack() as stack:
        pids: dict[str, tuple[int, int]] = {}
        for side in sides:
            folder, address, pid = side.start(stack)
            settings = folder / "agent.yml"
            settings.write_text(AGENT.format(url=address, spool=folder / "spool"))
            log = stack.enter_context((folder / "agent.log").open("wb"))
            agent = subprocess.Popen([side.program, "agent", "--config", str(settings)], stdout=log, stderr=log)
            stack.callback(agent.wait)
            stack.callback(agent.send_signal, signal.SIGTERM)
            pids[side.name] = (pid, agent.pid)
        time.sleep(30)
        before = {name: [cpu_seconds(pid) for pid in each] for name, each in pids.items()}
        time.sleep(seconds)
        spent = {
            name: [(cpu_seconds(pid) - begun) * 60 / seconds for pid, begun in zip(each, before[name], strict=True)]
            for name, each in pids.items()
        }
    return {
        name: {"idle server, CPU s a minute": server, "idle agent, CPU s a minute": agent}
        for name, (server, agent) in spent.items()
    }


def main() -> None:
    """Measure both, and write their figures beside each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--idle", type=float, default=120, help="seconds of the idle pairs")
    parser.add_argument("--repeats", type=int, default=3, help="starts of each")
    options = parser.parse_args()
    sides = (Side("before", options.checkout), Side("after", ROOT))
    measures: Sequence[Callable[[], dict[str, Figures]]] = (
        lambda: measure_starts(sides, options.repeats),
        lambda: mean(measure_requests(sides), measure_requests(sides[::-1])),
        lambda: measure_idle(sides, options.idle),
    )
    figures: dict[str, Figures] = {side.name: {} for side in sides}
    for measure in measures:
        for name, found in measure().items():
            figures[name] |= found
            print(name, json.dumps(found), flush=True)
    lines = [
        f"The commits {sides[0].commit} and {sides[1].commit}, both at once, requests in turns; medians.",
        "",
        "| what | before | after | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for key, before in figures["before"].items():
        after = figures["after"][key]
        lines.append(f"| {key} | {before:,.4g} | {after:,.4g} | {after / before:.2f} |")
    commits = {side.name: side.commit for side in sides}
    result = {"machine": describe_machine(), "commits": commits, "figures": figures}
    write_result("before-and-after-fewer-lines", "Before and after fewer lines", "\n".join(lines), result)


if __name__ == "__main__":
    main()
