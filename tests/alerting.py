"""A real server that watches a temperature, and a real receiver of webhooks: for whole-system tests of alerts."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3
from loadwatch_backend.core.database.relational import Relational, default_url, open_relational
from sqlalchemy import text

from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import RealServer

RULES = """
groups:
  - name: rooms
    interval: 500ms
    rules:
      - alert: Hot
        expr: temperature > 30
        for: {for_}
        labels: {{severity: page}}
        annotations: {{summary: "{{{{ $labels.room }}}} is {{{{ $value }}}} degrees"}}
"""
ROUTES = """
route:
  receiver: pager
  group_by: [alertname, room]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 24h
receivers:
  - name: pager
    webhook_configs:
      - url: {url}
        send_resolved: true
"""
PAUSE_SECONDS = 0.02


@dataclass(frozen=True)
class Heard:
    """One request at the receiver."""

    id: str
    status: str
    alerts: list[dict[str, Any]]


class Pager:
    """Takes webhooks and remembers them."""

    def __init__(self) -> None:
        pager = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                document = json.loads(self.rfile.read(int(self.headers["content-length"])))
                pager.heard.append(
                    Heard(id=self.headers["webhook-id"], status=document["status"], alerts=document["alerts"])
                )
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.heard: list[Heard] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def statuses(self) -> list[str]:
        """What was told, each message once however often it came."""
        return [heard.status for heard in {heard.id: heard for heard in self.heard}.values()]


@dataclass
class Watch:
    """A server with one rule and one receiver."""

    server: RealServer
    pager: Pager
    http: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=False, timeout=60))

    def write(self, value: float, room: str = "a", age_ms: int = 0, ahead_ms: int = 0) -> None:
        """Send one sample of now."""
        at_ms = time.time_ns() // 1_000_000 - age_ms + ahead_ms
        content = body(series({"__name__": "temperature", "room": room}, (at_ms, value)))
        answer = self.http.request("POST", f"{self.server.url}/prometheus/api/v1/write", body=content, headers=HEADERS)
        assert answer.status == 204, answer.data

    def get(self, path: str) -> Any:
        """An answer of the API."""
        answer = self.http.request("GET", self.server.url + path)
        assert answer.status == 200, answer.data
        return json.loads(answer.data)

    def alerts(self) -> list[dict[str, Any]]:
        """The alerts of now."""
        found: list[dict[str, Any]] = self.get("/api/alerts?sparklines=false")["alerts"]
        return [alert for alert in found if alert["name"] == "Hot"]

    def acknowledge(self, alert_id: str) -> None:
        """As somebody who looks at it."""
        answer = self.http.request(
            "PUT",
            f"{self.server.url}/api/alerts/{alert_id}/acknowledgement",
            body=b'{"comment": "on it"}',
            headers={"content-type": "application/json"},
        )
        assert answer.status == 200, answer.data

    def state(self) -> str:
        """Of the one alert; `inactive` when there is none."""
        alerts = self.alerts()
        return str(alerts[0]["state"]) if alerts else "inactive"


def make_watch(
    directory: Path, pager: Pager, *, for_: str = "0s", environment: Mapping[str, str] | None = None
) -> Watch:
    """A server that is not started yet."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "rules.yml").write_text(RULES.format(for_=for_))
    (directory / "notifications.yml").write_text(ROUTES.format(url=pager.url))
    settings = {
        "LOADWATCH_RULES": str(directory / "rules.yml"),
        "LOADWATCH_DEFAULT_RULES": "false",
        "LOADWATCH_NOTIFICATIONS": str(directory / "notifications.yml"),
        "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
        **(environment or {}),
    }
    return Watch(server=RealServer(directory, settings), pager=pager)


def wait_for(what: str, holds: Callable[[], bool], seconds: float = 180) -> None:
    """Wait until something holds; connection errors are answers that are not there yet."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except (urllib3.exceptions.HTTPError, AssertionError):
            pass
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(f"not within {seconds} s: {what}")


def open_tables(watch: Watch) -> Relational:
    """The tables of a server, beside it or after its end."""
    return open_relational(watch.server.environment.get("LOADWATCH_DATABASE_URL") or default_url(watch.server.data))


def transitions(watch: Watch) -> list[tuple[str | None, str, str]]:
    """All changes in the tables, in order: from, to, reason."""
    relational = open_tables(watch)
    try:
        with relational.transaction() as session:
            rows = session.execute(text("SELECT from_state, to_state, reason FROM alert_transitions ORDER BY id")).all()
            return [(row[0], row[1], row[2]) for row in rows]
    finally:
        relational.close()
