"""`loadwatch packs check`, `test` and `new`, as processes of their own."""

import os
import re
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loadwatch_backend.catalogue.packs.library import FOLDER, shipped_documents

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.packs.texts import CASE, HEALTHY, PACK, put
from tests.fork_server import run_forked

RULES = """groups:
  - name: broker
    rules:
      - {alert: BrokerDown, expr: up == 0, for: 5s}
"""
RULE_CASE = """rule_files: [../rules.yml]
evaluation_interval: 1s
tests:
  - interval: 1s
    input_series: [{series: 'up{job="mq"}', values: 0x20}]
    alert_rule_test: [{eval_time: 10s, alertname: BrokerDown, exp_alerts: [{exp_labels: {job: mq}}]}]
"""
PAGE = """# HELP mq_messages_used Messages that are held.
# TYPE mq_messages_used gauge
mq_messages_used{queue="orders"} 3
# TYPE mq_messages_limit gauge
mq_messages_limit{queue="orders"} 100
# HELP mq_messages_rejected_total Messages that found no room: "full".
# TYPE mq_messages_rejected_total counter
mq_messages_rejected_total{queue="orders"} 0
# TYPE mq_publish_seconds histogram
mq_publish_seconds_bucket{le="0.1"} 5
mq_publish_seconds_bucket{le="+Inf"} 6
mq_publish_seconds_sum 1.5
mq_publish_seconds_count 6
# TYPE mq_memory_max_bytes gauge
mq_memory_max_bytes 1000
# TYPE mq_memory_used_bytes gauge
mq_memory_used_bytes 10
# TYPE mq_info gauge
mq_info{version="1"} 1
# TYPE go_goroutines gauge
go_goroutines 7
"""


def packs(data: Path, *arguments: str | Path, path: str = os.environ["PATH"]) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "LOADWATCH_DATA": str(data), "PATH": path}
    return run_forked("packs", *arguments, environment=environment)


@contextmanager
def exporter(page: str, status: int = 200) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_is_shipped_is_right(tmp_path: Path) -> None:
    done = packs(tmp_path, "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^(\S+): level", done.stdout, re.MULTILINE) == sorted(shipped_documents())


def test_cases_that_are_shipped(tmp_path: Path) -> None:
    done = packs(tmp_path, "test")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    count = len(list(FOLDER.glob("*/cases/*.yml")))
    assert count >= 13
    assert done.stdout.endswith(f"{count} cases, 0 failed\n")


