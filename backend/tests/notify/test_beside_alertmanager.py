"""The same alerts by the same time line at the real Alertmanager and at the dispatcher: the same messages follow.

Groups are told apart by Alertmanager's own group keys, so these are compared too, and whole documents but for times.
Alertmanager runs in real time; its side is one run for all groups. Ours runs by a clock that the test moves.
"""

import json
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loadwatch_backend.alerting.notify.model import NotifiedAlert

from backend.tests.notify.desk import Desk
from tests.serving import free_port

ALERTMANAGER = shutil.which("prometheus-alertmanager") or ""

# Debian's Alertmanager (0.25) knows all of this file but the receivers' addresses, which differ.
CONFIG = """
route:
  receiver: hook
  group_by: [alertname]
  group_wait: 700ms
  group_interval: 2s
  repeat_interval: 5s
  routes:
  - matchers: [team="b"]
    receiver: second
    continue: true
    group_by: [team, zone]
  - matchers: [team=~"a|b"]
    group_wait: 0s
    repeat_interval: 1h
inhibit_rules:
- source_matchers: [severity="page"]
  target_matchers: [severity="warn"]
  equal: [db]
receivers:
- name: hook
  webhook_configs: [{url: 'URL/hook'}]
- name: second
  webhook_configs: [{url: 'URL/second', max_alerts: 1}]
"""


@dataclass(frozen=True)
class Event:
    """At some seconds, an alert begins or ends. Times keep clear of the ticks: 0.7 and then every 2 s."""

    at: float
    name: str
    firing: bool
    labels: tuple[tuple[str, str], ...] = ()


def event(at: float, name: str, firing: bool, **labels: str) -> Event:
    return Event(at, name, firing, tuple(labels.items()))


EVENTS = [
    # One group: another joins, one ends, the other is repeated, the last ends.
    event(0.0, "Lag", True, instance="a"),
    event(1.6, "Lag", True, instance="b"),
    event(3.6, "Lag", False, instance="a"),
    event(11.6, "Lag", False, instance="b"),
    # Over before anybody was told.
    event(0.0, "Blip", True),
    event(0.3, "Blip", False),
    # Ends and begins again between two looks.
    event(0.0, "Flap", True, team="a"),
    event(0.9, "Flap", False, team="a"),
    event(1.3, "Flap", True, team="a"),
    # Silenced at first; told when the silence is over.
    event(0.0, "Silent", True),
    # Held by its cause, which ends; another of another database is not.
    event(0.0, "Slow", True, severity="warn", db="orders"),
    event(0.0, "Slower", True, severity="warn", db="users"),
    event(0.0, "Down", True, severity="page", db="orders"),
    event(3.6, "Down", False, severity="page", db="orders"),
    # Two routes, two receivers, other group labels.
    event(0.0, "Both", True, team="b", zone='x\n"1"'),
    event(0.0, "Also", True, team="b", zone='x\n"1"'),
    event(3.6, "Both", False, team="b", zone='x\n"1"'),
]
SILENCE_SECONDS = 5.6
END = 14.0
PLAYS = 6

Messages = dict[tuple[str, str], list[dict[str, Any]]]


def gathered(documents: list[dict[str, Any]]) -> Messages:
    """Documents by receiver and group, in order, without what must differ."""
    found: Messages = {}
    for document in documents:
        alerts = sorted(
            (
                {name: alert[name] for name in ("status", "labels", "annotations", "fingerprint")}
                for alert in document["alerts"]
            ),
            key=lambda alert: str(alert["labels"]),
        )
        kept = {name: value for name, value in document.items() if name not in ("externalURL", "alerts")}
        found.setdefault((document["receiver"], document["groupKey"]), []).append({**kept, "alerts": alerts})
    return found


# Ours -----------------------------------------------------------------------------------------------------------------


