"""The two systems that are compared, each with its shortest sensible settings."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.import_result.measure import resident_bytes
from tests.serving import free_port, wait_until_answers

LOADWATCH = Path(sys.executable).parent / "loadwatch"
LOADWATCH_PATH = "/loadwatch"
PEER_PATH = "/alertmanager"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A running system: the processes that watch, decide and tell; its own metrics, and what counts missed rounds."""

    name: str
    path: str
    pids: Sequence[int]
    metrics: str
    missed: str

    def cpu_seconds(self) -> float:
        """Processor time of all its processes since their start."""
        return sum(_cpu_seconds(pid) for pid in self.pids)

    def resident_mb(self) -> float:
        """Memory of all its processes."""
        return sum(resident_bytes(pid) for pid in self.pids) / 1e6


@contextmanager
def loadwatch(
    directory: Path, target: int, receiver: int, rules: str, *, agent: bool = True, routing: str | None = None
) -> Generator[System]:
    """Agent at 1 s and server; nothing waits: group_wait 0. `routing` is a whole file, for more than one receiver."""
    directory.mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    (directory / "rules.yml").write_text(rules)
    (directory / "notifications.yml").write_text(routing or _routing(receiver, LOADWATCH_PATH))
    (directory / "agent.yml").write_text(
        f"server: {{url: {url}/prometheus/api/v1/write}}\n"
        f"interval: 1s\nspool: {{directory: {directory / 'spool'}}}\n"
        f"targets:\n  - job: bench\n    prometheus: {{url: http://127.0.0.1:{target}/metrics}}\n"
    )
    environment = {
        "LOADWATCH_DATA": str(directory / "data"),
        "LOADWATCH_LISTEN": f"127.0.0.1:{port}",
        "LOADWATCH_RULES": str(directory / "rules.yml"),
        "LOADWATCH_DEFAULT_RULES": "false",
        "LOADWATCH_NOTIFICATIONS": str(directory / "notifications.yml"),
        "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
        # The value swings all the time on purpose.
        "LOADWATCH_FLAP_CHANGES": "0",
    }
    with ExitStack() as stack:
        server = stack.enter_context(_process([str(LOADWATCH), "server"], directory / "server.log", environment))
        wait_until_answers(f"{url}/-/ready", server)
        pids = [server.pid]
        if agent:
            command = [str(LOADWATCH), "agent", "--config", str(directory / "agent.yml")]
            pids.append(stack.enter_context(_process(command, directory / "agent.log")).pid)
        yield System(
            name="Loadwatch",
            path=LOADWATCH_PATH,
            pids=pids,
            metrics=f"{url}/metrics",
            missed="loadwatch_rule_group_evaluations_missed_total",
        )


@contextmanager
def prometheus(
    directory: Path, target: int, receiver: int, rules: str, *, routing: str | None = None
) -> Generator[System]:
    """Prometheus that scrapes and evaluates each second, and Alertmanager without waits; `routing` as for ours."""
    directory.mkdir()
    port, alertmanager_port = free_port(), free_port()
    (directory / "rules.yml").write_text(rules)
    (directory / "alertmanager.yml").write_text(routing or _routing(receiver, PEER_PATH))
    (directory / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: [{directory / 'rules.yml'}]\n"
        f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['127.0.0.1:{alertmanager_port}']}}]}}]}}\n"
        f"scrape_configs: [{{job_name: bench, static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n"
    )
    with ExitStack() as stack:
        manager = stack.enter_context(
            _process(
                [
                    "prometheus-alertmanager",
                    f"--config.file={directory / 'alertmanager.yml'}",
                    f"--storage.path={directory / 'alertmanager'}",
                    f"--web.listen-address=127.0.0.1:{alertmanager_port}",
                    "--cluster.listen-address=",
                ],
                directory / "alertmanager.log",
            )
        )
        wait_until_answers(f"http://127.0.0.1:{alertmanager_port}/-/ready", manager)
        server = stack.enter_context(
            _process(
                [
                    "prometheus",
                    f"--config.file={directory / 'prometheus.yml'}",
                    f"--storage.tsdb.path={directory / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                    "--rules.alert.resend-delay=1s",
                ],
                directory / "prometheus.log",
            )
        )
        wait_until_answers(f"http://127.0.0.1:{port}/-/ready", server)
        pids = [server.pid, manager.pid]
        metrics = f"http://127.0.0.1:{port}/metrics"
        missed = "prometheus_rule_group_iterations_missed_total"
        yield System(name="Prometheus and Alertmanager", path=PEER_PATH, pids=pids, metrics=metrics, missed=missed)


def _routing(receiver: int, path: str) -> str:
    """One file for both: Loadwatch reads Alertmanager's format. Nothing waits for a group."""
    return (
        "route: {receiver: hook, group_by: [alertname], group_wait: 0s, group_interval: 100ms, repeat_interval: 1h}\n"
        f"receivers: [{{name: hook, webhook_configs: [{{url: 'http://127.0.0.1:{receiver}{path}'}}]}}]\n"
    )


@contextmanager
def _process(
    command: Sequence[str], log: Path, environment: dict[str, str] | None = None
) -> "Generator[subprocess.Popen[bytes]]":
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(environment or {})}, cwd=log.parent
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / TICKS
