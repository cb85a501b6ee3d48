"""What a server costs that has nothing to do, and with an agent that watches this host each second: default rules on.

`python -m bench.idle`. Beside it Prometheus with the same rules, evaluated each second as ours are.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.machine import describe_machine, write_result
from tests.serving import LOADWATCH, free_port, wait_until_answers

SETTLE_SECONDS = 30
SECONDS = 120
TICKS = os.sysconf("SC_CLK_TCK")
RULES = Path(__file__).resolve().parents[1] / "packs/loadwatch_packs"
GOAL = 0.01


def main() -> int:
    """Measures one after another and writes the result."""
    folder = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    shares: dict[str, float] = {}
    with _loadwatch(folder, agent=False) as pid:
        shares["Loadwatch, nobody sends anything"] = _share(pid)
    with _loadwatch(folder, agent=True) as pid:
        shares["Loadwatch, an agent sends host and sockets each second"] = _share(pid)
    with _prometheus(folder) as pid:
        shares["Prometheus, nothing to scrape"] = _share(pid)
    first = next(iter(shares.values()))
    rows = "\n".join(f"| {name} | {share:.2%} |" for name, share in shares.items())
    text = f"""
`python -m bench.idle`: CPU time of the server's process over {SECONDS} s, {SETTLE_SECONDS} s after its start, with the
default rules. Load average at the end {os.getloadavg()[0]:.1f}.

| | of one core |
| --- | --- |
{rows}

The goal for an idle server is less than {GOAL:.0%}: {"reached" if first < GOAL else "MISSED"}.
"""
    write_result("idle", "An idle server", text, {"machine": describe_machine(), "core_shares": shares})
    return 0


def _share(pid: int) -> float:
    time.sleep(SETTLE_SECONDS)
    before, began = cpu_seconds(pid), time.monotonic()
    time.sleep(SECONDS)
    return (cpu_seconds(pid) - before) / (time.monotonic() - began)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def _loadwatch(folder: Path, *, agent: bool) -> Generator[int]:
    own = folder / f"loadwatch-{agent}"
    own.mkdir()
    url = f"127.0.0.1:{free_port()}"
    environment = {"LOADWATCH_LISTEN": url, "LOADWATCH_DATA": str(own / "data")}
    config = own / "agent.yml"
    config.write_text(
        f"server: {{url: http://{url}/prometheus/api/v1/write}}\ninterval: 1s\nspool: {{directory: {own / 'spool'}}}\n"
        "targets:\n  - {job: host, host: {}, sockets: {}}\n",
        encoding="utf-8",
    )
    with ExitStack() as stack:
        server = stack.enter_context(process([str(LOADWATCH), "server"], own / "server.log", environment))
        wait_until_answers(f"http://{url}/-/ready", server)
        if agent:
            stack.enter_context(process([str(LOADWATCH), "agent", "--config", str(config)], own / "agent.log", {}))
        yield server.pid


@contextmanager
def _prometheus(folder: Path) -> Generator[int]:
    own = folder / "prometheus"
    own.mkdir()
    port = free_port()
    config = own / "prometheus.yml"
    rules = [str(path) for path in sorted(RULES.glob("*/rules.yml"))]
    config.write_text(f"global: {{evaluation_interval: 1s}}\nrule_files: {rules}\n", encoding="utf-8")
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={own / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with process(command, own / "prometheus.log", {}) as server:
        wait_until_answers(f"http://127.0.0.1:{port}/-/ready", server)
        yield server.pid


@contextmanager
def process(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> "Generator[subprocess.Popen[bytes]]":
    """A program in the folder of its log, ended by its pid."""
    with log.open("wb") as file:
        started = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **environment}, cwd=log.parent
        )
    try:
        yield started
    finally:
        started.terminate()
        started.wait(60)


if __name__ == "__main__":
    sys.exit(main())
