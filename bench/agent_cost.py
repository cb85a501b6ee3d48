"""CPU and memory of the agent beside node_exporter, mysqld_exporter and process-exporter, in the same minute.

A process holds 10,000 files, half of them connections whose other ends a second process holds: 10,000 sockets on the
loopback interface. Agent and exporters watch the same host, process and MariaDB each second; the agent sends what it
sees, the exporters are scraped. What a Prometheus beside the exporters would cost is not counted.
`python -m bench.agent_cost [SECONDS]`
"""

import contextlib
import http.client
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.machine import describe_machine, write_result
from collectors.tests.mariadb import running_mariadb
from tests.ports import free_port

SECONDS = 60
WARM_UP_SECONDS = 8.0
CONNECTIONS = 5_000
FILES = 5_000
GOAL_CPU_RATIO = 0.5
EARLIER_MEMORY_MB = 64
HOLD_SECONDS = 600
PROGRAM_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds in a minute, and resident memory in MB at the end of it."""

    name: str
    cpu_seconds: float
    memory_mb: float


def hold(port: int) -> None:
    """Hold connections until the parent closes standard input; the process that is watched also holds files.

    With port 0 it listens, tells its port and holds `FILES` files beside the accepted connections; otherwise it dials.
    """
    signal.alarm(HOLD_SECONDS)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if port:
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
        print(len(held), flush=True)
        sys.stdin.read()
        return
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(FILES)]
    server = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(server.getsockname()[1], flush=True)
    held = [server.accept()[0] for _ in range(CONNECTIONS)]
    print(len(held) + len(files), flush=True)
    sys.stdin.read()


@contextlib.contextmanager
def holders() -> Generator[int]:
    """The process that is watched, with everything open; yields its pid."""
    command = [sys.executable, "-m", "bench.agent_cost", "hold"]
    with contextlib.ExitStack() as stack:
        watched = stack.enter_context(_piped([*command, "0"]))
        assert watched.stdout is not None
        port = watched.stdout.readline().decode().strip()
        dialler = stack.enter_context(_piped([*command, port]))
        assert dialler.stdout is not None
        assert int(dialler.stdout.readline()) == CONNECTIONS
        assert int(watched.stdout.readline()) == CONNECTIONS + FILES
        yield watched.pid


@contextlib.contextmanager
def _piped(command: Sequence[str]) -> Generator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def running(command: Sequence[str], log: Path, **environment: str) -> Generator[int]:
    """A program whose output goes to a file; yields its pid."""
    program = shutil.which(command[0], path=PROGRAM_PATH)
    if program is None:
        raise SystemExit(f"{command[0]} is missing: apt-get install {command[0]}")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, *command[1:]], stdout=out, stderr=out, env={**os.environ, **environment, "LC_ALL": "C.UTF-8"}
        )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


class Sink(BaseHTTPRequestHandler):
    """Takes what the agent sends, as a server that answers at once."""

    protocol_version = "HTTP/1.1"
    requests = 0

    def do_POST(self) -> None:
        """Take a batch."""
        self.rfile.read(int(self.headers["Content-Length"]))
        Sink.requests += 1
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def sink() -> Generator[int]:
    """A receiver; yields its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def scrape(port: int, stop: threading.Event, sizes: list[int]) -> None:
    """Scrape an exporter each whole second over a kept connection, as Prometheus does; notes the samples of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    while not stop.wait(1 - time.time() % 1):
        try:
            connection.request("GET", "/metrics")
            page = connection.getresponse().read()
        except OSError:
            connection.close()
            continue
        sizes.append(sum(1 for line in page.splitlines() if line and not line.startswith(b"#")))
    connection.close()


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Resident memory of a process in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def write_config(folder: Path, watched: int, mysql_port: int) -> Path:
    """The agent's configuration: the same things that the exporters watch."""
    path = folder / "loadwatch.yml"
    path.write_text(
        f"""
interval: 1s
spool: {{directory: '{folder / "spool"}'}}
targets:
  - job: host
    host: {{}}
    sockets: {{}}
  - job: app
    process: {{pid: {watched}}}
  - job: mysql
    process: {{name: mariadbd}}
    mysql: {{host: 127.0.0.1, port: {mysql_port}, user: watcher, password_env: BENCH_MYSQL_PASSWORD}}
"""
    )
    return path


def measure(pids: dict[str, int], seconds: float) -> list[Cost]:
    """CPU and memory of each process over a span of time, CPU scaled to a minute."""
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    started = time.monotonic()
    time.sleep(seconds)
    factor = 60 / (time.monotonic() - started)
    return [Cost(name, (cpu_seconds(pid) - before[name]) * factor, memory_mb(pid)) for name, pid in pids.items()]


