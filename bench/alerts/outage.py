"""From the end of a receiver's outage to its page, beside Alertmanager in the same run.

`python -m bench.alerts.outage SECONDS`. Ten receivers for each way in which receivers fail, each with an alert of its
own, all of them away for so long and back at the same instant. Both systems call the same receivers.
"""

import json
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.alerts.systems import LOADWATCH_PATH, PEER_PATH, loadwatch, prometheus
from bench.alerts.watched import Target
from bench.machine import RESULTS, describe_machine, write_result

WAYS: Mapping[str, str] = {
    "refuses": "refuses connections",
    "hangs": "does not answer",
    "500": "answers 500",
    "404": "answers 404",
}
COUNT = 10
PATIENCE_SECONDS = 660.0
"""After the outage; Alertmanager's next flush comes within five minutes."""
GROUP_INTERVAL = "5m"
"""Alertmanager's own default."""
GOALS = {120: 15.0, 3_600: 70.0}
RESULT = "outage"


@dataclass(slots=True)
class Failing:
    """A receiver that fails in one way until it is back; `told` is when each path was taken, in monotonic seconds."""

    way: str
    port: int
    told: dict[str, float] = field(default_factory=dict[str, float])
    tries: dict[str, int] = field(default_factory=dict[str, int])
    _back: threading.Event = field(default_factory=threading.Event)
    _servers: list[ThreadingHTTPServer] = field(default_factory=list[ThreadingHTTPServer])

    def begin(self) -> None:
        """Fail from now on."""
        if self.way != "refuses":
            self._listen()

    def come_back(self) -> None:
        """Take messages from now on."""
        self._back.set()
        if self.way == "refuses":
            self._listen()

    def close(self) -> None:
        """Stop listening."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _listen(self) -> None:
        receiver = self

        class Hook(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                at = time.monotonic()
                self.rfile.read(int(self.headers["Content-Length"]))
                receiver.tries[self.path] = receiver.tries.get(self.path, 0) + 1
                status = 200
                if not receiver._back.is_set():
                    if receiver.way == "hangs":
                        time.sleep(PATIENCE_SECONDS)  # whoever asked has hung up long before
                        return
                    status = int(receiver.way)
                else:
                    receiver.told.setdefault(self.path, at)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """See the base class."""

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Hook)
        server.daemon_threads = True
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, name="bench-receiver", daemon=True).start()


def main(arguments: Sequence[str]) -> int:
    """Runs one outage and writes it beside those of other lengths."""
    seconds = int(arguments[0]) if arguments else 120
    receivers = _receivers()
    scratch = Path(tempfile.mkdtemp(prefix="loadwatch-bench-"))
    target = Target(1)
    try:
        for receiver in receivers:
            receiver.begin()
        with (
            loadwatch(
                scratch / "ours", target.port, 0, _rules(), agent=False, routing=_routing(receivers, LOADWATCH_PATH)
            ),
            prometheus(scratch / "peer", target.port, 0, _rules(), routing=_routing(receivers, PEER_PATH)),
        ):
            _wait_for_tries(receivers)
            print(f"  away for {seconds} s", flush=True)
            time.sleep(seconds)
            since = time.monotonic()
            before = {id(receiver): dict(receiver.tries) for receiver in receivers}
            for receiver in receivers:
                receiver.come_back()
            _wait(receivers, since)
    finally:
        for receiver in receivers:
            receiver.close()
        target.close()
        shutil.rmtree(scratch, ignore_errors=True)
    rows = [
        _row(way, name, path, [one for one in receivers if one.way == way], since, before)
        for way in WAYS
        for name, path in (("Loadwatch", LOADWATCH_PATH), ("Alertmanager", PEER_PATH))
    ]
    _write(seconds, rows)
    return 0


def _receivers() -> list[Failing]:
    """Receivers on ports that were free a moment ago, all different."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(COUNT * len(WAYS))]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return [Failing(way, port) for way, port in zip([way for way in WAYS for _ in range(COUNT)], ports, strict=True)]


