"""Writes the data of one commit, with that commit's own commands: `README.md` beside this file says how to call it."""

import json
import os
import shutil
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from collectors.tests.receiver import Receiver, running
from tests.alerting import Pager, make_watch, wait_for
from tests.ports import free_port
from tests.run_cli import ROOT, Cli
from tests.serving import RealServer

HERE = Path(__file__).parent
PASSWORD = "four old wooden boats"
K6 = ROOT / "backend" / "tests" / "importers" / "fixtures" / "k6" / "run.csv.gz"
TARGET = {"job": "shop", "instance": "shop-1"}
CONFIGURATION = {
    # The agent's file names variables for its secrets, and no AWS is asked.
    "LOADWATCH_BEFORE_TOKEN": "x",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_EC2_METADATA_DISABLED": "true",
    "LOADWATCH_RULES": "rules.yml",
    "LOADWATCH_NOTIFICATIONS": "notifications.yml",
    "LOADWATCH_DEFAULT_RULES": "false",
}
LIVE = "20261123-000000-live"
LENGTH_S = 60
SCRAPES = 5


class Client:
    """The API of a server, with a token."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self._token = token
        self._http = urllib3.PoolManager(retries=False, timeout=120)

    def ask(self, method: str, path: str, content: Any = None, kind: Mapping[str, str] | None = None) -> bytes:
        """The body of an answer below 300; bytes are sent as they are, anything else as JSON."""
        sent = content if isinstance(content, bytes) or content is None else json.dumps(content).encode()
        headers = {"content-type": "application/json", **(kind or {})}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        answer = self._http.request(method, self.url + path, body=sent, headers=headers)
        assert answer.status < 300, (method, path, answer.status, answer.data[:2_000])
        return answer.data

    def json(self, method: str, path: str, content: Any = None) -> Any:
        """The document of an answer."""
        return json.loads(self.ask(method, path, content) or b"null")

    def session(self) -> str:
        """Sign in as the user; returns the cookie."""
        content = json.dumps({"name": "ann", "password": PASSWORD}).encode()
        headers = {"content-type": "application/json", "origin": self.url}
        answer = self._http.request("POST", f"{self.url}/api/session/password", body=content, headers=headers)
        assert answer.status == 200, answer.data
        return answer.headers["set-cookie"].partition(";")[0]

    def write(self, name: str, labels: Mapping[str, str], *rows: tuple[int, float]) -> None:
        """Samples of one series, times in milliseconds."""
        written = body(series({"__name__": name, **TARGET, **labels}, *rows))
        self.ask("POST", "/prometheus/api/v1/write", written, HEADERS)

    def imported(self, path: str, content: bytes) -> str:
        """Send a result file and wait for its run; returns the run's id."""
        job = json.loads(self.ask("POST", path, content, {"content-type": "application/octet-stream"}))
        wait_for("the import", lambda: self.json("GET", f"/api/imports/{job['id']}")["state"] in ("done", "failed"))
        done = self.json("GET", f"/api/imports/{job['id']}")
        assert done["state"] == "done", done
        return str(done["run"])


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def write_samples(client: Client, start_ms: int) -> None:
    """Five series, a counter, a histogram's buckets and the largest and smallest of numbers among them."""
    seconds = range(LENGTH_S)
    for code, rate in (("200", 40), ("503", 2)):
        rows = [(start_ms + 1_000 * second, float(second * rate)) for second in seconds]
        client.write("http_requests_total", {"code": code}, *rows)
    for bound, share in (("0.1", 0.5), ("+Inf", 1.0)):
        rows = [(start_ms + 1_000 * second, second * 42 * share) for second in seconds]
        client.write("http_request_duration_seconds_bucket", {"le": bound}, *rows)
    odd = [0.1, -1.5e300, float("inf"), 5e-324, 1 / 3, 0.0]
    # What becomes a snapshot of the configuration when a run begins.
    client.write("mysql_global_variables_max_connections", {}, (now_ms(), 151.0))
    client.write("odd", {"place": "値"}, *((start_ms + 1_000 * second, odd[second % len(odd)]) for second in seconds))


