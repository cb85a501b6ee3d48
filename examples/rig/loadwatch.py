"""Loadwatch itself: its server, an agent with a generated loadwatch.yml, and annotations."""

import json
import os
import sys
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
import yaml

from examples.rig.database import MONITOR_USER, SCHEMA, Database
from examples.rig.processes import ManagedProcess, RigError, free_port, port_is_free, wait_until

DEFAULT_LISTEN = "127.0.0.1:8000"
OWN_SETTINGS = "LOADWATCH_"
"""Whoever runs the demo may have a Loadwatch of their own; its database and tokens are no business of the demo."""
NOTIFICATION_SETTINGS = ("LOADWATCH_NOTIFICATIONS", "LOADWATCH_NOTIFY_NETWORKS", "LOADWATCH_EXTERNAL_URL")


def notification_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Who is told of the demo's alerts: settings of Loadwatch's that are the caller's to give, paths from here."""
    found = {name: environment[name] for name in NOTIFICATION_SETTINGS if environment.get(name)}
    if file := found.get("LOADWATCH_NOTIFICATIONS"):
        found["LOADWATCH_NOTIFICATIONS"] = str(Path(file).resolve())
    return found


def choose_listen() -> str:
    """LOADWATCH_LISTEN, or Loadwatch's usual address, or a free port when that one is taken."""
    configured = os.environ.get("LOADWATCH_LISTEN")
    if configured:
        return configured
    host, port = DEFAULT_LISTEN.split(":")
    return DEFAULT_LISTEN if port_is_free(host, int(port)) else f"{host}:{free_port()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedApp:
    """A measuring server that the agent watches."""

    instance: str
    port: int
    probe: bool = True
    """Whether marked hits go through it all the time, which are looked for in the database."""


def agent_config(
    *,
    server_url: str,
    spool: Path,
    apps: Sequence[WatchedApp],
    database: Database,
    secret: Path,
    host: str = "demo-host",
    database_instance: str = "demo-db",
    watched: Collection[str] = ("application", "database"),
) -> str:
    """The text of loadwatch.yml: the host, and Go servers and the database where they are `watched`."""
    mysql = {
        "host": "127.0.0.1",
        "port": database.port,
        "user": MONITOR_USER,
        "password_file": str(secret),
    }
    document: dict[str, Any] = {
        "server": {"url": f"{server_url}/prometheus/api/v1/write"},
        "interval": "1s",
        "spool": {"directory": str(spool)},
        "targets": [
            {
                "job": "host",
                "instance": host,
                "host": {},
                "sockets": {"ports": [*(app.port for app in apps), database.port]},
            },
            *(_app_target(app, mysql) for app in apps if "application" in watched),
            {
                "job": "mysql",
                "instance": database_instance,
                "mysql": mysql,
                "process": {"port": database.port},
                "freshness": {
                    **mysql,
                    "database": SCHEMA,
                    "tables": [{"name": "hits", "time_column": "stored_at"}],
                    "count_every": "10s",
                },
            },
        ],
    }
    if "database" not in watched:
        document["targets"].pop()
    head = "# Written for this once; a configuration to learn from, not one to keep: it goes away at the end.\n"
    return head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _app_target(app: WatchedApp, mysql: Mapping[str, Any]) -> dict[str, Any]:
    url = f"http://127.0.0.1:{app.port}"
    target: dict[str, Any] = {
        "job": "measuring-server",
        "instance": app.instance,
        "dbstats": {"url": f"{url}/debug/dbstats?reader=loadwatch"},
        "process": {"port": app.port},
    }
    if app.probe:
        target["probe"] = {
            "url": url,
            "mysql": {**mysql, "database": SCHEMA},
            "table": "hits",
            "column": "name",
            # No stage is longer behind than this; a row that a stage loses is given up soon.
            "give_up": "60s",
        }
    return target


class Loadwatch:
    """A running server: where it is, and how to leave a note in it."""

    def __init__(self, url: str) -> None:
        """`url` is the address of the page."""
        self.url = url
        self._http = urllib3.PoolManager(retries=False, timeout=5.0)

    def ready(self) -> bool:
        """Whether the server takes samples."""
        try:
            return self._http.request("GET", f"{self.url}/-/ready").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def annotate(self, text: str, *, tags: list[str]) -> bool:
        """Leave a note at this instant; False when the server did not take it."""
        note = {"author": "demo", "text": text, "start_ms": time.time_ns() // 1_000_000, "tags": tags}
        return self._post("/api/annotations", note) == 201

    def alerts_of(self, run_id: str) -> list[str]:
        """Names of the alerts that fired during a run, the first one first; none when the server does not answer."""
        try:
            answer = self._http.request("GET", f"{self.url}/api/alerts/history", fields={"run_id": run_id})
        except urllib3.exceptions.HTTPError:
            return []
        if answer.status != 200:
            return []
        alerts = sorted(answer.json()["alerts"], key=lambda alert: alert["fired_ms"])
        return list(dict.fromkeys(alert["name"] for alert in alerts))

    def _post(self, path: str, document: dict[str, Any]) -> int | None:
        try:
            return self._http.request("POST", f"{self.url}{path}", json=document).status
        except urllib3.exceptions.HTTPError:
            return None

    def samples(self, expression: str) -> dict[str, float]:
        """The values of an instant query, by the labels of their series as JSON text.

        Raises:
            RigError: the server did not answer the query.
        """
        answer = self._http.request("GET", f"{self.url}/prometheus/api/v1/query", fields={"query": expression})
        if answer.status != 200:
            raise RigError(f"the query {expression!r} was answered with {answer.status}: {answer.data[:300]!r}")
        rows = answer.json()["data"]["result"]
        return {json.dumps(row["metric"], sort_keys=True): float(row["value"][1]) for row in rows}


@contextmanager
def running_server(folder: Path, *, listen: str, settings: Mapping[str, str] | None = None) -> Generator[Loadwatch]:
    """Loadwatch's server with its data in `folder`, and further settings, until the block ends."""
    command = [Path(sys.executable).with_name("loadwatch"), "server"]
    environment = {"LOADWATCH_LISTEN": listen, "LOADWATCH_DATA": str(folder / "data"), **(settings or {})}
    loadwatch = Loadwatch(f"http://{listen}")
    log = folder / "server.log"
    with ManagedProcess(
        "Loadwatch's server", command, log=log, environment=environment, drop_prefix=OWN_SETTINGS
    ) as process:
        wait_until("Loadwatch's server", loadwatch.ready, seconds=60, process=process)
        yield loadwatch


@contextmanager
def running_agent(folder: Path, config: str) -> Generator[ManagedProcess]:
    """An agent with the given loadwatch.yml, until the block ends."""
    path = folder / "loadwatch.yml"
    path.write_text(config, encoding="utf-8")
    command = [Path(sys.executable).with_name("loadwatch"), "agent", "--config", path]
    with ManagedProcess("Loadwatch's agent", command, log=folder / "agent.log", drop_prefix=OWN_SETTINGS) as process:
        yield process


def write_secret(path: Path, secret: str) -> Path:
    """A file that only this user can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(secret)
    return path