def _rules() -> str:
    """An alert for each receiver, from the first evaluation on."""
    rules = [f"{{alert: Away, expr: vector(1), labels: {{place: '{number}'}}}}" for number in range(COUNT * len(WAYS))]
    return f"groups: [{{name: bench, interval: 1s, rules: [{', '.join(rules)}]}}]\n"


def _routing(receivers: Sequence[Failing], path: str) -> str:
    routes = "".join(f"    - {{receiver: r{n}, matchers: ['place=\"{n}\"']}}\n" for n in range(len(receivers)))
    hooks = "".join(
        f"  - {{name: r{n}, webhook_configs: [{{url: 'http://127.0.0.1:{one.port}{path}'}}]}}\n"
        for n, one in enumerate(receivers)
    )
    return (
        "route:\n  receiver: page\n  group_by: [alertname]\n  group_wait: 0s\n"
        f"  group_interval: {GROUP_INTERVAL}\n  repeat_interval: 4h\n  routes:\n{routes}"
        f"receivers:\n  - name: page\n{hooks}"
    )


def _wait_for_tries(receivers: Sequence[Failing]) -> None:
    """Until both systems have been refused by all that can be seen to refuse: then the outage begins."""
    deadline = time.monotonic() + 120
    while any(len(one.tries) < 2 for one in receivers if one.way != "refuses"):
        if time.monotonic() > deadline:
            raise TimeoutError("the systems did not try each receiver within two minutes")
        time.sleep(0.2)


def _wait(receivers: Sequence[Failing], since: float) -> None:
    while time.monotonic() - since < PATIENCE_SECONDS:
        if all(len(receiver.told) == 2 for receiver in receivers):
            return
        time.sleep(0.2)


def _row(
    way: str, name: str, path: str, receivers: Sequence[Failing], since: float, before: Mapping[int, Mapping[str, int]]
) -> dict[str, Any]:
    seconds = [receiver.told[path] - since for receiver in receivers if path in receiver.told]
    return {
        "way": way,
        "system": name,
        "median": statistics.median(seconds) if seconds else None,
        "best": min(seconds, default=None),
        "worst": max(seconds, default=None),
        "told": len(seconds),
        "receivers": len(receivers),
        "tries_meanwhile": statistics.mean(before[id(one)].get(path, 0) for one in receivers),
    }


def _write(seconds: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """The result of this outage, with those of others that were measured before."""
    known: dict[str, Any] = {}
    if (RESULTS / f"{RESULT}.json").exists():
        known = json.loads((RESULTS / f"{RESULT}.json").read_text())
    outages: dict[str, Any] = {**known.get("outages", {}), str(seconds): {"rows": rows, **describe_machine()}}
    text = [
        f"{COUNT} receivers for each way to fail, each with an alert that fires all the time, away together and back "
        "at the same instant; Loadwatch and Prometheus with Alertmanager called the same receivers in the same run, "
        f"with one routing file (group_wait 0, group_interval {GROUP_INTERVAL}, which is Alertmanager's default). "
        "Seconds from the end of the outage until the receiver had its message. An hour is "
        "twelve times Alertmanager's group_interval, so that its next attempt fell on the end of that outage: its best "
        "case. At another moment it is up to five minutes away where an attempt hangs or is answered 404.\n"
    ]
    for length in sorted(outages, key=int):
        goal = GOALS.get(int(length))
        aim = f"; goal: a median under {goal:g} s" if goal is not None else ""
        text += [
            f"\nAn outage of {int(length):,} s{aim}:\n",
            "| the receiver meanwhile | | median | best | worst | told | attempts meanwhile |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
            *(_line(row) for row in outages[length]["rows"]),
        ]
    result = {"machine": describe_machine(), "outages": outages}
    write_result(RESULT, "From the end of a receiver's outage to its page", "\n".join(text), result)


def _line(row: Mapping[str, Any]) -> str:
    times = " | ".join("never" if row[name] is None else f"{row[name]:.1f}" for name in ("median", "best", "worst"))
    tries = "not seen" if row["way"] == "refuses" else f"{row['tries_meanwhile']:.0f}"
    return f"| {WAYS[row['way']]} | {row['system']} | {times} | {row['told']} of {row['receivers']} | {tries} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
