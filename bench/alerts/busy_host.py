"""What a healthy, busy host raises in an hour with the default rules: nothing, if they are good.

`python -m bench.alerts.busy_host [MINUTES]`. A Go server with MariaDB behind it takes a load well below its limits, an
agent watches all of it and the host, and whatever else runs on the machine keeps it busy: the result says how busy.
"""

import json
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3

from bench.machine import describe_machine, write_result
from examples.demo.stages import MAX_CONNECTIONS, Stage
from examples.rig.application import build_application, running_application
from examples.rig.database import MONITOR_USER, running_database
from examples.rig.load import AsRun, Load, LoadGenerator
from examples.rig.loadwatch import OWN_SETTINGS, Loadwatch, WatchedApp, agent_config, running_agent, write_secret
from examples.rig.processes import ManagedProcess, free_port, wait_until

MINUTES = 60
SPARE_SECONDS = 60
"""The load lasts until the figures are read."""

GOAL_CRITICAL = 0
GOAL_WARNING = 2
HEALTHY = Stage(
    name="healthy",
    title="A healthy application",
    flags=("-stage=bounded", "-max-open=16", "-max-idle=16", "-db-delay=5ms"),
    load=Load(workers=10, rate_per_worker=5),
    limit="none",
    look_at="nothing",
    alerts=(),
)
NOTIFICATIONS = """
route:
  receiver: page-only
  group_by: [run, instance]
  group_wait: 10s
  group_interval: 1m
  routes:
    - {{matchers: ['severity="critical"'], receiver: pager}}
    - {{matchers: ['severity="warning"'], receiver: chat}}
receivers:
  - name: page-only
  - {{name: pager, webhook_configs: [{{url: '{url}/pager'}}]}}
  - {{name: chat, webhook_configs: [{{url: '{url}/chat'}}]}}
"""
BUSY = {
    "cpu_mean": 'avg(1 - rate(node_cpu_seconds_total{mode="idle"}[%dm]))',
    "cpu_pressure_mean": "max(rate(node_pressure_cpu_waiting_seconds_total[%dm]))",
    "load1_highest": "max(max_over_time(node_load1[%dm]))",
    "requests_per_second": "sum(rate(loadtest_requests_total[%dm]))",
    "failed_share": 'sum(rate(loadtest_requests_total{outcome!="ok"}[%dm])) / sum(rate(loadtest_requests_total[%dm]))',
}