def ours(folder: Path) -> list[dict[str, Any]]:
    desk = Desk(folder, CONFIG.replace("URL", "https://hook.example.org"))
    desk.silence(SILENCE_SECONDS, alertname="Silent")
    begun: dict[tuple[str, tuple[tuple[str, str], ...]], NotifiedAlert] = {}
    at = 0.0
    for number, one in enumerate(sorted(EVENTS, key=lambda one: one.at)):
        if one.at > at:
            desk.wait(one.at - at)
            at = one.at
        key = (one.name, one.labels)
        if one.firing:
            begun[key] = NotifiedAlert(
                key=str(number),
                labels={"alertname": one.name, **dict(one.labels)},
                annotations={"summary": f"{one.name} is wrong"},
                starts_ms=desk.now_ms,
                ends_ms=None,
                generator_url="",
            )
            desk.take(begun[key])
        else:
            alert = begun[key]
            desk.take(
                NotifiedAlert(
                    key=alert.key,
                    labels=alert.labels,
                    annotations=alert.annotations,
                    starts_ms=alert.starts_ms,
                    ends_ms=desk.now_ms,
                    generator_url="",
                )
            )
    desk.wait(END - at)
    sent = [one.document for one in desk.sent()]
    desk.close()
    return sent


# Alertmanager's -------------------------------------------------------------------------------------------------------


@contextmanager
def listening(documents: list[dict[str, Any]]) -> Generator[str]:
    """A receiver that keeps what it is sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            documents.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def post(url: str, body: object) -> None:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200


def theirs(folder: Path) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    with listening(documents) as receiver:
        (folder / "alertmanager.yml").write_text(CONFIG.replace("URL", receiver))
        port = free_port()
        process = subprocess.Popen(
            [
                ALERTMANAGER,
                f"--config.file={folder}/alertmanager.yml",
                f"--storage.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
                "--log.level=error",
            ],
            cwd=folder,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_ready(url)
            play(f"{url}/api/v2")
        finally:
            process.terminate()
            process.wait(60)
    return documents


def wait_until_ready(url: str) -> None:
    for _ in range(1_200):
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("Alertmanager is not ready")


def play(url: str) -> None:
    now = datetime.now(UTC)
    post(
        f"{url}/silences",
        {
            "matchers": [{"name": "alertname", "value": "Silent", "isRegex": False, "isEqual": True}],
            "startsAt": now.isoformat(),
            "endsAt": (now + timedelta(seconds=SILENCE_SECONDS)).isoformat(),
            "createdBy": "ada",
            "comment": "maintenance",
        },
    )
    start = time.monotonic()
    begun: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
    for at in sorted({one.at for one in EVENTS}):
        time.sleep(max(0.0, start + at - time.monotonic()))
        now_text = datetime.now(UTC).isoformat()
        alerts: list[dict[str, Any]] = []
        for one in EVENTS:
            if one.at != at:
                continue
            if one.firing:
                begun[one.name, one.labels] = now_text
            alerts.append(
                {
                    "labels": {"alertname": one.name, **dict(one.labels)},
                    "annotations": {"summary": f"{one.name} is wrong"},
                    "startsAt": begun[one.name, one.labels],
                    **({} if one.firing else {"endsAt": now_text}),
                }
            )
        post(f"{url}/alerts", alerts)
    time.sleep(max(0.0, start + END - time.monotonic()))


def test_the_same_messages_as_alertmanager(tmp_path: Path) -> None:
    assert ALERTMANAGER, "apt-get install prometheus-alertmanager"
    (tmp_path / "ours").mkdir()
    found = gathered(ours(tmp_path / "ours"))
    plays: list[Messages] = []
    # On a machine that is so busy that its clock's ticks and our events change places, it is played again.
    while found not in plays and len(plays) < PLAYS:
        folder = tmp_path / str(len(plays))
        folder.mkdir()
        plays.append(gathered(theirs(folder)))
    assert found == plays[-1]