def run(seconds: float) -> tuple[list[Cost], dict[str, int]]:
    """All of them at once; the costs, and the samples that each takes in a second."""
    sizes: dict[str, list[int]] = {"node_exporter": [], "mysqld_exporter": [], "process-exporter": []}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lw-")))
        database = stack.enter_context(running_mariadb(folder))
        database.run(
            "CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'bench'",
            "GRANT PROCESS, REPLICATION CLIENT, SLAVE MONITOR, SELECT ON *.* TO watcher@'127.0.0.1'",
        )
        watched = stack.enter_context(holders())
        ports = {name: free_port() for name in sizes}
        commands: dict[str, tuple[list[str], dict[str, str]]] = {
            "node_exporter": (["prometheus-node-exporter", "--collector.tcpstat"], {}),
            "mysqld_exporter": (
                ["prometheus-mysqld-exporter"],
                {"DATA_SOURCE_NAME": f"watcher:bench@(127.0.0.1:{database.port})/"},
            ),
            "process-exporter": (
                ["prometheus-process-exporter", "-procnames", f"{Path(sys.executable).resolve().name},python,mariadbd"],
                {},
            ),
        }
        stop = threading.Event()
        stack.callback(stop.set)
        pids: dict[str, int] = {}
        for name, (command, environment) in commands.items():
            flag = "-web.listen-address" if name == "process-exporter" else "--web.listen-address"
            arguments = [*command, flag, f"127.0.0.1:{ports[name]}"]
            pids[name] = stack.enter_context(running(arguments, folder / name, **environment))
            threading.Thread(target=scrape, args=(ports[name], stop, sizes[name]), daemon=True).start()
        receiver = stack.enter_context(sink())
        agent = [
            str(Path(sys.executable).parent / "loadwatch"),
            "agent",
            "--config",
            str(write_config(folder, watched, database.port)),
            "--server",
            f"http://127.0.0.1:{receiver}/write",
        ]
        pids["loadwatch agent"] = stack.enter_context(running(agent, folder / "agent", BENCH_MYSQL_PASSWORD="bench"))
        time.sleep(WARM_UP_SECONDS)
        requests = Sink.requests
        costs = measure(pids, seconds)
        assert Sink.requests - requests > 0.8 * seconds, (folder / "agent").read_text()
        assert all(len(found) > 0.5 * seconds for found in sizes.values()), {n: len(f) for n, f in sizes.items()}
        assert '"level": "warning"' not in (folder / "agent").read_text(), (folder / "agent").read_text()
    return costs, {name: found[-1] for name, found in sizes.items()}


def main() -> None:
    """Measure, print, and write the result."""
    if len(sys.argv) > 2 and sys.argv[1] == "hold":
        hold(int(sys.argv[2]))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    costs, samples = run(seconds)
    ours = next(cost for cost in costs if cost.name == "loadwatch agent")
    peers = [cost for cost in costs if cost is not ours]
    cpu = sum(cost.cpu_seconds for cost in peers)
    memory = sum(cost.memory_mb for cost in peers)
    ratio = ours.cpu_seconds / cpu
    rows = "\n".join(f"| {cost.name} | {cost.cpu_seconds:.2f} | {cost.memory_mb:.1f} |" for cost in [*peers, ours])
    text = f"""
{CONNECTIONS * 2:,} sockets, {CONNECTIONS + FILES:,} open files in the watched process, 1 s, {seconds:g} s measured.

| | CPU seconds a minute | resident MB |
| --- | --- | --- |
{rows}
| three exporters together | {cpu:.2f} | {memory:.1f} |

The agent takes {ratio:.2f} of the exporters' CPU (goal: at most {GOAL_CPU_RATIO}) and {ours.memory_mb / memory:.2f} of
their memory ({ours.memory_mb:.0f} MB; they took {EARLIER_MEMORY_MB} MB in an earlier measurement). It keeps its
spool and sends by remote write in this; a Prometheus that scrapes the exporters is not counted.
"""
    print(text)
    result = {
        "machine": describe_machine(),
        "seconds": seconds,
        "sockets": CONNECTIONS * 2,
        "open_files": CONNECTIONS + FILES,
        "samples_of_exporters": samples,
        "cpu_seconds_per_minute": {cost.name: round(cost.cpu_seconds, 2) for cost in costs},
        "memory_mb": {cost.name: round(cost.memory_mb, 1) for cost in costs},
        "cpu_ratio": round(ratio, 3),
        "memory_ratio": round(ours.memory_mb / memory, 3),
    }
    write_result("agent-cost", "Cost of the agent", text, result)


if __name__ == "__main__":
    main()