@dataclass(slots=True)
class Hook:
    """Takes webhooks and keeps what they say."""

    messages: list[tuple[str, str, list[str]]] = field(default_factory=list[tuple[str, str, list[str]]])
    """Receiver, status and names of alerts."""

    @contextmanager
    def listening(self) -> Generator[str]:
        """Listen on a free port until the block ends; gives the address."""
        hook = self

        class Page(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                names = sorted({alert["labels"]["alertname"] for alert in document["alerts"]})
                hook.messages.append((self.path.strip("/"), document["status"], names))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """See the base class."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, name="hook", daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()


def main(arguments: Sequence[str]) -> int:
    """Watches for the time given and writes the result."""
    minutes = int(arguments[0]) if arguments else MINUTES
    build_application()
    folder = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    hook = Hook()
    try:
        with ExitStack() as stack:
            url = stack.enter_context(hook.listening())
            loadwatch = _watch(stack, folder, url, seconds=minutes * 60 + SPARE_SECONDS)
            time.sleep(minutes * 60)
            alerts = _alerts(loadwatch.url)
            busy = {name: _value(loadwatch, text.replace("%d", str(minutes))) for name, text in BUSY.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _write(minutes, alerts, hook.messages, busy)
    return 0


def _watch(stack: ExitStack, folder: Path, hook: str, *, seconds: float) -> Loadwatch:
    """Everything that runs during the hour."""
    database = stack.enter_context(running_database(folder, max_connections=MAX_CONNECTIONS))
    app_port = free_port()
    notifications = folder / "notifications.yml"
    notifications.write_text(NOTIFICATIONS.format(url=hook), encoding="utf-8")
    listen = f"127.0.0.1:{free_port()}"
    loadwatch = Loadwatch(f"http://{listen}")
    server = ManagedProcess(
        "Loadwatch's server",
        [Path(sys.executable).with_name("loadwatch"), "server"],
        log=folder / "server.log",
        environment={
            "LOADWATCH_LISTEN": listen,
            "LOADWATCH_DATA": str(folder / "data"),
            "LOADWATCH_NOTIFICATIONS": str(notifications),
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
        },
        drop_prefix=OWN_SETTINGS,
    )
    stack.enter_context(server)
    wait_until("Loadwatch's server", loadwatch.ready, seconds=120, process=server)
    secret = write_secret(folder / "monitor-password", database.passwords[MONITOR_USER])
    config = agent_config(
        server_url=loadwatch.url,
        spool=folder / "spool",
        apps=[WatchedApp(instance="demo-app", port=app_port)],
        database=database,
        secret=secret,
    )
    stack.enter_context(
        running_application(folder, name=HEALTHY.name, flags=HEALTHY.flags, port=app_port, database=database)
    )
    stack.enter_context(running_agent(folder, config))
    url = f"http://127.0.0.1:{app_port}/?name=healthy&value=21.5"
    run = AsRun(server=loadwatch.url, options=HEALTHY.run_options())
    stack.enter_context(LoadGenerator(load=HEALTHY.load, urls=[url], seconds=seconds, folder=folder, run=run))
    return loadwatch


def _alerts(url: str) -> list[dict[str, Any]]:
    """All that fired, whether it fires still or not: name, severity, and how long."""
    http = urllib3.PoolManager(retries=False, timeout=30.0)
    now_ms = time.time_ns() // 1_000_000
    found = http.request("GET", f"{url}/api/alerts").json()["alerts"]
    found += http.request("GET", f"{url}/api/alerts/history", fields={"limit": "500"}).json()["alerts"]
    return [
        {
            "name": alert["name"],
            "severity": alert["labels"].get("severity", ""),
            "summary": alert["annotations"].get("summary", ""),
            "seconds": round(((alert.get("resolved_ms") or now_ms) - alert["fired_ms"]) / 1_000),
        }
        for alert in {alert["id"]: alert for alert in found}.values()
        if alert.get("fired_ms")
    ]


def _value(loadwatch: Loadwatch, expression: str) -> float | None:
    return next(iter(loadwatch.samples(expression).values()), None)


def _write(
    minutes: int,
    alerts: Sequence[Mapping[str, Any]],
    messages: Sequence[tuple[str, str, list[str]]],
    busy: Mapping[str, float | None],
) -> None:
    by_severity = Counter(alert["severity"] for alert in alerts)
    told = Counter(receiver for receiver, status, _ in messages if status == "firing")
    good = by_severity["critical"] <= GOAL_CRITICAL and by_severity["warning"] <= GOAL_WARNING
    rows = [
        f"| {alert['name']} | {alert['severity']} | {alert['seconds']} s | {alert['summary']} |" for alert in alerts
    ]
    figures = ", ".join(f"{name} {value:.3g}" for name, value in busy.items() if value is not None)
    text = f"""
`python -m bench.alerts.busy_host {minutes}`: a healthy application on a busy host, under the default rules.

How busy it was: {figures}.

Alerts that fired: {by_severity["critical"]} critical (goal {GOAL_CRITICAL}), {by_severity["warning"]} warning
(goal at most {GOAL_WARNING}), {by_severity["info"]} info. Messages: {told["pager"]} to the pager, {told["chat"]} to the
chat. The goal was {"reached" if good else "MISSED"}.

| alert | severity | for | what it said |
| --- | --- | --- | --- |
{chr(10).join(rows) or "| none | | | |"}
"""
    result = {
        "machine": describe_machine(),
        "minutes": minutes,
        "busy": dict(busy),
        "alerts": list(alerts),
        "messages": [{"receiver": one, "status": status, "alerts": names} for one, status, names in messages],
    }
    write_result("busy-host", "A healthy, busy host", text, result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