def test_check_says_faults_warnings_and_levels(tmp_path: Path) -> None:
    file = put(
        tmp_path / "packs", "broker", PACK.replace("{{queue}}", "{{topic}}", 1) + "    causes: [nobody-has-it]\n"
    )
    done = packs(tmp_path, "check")
    assert done.returncode == 0
    assert f"{file}:15:21: warning: no series has the label 'topic' of the legend" in done.stderr
    assert f"{file}:26:14: warning: no detector and no resource has 'nobody-has-it'" in done.stderr
    assert "broker: level basic; 1 signals, 1 resources, 0 cases" in done.stdout

    claiming = put(tmp_path / "packs", "broker", PACK + "level: complete\n")
    done = packs(tmp_path, "check", tmp_path / "packs")
    assert done.returncode == 1
    assert f"{claiming}:26:8: the pack claims complete and is basic; missing: runbooks in both languages" in done.stderr
    assert "redis" not in done.stdout

    for name in ("a.md", "a.ja.md"):
        (file.parent / "runbooks").mkdir(exist_ok=True)
        (file.parent / "runbooks" / name).write_text("# A\n")
    (file.parent / "rules.yml").write_text(RULES)
    (file.parent / "cases").mkdir()
    for name, text in (("full.yml", CASE), ("healthy.yml", HEALTHY), ("rules.yml", RULE_CASE)):
        (file.parent / "cases" / name).write_text(text)
    claiming.write_text(PACK + "level: tested\n")
    done = packs(tmp_path, "check", file.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "broker: level tested; 1 signals, 1 resources, 3 cases" in done.stdout
    assert "missing" not in done.stdout

    (file.parent / "rules.yml").write_text(RULES.replace("up == 0", "sum("))
    (file.parent / "cases" / "full.yml").write_text(CASE.replace("certain,", "sure,"))
    (file.parent / "cases" / "healthy.yml").write_text(HEALTHY.replace("never: ['*']", ""))
    file.write_text(PACK.replace("kind: queue", "kind: qeue"))
    put(tmp_path / "packs", "other", PACK.replace("expr: sum by", "expr: sum bi"))
    done = packs(tmp_path, "check")
    assert done.returncode == 1
    assert f"{file}:18:11: " in done.stderr
    assert "other/pack.yml:14:19: this is no PromQL" in done.stderr
    assert done.stderr.endswith("Error: 2 faults\n")
    file.write_text(PACK)
    done = packs(tmp_path, "check", file.parent)
    assert f"{file.parent}/rules.yml:4:" in done.stderr
    assert f"{file.parent}/cases/full.yml:8:" in done.stderr
    assert "a case needs expect, or never" in done.stderr
    assert done.stderr.endswith("Error: 3 faults\n")


def test_check_warns_of_metrics_that_a_server_never_saw(server: RunningServer, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    put(folder, "broker")
    done = packs(tmp_path, "check", folder, "--url", server.url)
    assert (done.returncode, done.stdout.count("level basic")) == (0, 1)
    assert "pack.yml:3:13: warning: none of these metrics was seen: the pack is not shown" in done.stderr
    server.write(({"__name__": "mq_used", "job": "mq"}, [(NOW_MS, 1.0)]))
    put(folder, "broker", PACK.replace("used: sum by (job, instance, queue) (mq_used)", "used: sum(mq_usd)"))
    done = packs(tmp_path, "check", folder, "--url", server.url)
    assert re.findall(r"(\d+):\d+: warning: never seen: (.*)", done.stderr) == [("17", "mq_usd")]
    done = packs(tmp_path, "check", folder, "--url", server.url + "/nothing")
    assert (done.returncode, "cannot be read" in done.stderr) == (1, True)


def test_cases_say_what_was_expected_and_what_was_found(tmp_path: Path) -> None:
    folder = put(tmp_path / "packs", "broker").parent
    (folder / "cases").mkdir()
    (folder / "rules.yml").write_text(RULES)
    good = {"full.yml": CASE, "healthy.yml": HEALTHY, "rules.yml": RULE_CASE}
    for name, text in good.items():
        (folder / "cases" / name).write_text(text)
    done = packs(tmp_path, "test", tmp_path / "packs")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{folder}/cases/full.yml: ok: found broker-queue-exhausted\n" in done.stdout
    assert f"{folder}/cases/rules.yml: ok by promtool\n3 cases, 0 failed\n" in done.stdout

    broken = {
        "full.yml": CASE.replace("certainty: certain", "certainty: possible"),
        "healthy.yml": HEALTHY.replace("10x120", "100x120").replace("to: 100s", "to: 100s, failed: 50"),
        "none.yml": CASE.replace("mq_used", "mq_other"),
        "rules.yml": RULE_CASE.replace("values: 0x20", "values: 1x20"),
    }
    for name, text in broken.items():
        (folder / "cases" / name).write_text(text)
    done = packs(tmp_path, "test", folder)
    assert done.returncode == 1
    assert "expected: broker-queue-exhausted was found, but is certain and not possible" in done.stdout
    assert "found: broker-queue-exhausted (certain): Queue of mq-1 orders ran out" in done.stdout
    assert "expected: broker-queue-exhausted was found and must not be" in done.stdout
    assert "expected: broker-queue-exhausted was not found\n  found: nothing" in done.stdout
    assert "rules.yml: FAILED" in done.stdout
    assert done.stdout.endswith("4 cases, 4 failed\n")

    done = packs(tmp_path, "test", folder, path="/nowhere")
    assert "rules.yml: NOT RUN: rule cases need promtool on PATH" in done.stdout


def test_a_pack_is_proposed_from_a_page_of_metrics_and_finds_what_runs_out(tmp_path: Path) -> None:
    with exporter(PAGE) as url:
        done = packs(tmp_path, "new", "mq", "--from-metrics", url)
        file = tmp_path / "packs" / "mq" / "pack.yml"
        assert (done.returncode, done.stderr) == (0, "")
        assert f"wrote {file}: 6 panels; resources: mq_messages, mq_memory" in done.stdout
        text = file.read_text("utf-8")
        assert "# Left out: mq_info, go_goroutines" in text
        assert "expr: 'sum by (job, instance, queue) (rate(mq_messages_rejected_total[$window]))'" in text
        assert "expr: 'histogram_quantile(0.95, sum by (job, instance, le) (rate(mq_publish_seconds_bucket" in text
        assert text.count("# unsure: ") == 1
        done = packs(tmp_path, "check")
        assert (done.returncode, done.stderr) == (0, "")
        assert "mq: level basic; 6 signals, 2 resources, 0 cases" in done.stdout

        (file.parent / "cases").mkdir()
        case = re.sub(r"mq_(used|limit|rejected_total)", r"mq_messages_\1", CASE).replace("broker-queue", "mq-messages")
        (file.parent / "cases" / "full.yml").write_text(case)
        done = packs(tmp_path, "test", file.parent)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert "full.yml: ok: found mq-messages-exhausted\n1 cases, 0 failed\n" in done.stdout

        for name, says in (("mq", "there is a pack 'mq'"), ("redis", "there is a pack 'redis'"), ("../x", "pattern")):
            done = packs(tmp_path, "new", name, "--from-metrics", url)
            assert (done.returncode, says in done.stderr) == (1, True), done.stderr
        out = tmp_path / "out.yml"
        assert packs(tmp_path / "other", "new", "mq", "--from-metrics", url, "--out", out).returncode == 0
        assert out.read_text("utf-8") == text
        done = packs(tmp_path / "other", "new", "mq", "--from-metrics", url, "--out", out)
        assert (done.returncode, "exists already" in done.stderr) == (1, True)
    for page, status, says in (("<html>", 200, "invalid metric name"), ("", 404, "the answer is 404"), ("", 200, "no")):
        with exporter(page, status) as url:
            done = packs(tmp_path, "new", "web", "--from-metrics", url)
            assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