def samples_questions(start_ms: int) -> list[str]:
    asked = (
        "http_requests_total",
        "odd",
        "sum by (code) (rate(http_requests_total[15s]))",
        "histogram_quantile(0.4, rate(http_request_duration_seconds_bucket[30s]))",
    )
    span = {"start": start_ms / 1_000, "end": start_ms / 1_000 + LENGTH_S - 1, "step": 1}
    return [f"/prometheus/api/v1/query_range?{urllib.parse.urlencode({'query': one, **span})}" for one in asked]


def write_words(client: Client, at_ms: int) -> None:
    """Annotations and silences: one of each that is over, one that holds, one that comes again."""
    for text, length_ms in (("deployed", None), ("荷重試験", 30_000)):
        end_ms = None if length_ms is None else at_ms + length_ms
        note = {"author": "ann", "text": text, "start_ms": at_ms, "end_ms": end_ms, "tags": ["release", "v2"]}
        client.json("POST", "/api/annotations", note)
    matchers = [{"name": "room", "operator": "=", "value": "c"}]
    held = {"matchers": matchers, "starts_ms": at_ms, "ends_ms": at_ms + 86_400_000, "comment": "being mended"}
    client.json("POST", "/api/silences", held)
    nightly = {"weekdays": [0, 6], "from_time": "22:00", "to_time": "06:00", "time_zone": "Asia/Tokyo"}
    client.json("POST", "/api/silences", {**held, "comment": "at night", "recurrence": nightly})
    over = client.json("POST", "/api/silences", {**held, "comment": "over"})
    client.json("POST", f"/api/silences/{over['id']}/expire")


def write_alerts(client: Client, pager: Pager) -> None:
    """One alert that has ended and was told of, one that is silenced and acknowledged, one whose message waits."""
    client.write("temperature", {"room": "b"}, (now_ms(), 35.0))
    wait_for("told", lambda: pager.statuses() == ["firing"])
    client.write("temperature", {"room": "b"}, (now_ms(), 20.0))
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"])
    client.write("temperature", {"room": "c"}, (now_ms(), 40.0))
    wait_for("firing", lambda: len(client.json("GET", "/api/alerts")["alerts"]) == 1)
    (silenced,) = client.json("GET", "/api/alerts")["alerts"]
    client.json("PUT", f"/api/alerts/{silenced['id']}/acknowledgement", {"comment": "on it"})
    pager.close()
    client.write("temperature", {"room": "a"}, (now_ms(), 36.5))
    wait_for("a message that waits", lambda: len(waiting(client)) == 1 and waiting(client)[0]["attempts"] > 0)


