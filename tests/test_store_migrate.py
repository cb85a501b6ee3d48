"""`loadwatch store migrate` to real engines: cut off, refused, away, and counted in the end."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from loadwatch_backend.series.store.embedded.settings import HOUR_MS

from backend.tests.ingest.writing import HEADERS, body, series
from backend.tests.store.prometheus.engines import RealEngine, prometheus, victoria_metrics, wait_for
from backend.tests.store.prometheus.stub import Asked, Reply, StubEngine, mutual_tls
from backend.tests.store.transfer.filling import METADATA, add, counted, fill
from collectors.tests.servers import make_certificate
from tests.fork_server import ForkedLoadwatch, run_forked
from tests.serving import LOADWATCH, RealServer

NOW_MS = int(time.time() * 1000)
FIRST_MS = NOW_MS // HOUR_MS * HOUR_MS - 15 * HOUR_MS
HTTP = urllib3.PoolManager(retries=False, timeout=60)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RealEngine]:
    with victoria_metrics(tmp_path / "engine") as engine:
        yield engine


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def command(data: Path, url: str, *more: str) -> list[str]:
    return [str(LOADWATCH), "store", "migrate", "--data", str(data), "--to", url, *more]


def migrate(data: Path, url: str, *more: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return run_forked(*command(data, url, *more)[1:], environment={**os.environ, **environment}, seconds=900)


def exported(engine: RealEngine, selector: str) -> list[dict[str, Any]]:
    engine.show_all()
    answer = HTTP.request("GET", f"{engine.url}/api/v1/export", fields={"match[]": selector, "start": "0"})
    return [json.loads(line) for line in answer.data.splitlines()]


def state(data: Path) -> dict[str, Any]:
    try:
        return json.loads((data / "migration.json").read_bytes())
    except FileNotFoundError:
        return {"sent": 0}


def test_all_of_it_is_there_and_counted(data: Path, engine: RealEngine) -> None:
    count = fill(data, FIRST_MS, 15)
    done = migrate(data, engine.url)
    assert done.returncode == 0, done.stderr
    assert f"{count:,} samples sent to {engine.url}/api/v1/write" in done.stderr
    assert " a second, " in done.stderr
    assert f"all {counted(count, 15):,} samples of 13 hours are in" in done.stdout
    assert "65 stale markers and other NaN were not counted" in done.stderr
    markers = [value for line in exported(engine, "ended") for value in line["values"] if value is None]
    assert len(markers) == 13 * 5
    assert json.loads((data / "engine-queue" / "metadata.json").read_bytes())["requests_total"] == [
        {"type": "counter", "help": METADATA["requests_total"].help, "unit": ""}
    ]
    # Again: nothing is sent, and it is counted once more.
    again = migrate(data, engine.url)
    assert (again.returncode, state(data)["sent"]) == (0, count), again.stdout + again.stderr


def test_what_is_missing_is_named_by_metric_and_hour(data: Path, engine: RealEngine) -> None:
    fill(data, FIRST_MS, 3)
    assert migrate(data, engine.url).returncode == 0
    late = [({"__name__": "late", "i": "0"}, FIRST_MS + HOUR_MS + place, 1.0) for place in range(7)]
    add(data, late)
    # One that only the engine has.
    content = body(series({"__name__": "lonely"}, (FIRST_MS + 60_000, 1.0)))
    assert HTTP.request("POST", f"{engine.url}/api/v1/write", body=content, headers=HEADERS).status == 204
    engine.show_all()
    found = migrate(data, engine.url, "--verify")
    assert found.returncode == 1
    hour = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime((FIRST_MS + HOUR_MS) // 1000))
    assert found.stdout.splitlines() == [f"late {hour}: 7 samples missing"]
    assert "7 of" in found.stderr
    # The store has others than when it was sent: the engine is asked for each part, and gets what it lacks.
    mended = migrate(data, engine.url, "--no-verify")
    assert mended.returncode == 0
    assert [len(line["values"]) for line in exported(engine, "late")] == [7]
    assert all(len(set(line["timestamps"])) == len(line["timestamps"]) for line in exported(engine, '{i=""}'))


@pytest.mark.timeout(1800)
def test_killed_in_the_middle_it_goes_on(data: Path, engine: RealEngine) -> None:
    count = fill(data, FIRST_MS - 285 * HOUR_MS, 300, hosts=2, samples=5)
    kills = 0
    for _ in range(4):
        before = state(data)["sent"]
        process = ForkedLoadwatch(command(data, engine.url, "--no-verify"), stderr=subprocess.PIPE, text=True)
        while process.poll() is None and state(data)["sent"] < before + count // 8:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGKILL), said
        kills += process.returncode != 0
        assert state(data)["sent"] > before
    assert kills == 4
    done = migrate(data, engine.url)
    assert done.returncode == 0, done.stderr
    assert f"all {counted(count, 300, hosts=2):,} samples of" in done.stdout


@pytest.mark.timeout(1800)
def test_an_engine_that_is_away_is_waited_for(data: Path, engine: RealEngine) -> None:
    count = fill(data, FIRST_MS - 285 * HOUR_MS, 300, hosts=2, samples=5)
    process = ForkedLoadwatch(command(data, engine.url), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_for("some of it is sent", lambda: state(data)["sent"] > count // 8)
    engine.stop()
    assert process.stderr is not None
    said = ""
    while "waiting for it" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    # It may stop in the middle of an answer.
    assert re.search("does not answer: the connection (was refused|broke off); waiting for it", said), said
    engine.start()
    out, more = process.communicate(timeout=600)
    assert process.returncode == 0, said + more
    assert "the engine answers again" in more
    assert f"all {counted(count, 300, hosts=2):,} samples of" in out
    # Nobody waits for ever.
    engine.stop()
    gone = migrate(data, engine.url, "--verify", "--patience", "0")
    assert gone.returncode == 1
    assert "does not answer: the connection was refused" in gone.stderr
    engine.start()


def test_a_wrong_address_or_login_is_said_and_nothing_is_sent(data: Path, tmp_path: Path, engine: RealEngine) -> None:
    fill(data, FIRST_MS, 1)
    nobody = migrate(data, "http://127.0.0.1:9")
    assert (nobody.returncode, "127.0.0.1:9 does not answer: the connection was refused" in nobody.stderr) == (1, True)
    wrong = migrate(data, engine.url, "--write-to", f"{engine.url}/nothing/here")
    assert wrong.returncode == 1
    assert "the engine answered 400" in wrong.stderr or "refuses" in wrong.stderr
    assert "Traceback" not in nobody.stderr + wrong.stderr
    assert not state(data)["sent"]
    (data / "migration.json").unlink()
    with victoria_metrics(tmp_path / "locked", "-httpAuth.username=u", "-httpAuth.password=right") as locked:
        login = {"LOADWATCH_STORE_USER": "u", "LOADWATCH_STORE_PASSWORD": "wrong"}
        refused = migrate(data, locked.url, **login)
        assert refused.returncode == 1
        assert "refuses Loadwatch with status 401" in refused.stderr
        assert "wrong" not in refused.stderr.replace("what is wrong", "")
        assert migrate(data, locked.url, **{**login, "LOADWATCH_STORE_PASSWORD": "right"}).returncode == 0
    none = migrate(data, "")
    assert (none.returncode, "--to URL" in none.stderr) == (2, True)


AMAZON = {
    "LOADWATCH_STORE_AWS_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI",
}


def is_signed(asked: Asked, url: str) -> bool:
    """As Amazon checks it: by the key that it knows, over what has come."""
    found = re.search("SignedHeaders=([^,]+)", asked.headers.get("authorization", ""))
    if found is None:
        return False
    headers = {name: asked.headers[name] for name in found.group(1).split(";")}
    # botocore ships no types.
    request: Any = cast("Any", AWSRequest)(asked.method, url + asked.path, data=asked.body, headers=headers)
    request.context["timestamp"] = asked.headers["x-amz-date"]
    keys = Credentials(AMAZON["AWS_ACCESS_KEY_ID"], AMAZON["AWS_SECRET_ACCESS_KEY"])
    check: Any = SigV4Auth(keys, "aps", AMAZON["LOADWATCH_STORE_AWS_REGION"])
    signature: str = check.signature(check.string_to_sign(request, check.canonical_request(request)), request)
    return asked.headers["authorization"].endswith(f"Signature={signature}")


def gate(engine: RealEngine, admits: Callable[[Asked], bool]) -> Callable[[Asked], Reply]:
    """Lets through to the engine whom it admits, as what stands before a cluster does."""

    def answer(asked: Asked) -> Reply:
        if not admits(asked):
            return 401, {}, b"who are you?"
        kept = ("content-type", "content-encoding", "x-prometheus-remote-write-version")
        headers = {name: asked.headers[name] for name in kept if name in asked.headers}
        found = HTTP.request(asked.method, engine.url + asked.path, body=asked.body or None, headers=headers)
        return found.status, {"content-type": found.headers.get("content-type", "")}, found.data

    return answer


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", ["tenant and certificates", "signed for Amazon"])
def test_it_signs_in_as_the_server_does(way: str, data: Path, tmp_path: Path, engine: RealEngine) -> None:
    count = fill(data, FIRST_MS, 3)
    if way == "signed for Amazon":
        stub, login = StubEngine(), AMAZON
        stub.read = gate(engine, lambda asked: is_signed(asked, stub.url))
    else:
        key, certificate = make_certificate(tmp_path)
        stub = StubEngine(tls=mutual_tls(certificate, key))
        stub.read = gate(engine, lambda asked: asked.headers.get("x-scope-orgid") == "shop")
        files = {"CA": certificate, "CERT": certificate, "KEY": key}
        login = {"LOADWATCH_STORE_TENANT": "shop"}
        login |= {f"LOADWATCH_STORE_{name}_FILE": str(path) for name, path in files.items()}
    try:
        stranger = migrate(data, stub.url)
        assert stranger.returncode != 0
        assert state(data)["sent"] == 0
        done = migrate(data, stub.url, **login)
    finally:
        stub.close()
    assert done.returncode == 0, done.stderr
    assert f"all {counted(count, 3):,} samples of 3 hours are in" in done.stdout, done.stdout
    assert AMAZON["AWS_SECRET_ACCESS_KEY"] not in done.stdout + done.stderr


def test_a_directory_in_use_or_without_samples_or_of_another_migration_is_refused(
    data: Path, tmp_path: Path, engine: RealEngine
) -> None:
    fill(data, FIRST_MS, 1)
    nothing = migrate(tmp_path / "nowhere", engine.url)
    assert (nothing.returncode, "holds no samples" in nothing.stderr) == (1, True)
    assert not (tmp_path / "nowhere").exists()
    server = RealServer(tmp_path)
    server.start()
    try:
        used = migrate(data, engine.url)
    finally:
        server.kill()
    assert used.returncode == 1
    assert f"is in use by another loadwatch server (process {server.process and server.process.pid}" in used.stderr or (
        "is in use by another loadwatch server" in used.stderr
    )
    assert migrate(data, engine.url).returncode == 0
    with victoria_metrics(tmp_path / "second") as second:
        other = migrate(data, second.url)
        assert (other.returncode, f"a migration to {engine.url}" in other.stderr) == (1, True)
        assert migrate(data, second.url, "--restart").returncode == 0


def test_a_state_that_cannot_be_written_stops_it_and_it_goes_on_later(data: Path, engine: RealEngine) -> None:
    count = fill(data, FIRST_MS, 3)
    (data / "migration.new").symlink_to("/dev/full")
    full = migrate(data, engine.url)
    assert full.returncode == 1
    assert "migration.json, which says how far the migration has come: No space left on device" in full.stderr
    (data / "migration.new").unlink()
    done = migrate(data, engine.url)
    assert done.returncode == 0
    assert f"all {counted(count, 3):,} samples" in done.stdout


def test_what_prometheus_refuses_is_said_with_what_to_set(data: Path, tmp_path: Path) -> None:
    fill(data, FIRST_MS, 15)
    # It takes a day of samples out of order: these, and not that one.
    add(data, [({"__name__": "old", "i": "0"}, FIRST_MS - 100 * HOUR_MS, 1.0)])
    with prometheus(tmp_path / "engine") as engine:
        content = body(series({"__name__": "newest"}, (NOW_MS, 1.0)))
        assert HTTP.request("POST", f"{engine.url}/api/v1/write", body=content, headers=HEADERS).status == 204
        refused = migrate(data, engine.url)
        assert refused.returncode == 1
        assert "too old sample" in refused.stderr
        assert "set storage.tsdb.out_of_order_time_window" in refused.stderr
        assert " to 5d or more" in refused.stderr
        left_out = migrate(data, engine.url, "--skip-refused")
        assert left_out.returncode == 1
        assert "1 were refused and left out" in left_out.stderr
        assert [line for line in left_out.stdout.splitlines() if not line.startswith("old ")] == []
        assert ": 1 samples missing" in left_out.stdout


def test_an_engine_that_asks_to_wait_is_not_pressed(data: Path, engine: RealEngine) -> None:
    """Between us and the engine: every second write is answered 429 or 503, with the time to wait."""
    count = fill(data, FIRST_MS, 5)
    asked: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            asked.append(len(content))
            if self.path == "/api/v1/write" and len(asked) % 2:
                self.send_response(429 if len(asked) % 4 == 1 else 503)
                self.send_header("Retry-After", "0")
                self.end_headers()
                return
            kept = {name: self.headers[name] for name in ("content-type", "content-encoding") if name in self.headers}
            answer = HTTP.request("POST", engine.url + self.path, body=content, headers=kept)
            self.send_response(answer.status)
            self.end_headers()
            self.wfile.write(answer.data)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    between = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=between.serve_forever, daemon=True).start()
    try:
        done = migrate(data, f"http://127.0.0.1:{between.server_address[1]}")
    finally:
        between.shutdown()
        between.server_close()
    assert done.returncode == 0, done.stderr
    assert "the engine answered 429" in done.stderr
    assert f"all {counted(count, 5):,} samples" in done.stdout
    assert all(len(set(line["timestamps"])) == len(line["timestamps"]) for line in exported(engine, '{__name__!=""}'))