def waiting(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.json("GET", "/api/deliveries")["deliveries"]
    return [one for one in found if one["state"] != "delivered"]


def write_runs(client: Client) -> tuple[str, str]:
    """An imported run with a review and a share link, and one under way; returns the first's id and the link's path."""
    told = {
        "name": "boats",
        "scenario": "checkout",
        "scenario_version": "2",
        "commit": "1f0c2ab",
        "branch": "main",
        "tag": "nightly",
        "parameter": "vus=5",
        "threshold": "p95<300ms",
        "target_rate": "50",
    }
    run = client.imported(f"/api/imports?{urllib.parse.urlencode(told)}", K6.read_bytes())
    client.json("PUT", f"/api/runs/{run}/baseline")
    review = {"version": 0, "author": "ann", "approach": "as always", "outcome": "well", "attendees": ["ann", "bo"]}
    for version in (0, 1):
        expected = [{"expression": "p95<250ms", "note": "hoped"}]
        client.json("PUT", f"/api/runs/{run}/review", {**review, "version": version, "expected": expected})
    share = client.json("POST", f"/api/runs/{run}/shares", {"days": 300, "note": "for the client"})
    live = {
        "id": LIVE,
        "name": "under way",
        "scenario": "checkout",
        "tool": "vegeta",
        "command": ["vegeta", "attack"],
        "parameters": {"rate": "50"},
        "links": [{"url": "https://example.org/1", "title": "one"}],
        "thresholds": ["error_rate<1%"],
        "expectations": ["p95<200ms"],
    }
    client.json("POST", "/api/runs", live)
    at = {"at_ms": now_ms(), "elapsed_seconds": 1.5, "requests": 70, "rate": 47.5, "failures": 1}
    client.json("POST", f"/api/runs/{live['id']}/progress", at)
    return run, share["path"]


def questions(run: str, start_ms: int) -> list[str]:
    """All that a server is asked for, before and after."""
    own = ("", "/seconds?max_points=10", "/figures?from_seconds=1&to_seconds=4", "/snapshots", "/review")
    return [
        *samples_questions(start_ms),
        *(f"/api/runs/{run}{part}" for part in (*own, "/review/history", "/shares")),
        "/api/runs",
        "/api/runs/facets",
        f"/api/runs/{LIVE}",
        f"/api/runs/{LIVE}/snapshots?everything=true",
        f"/api/annotations?start_ms={start_ms - 60_000}&end_ms={start_ms + 600_000}",
        "/api/silences",
        "/api/alerts?sparklines=false",
        f"/api/alerts/history?start_ms={start_ms}&end_ms={start_ms + 600_000}",
        "/api/deliveries",
        "/api/users",
        "/api/tokens",
    ]


def make_server(folder: Path) -> dict[str, Any]:
    """A server's data directory, of a server that was killed; returns what it answered."""
    pager = Pager()
    watch = make_watch(folder, pager, environment={"LOADWATCH_ACCESS": "users"})
    cli = Cli(server=watch.server.url, directory=folder, environment={"LOADWATCH_DATA": str(watch.server.data)})
    made = cli("user", "create", "--role", "admin", "--name", "ann", stdin=f"{PASSWORD}\n".encode())
    assert made.returncode == 0, made.stderr
    token = cli("token", "create", "--role", "admin", "--name", "before").stdout.strip()
    agent = cli("token", "create", "--scope", "samples:write", "--name", "agent").stdout.strip()
    with killed_at_the_end(watch.server):
        return fill_server(watch.server, pager, token, agent)


@contextmanager
def killed_at_the_end(server: RealServer) -> Generator[None]:
    """What it has written is in the logs of its databases then, which the next start has to read."""
    server.start()
    try:
        yield
    finally:
        server.kill()


def fill_server(server: RealServer, pager: Pager, token: str, agent: str) -> dict[str, Any]:
    """Write everything; returns what was answered then."""
    client = Client(server.url, token)
    start_ms = (now_ms() // 1_000 - LENGTH_S) * 1_000
    write_samples(Client(server.url, agent), start_ms)
    session = client.session()
    write_words(client, start_ms + 10_000)
    run, share = write_runs(client)
    server.stop()
    server.start()
    write_alerts(client, pager)
    answers = {path: client.json("GET", path) for path in questions(run, start_ms)}
    (server.directory / "archive.zip").write_bytes(client.ask("GET", f"/api/runs/{run}/archive"))
    return {
        "at_ms": now_ms(),
        "password": PASSWORD,
        "token": token,
        "session": session,
        "run": run,
        "share": share,
        "waiting": answers["/api/deliveries"]["deliveries"][0]["id"],
        "answers": answers,
    }


@contextmanager
def counting_page() -> Generator[str]:
    """A page for the collector prometheus, with a number that grows by one at each look."""
    looks = iter(range(1, 1_000_000))

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = f'# TYPE looks_total counter\nlooks_total{{path="/a"}} {next(looks)}\n'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def agent_configuration(server: str, spool: Path, page: str) -> str:
    """Of the agent with the spool; samples are kept however old they are."""
    return (
        f"server: {{url: '{server}'}}\ninterval: 200ms\nspool: {{directory: '{spool}', max_age: 36500d}}\n"
        f"targets: [{{job: page, instance: page-1, prometheus: {{url: '{page}'}}}}]\n"
    )


def make_spool(folder: Path) -> list[tuple[str, int, int]]:
    """The spool of an agent that was killed without its server; returns what a copy of it delivered."""
    folder.mkdir()
    receiver = Receiver(port=free_port())
    config, spool = folder / "loadwatch.yml", folder / "spool"
    cli = Cli(server="", directory=folder)
    with counting_page() as page:
        config.write_text(agent_configuration(receiver.url, spool, page))
        for _ in range(2):  # So that there are two files of it.
            kept = len(list(spool.glob("*.frames")))
            process = cli.start("agent", "--config", str(config))
            wait_for("a file", lambda least=kept: len(list(spool.glob("*.frames"))) > least)
            time.sleep(SCRAPES * 0.2)
            process.kill()
            process.wait()
    killed_ms = now_ms()
    shutil.copytree(spool, folder / "copy")
    config.write_text(agent_configuration(receiver.url, folder / "copy", page))
    with running(receiver):
        process = cli.start("agent", "--config", str(config))
        receiver.wait_for(lambda: any(sample.timestamp_ms > killed_ms + 1_000 for sample in receiver.samples))
        process.terminate()
        process.wait()
    shutil.rmtree(folder / "copy")
    return sorted(
        (json.dumps(sample.labels, sort_keys=True), sample.timestamp_ms, sample.bits)
        for sample in receiver.samples
        if sample.timestamp_ms <= killed_ms
    )


def commands() -> list[tuple[str, ...]]:
    """What is asked of the configuration files."""
    labels = ("alertname=OrdersFail", "severity=critical", "job=mysql", "instance=db-1")
    return [
        ("check", "--config", "loadwatch.yml", "--json"),
        ("routes", "check", "notifications.yml"),
        ("routes", "test", "notifications.yml", *labels),
        ("routes", "test", "notifications.yml", "severity=warning"),
        ("rules", "check", "rules.yml"),
    ]


def configuration_answers(cli: Cli) -> list[Any]:
    """What the commands say of the files in their working directory: of the collectors, what stands in the file."""
    said: list[Any] = []
    for command in commands():
        done = cli(*command)
        assert done.returncode in (0, 1), done.stderr
        said.append(what_stands(json.loads(done.stdout)) if "--json" in command else done.stdout)
    return said


def what_stands(report: dict[str, list[dict[str, Any]]]) -> list[list[Any]]:
    keys = ("job", "instance", "collector", "where", "interval_seconds")
    return [[one[key] for key in keys] for one in report["collectors"]]


def routing_answers(client: Client) -> dict[str, Any]:
    """What a server says of its files."""
    return {path: client.json("GET", path) for path in ("/api/routes", "/api/receivers", "/api/rules")}


def make_runs(folder: Path, archive: bytes) -> dict[str, Any]:
    """A run that waits on disk; returns what was said of a copy of it, of the archive's run, and of the files."""
    cli = Cli(server="", directory=folder, environment=CONFIGURATION)
    said = configuration_answers(cli)
    cli.add_vegeta("pool-waits.csv.gz", 1)
    told = ("--name", "offline", "--author", "ann", "--scenario", "checkout", "--tag", "kept", "--param", "vus=5")
    done = cli(
        "run", "--offline", *told, "--threshold", "p95<1us", "--", "vegeta", "attack", "-rate=20", "-duration=1s"
    )
    assert done.returncode == 0, done.stderr
    shutil.copytree(cli.state, folder / "kept")
    server = RealServer(
        folder,
        {name: str(folder / value) if value.endswith(".yml") else value for name, value in CONFIGURATION.items()},
    )
    server.start()
    try:
        files = routing_answers(Client(server.url))
        cli.server = server.url
        assert cli("sync").returncode == 0
        client = Client(server.url)
        client.ask("POST", "/api/archives", archive, {"content-type": "application/zip"})
        runs = {one["id"]: client.json("GET", f"/api/runs/{one['id']}") for one in cli.list()}
        return {"commands": said, "files": files, "runs": runs}
    finally:
        server.stop()


def pack(target: Path, parts: Mapping[str, Path]) -> None:
    """One compressed file of files and folders."""
    with tarfile.open(target, "w:xz") as archive:
        for name, path in parts.items():
            archive.add(path, name)


def main(commit: str) -> None:
    """Write `<commit>.tar.xz`; the commit must be the one whose code this is running."""
    # A folder that says nothing of the machine: its name is in what is kept.
    with tempfile.TemporaryDirectory(prefix="lw-") as temporary:
        folder = Path(temporary)
        os.environ.update(LOGNAME="ann", USER="ann")
        expected = make_server(folder / "server")
        archive = (folder / "server" / "archive.zip").read_bytes()
        expected["spool"] = make_spool(folder / "agent")
        shutil.copytree(HERE / "configuration", folder / "runs")
        expected |= make_runs(folder / "runs", archive)
        (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False))
        parts = {
            "data": folder / "server" / "data",
            "archive.zip": folder / "server" / "archive.zip",
            "spool": folder / "agent" / "spool",
            "runs": folder / "runs" / "kept",
            "expected.json": folder / "expected.json",
        }
        pack(HERE / f"{commit}.tar.xz", parts)


if __name__ == "__main__":
    main(sys.argv[1])
