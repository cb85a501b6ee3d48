"""Against a real nginx under the load of a real tool: lines counted are requests made."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT
from loadwatch_collectors.commands.check import check_collectors, render_reports
from loadwatch_collectors.config import load_config
from loadwatch_collectors.settings_loader import parse_document
from loadwatch_collectors.sources.access_log import AccessLogCollector, AccessLogSettings
from loadwatch_collectors.sources.registry import sources_by_name

Start = Callable[..., Any]


def hey(url: str, count: int) -> None:
    done = subprocess.run(["hey", "-n", str(count), "-c", "5", url], capture_output=True, text=True, check=True)
    answered = sum(int(number) for number in re.findall(r"\[[0-9]+\]\s+([0-9]+) responses", done.stdout))
    assert answered == count, done.stdout


class Following(threading.Thread):
    """An agent's ticks, faster than an agent's."""

    def __init__(self, log: Path, state: Path) -> None:
        super().__init__(daemon=True)
        self.collector = AccessLogCollector(AccessLogSettings(path=str(log)))
        self.collector.set_state_file(state)
        self.found: dict[tuple[str, str, str], float] = {}
        self.ended = threading.Event()
        self.ticks = 0

    def tick(self) -> None:
        samples = list(self.collector.collect())
        self.ticks += 1
        self.found = {
            (labels["method"], labels["route"], labels["code"]): sample.value
            for sample in samples
            if sample.name == "http_requests_total" and sample.timestamp_ms != KEPT
            for labels in [dict(sample.labels)]
            # Another test's search for applications asks each listener of this host.
            if labels["route"] not in ("/metrics", "/debug/dbstats")
        }

    def run(self) -> None:
        while not self.ended.wait(0.05):
            self.tick()

    def end(self, wanted: int) -> Counter[tuple[str, str, str]]:
        """The counts, once there are as many as requests were made."""
        self.ended.set()
        self.join()
        for _ in range(200):
            self.tick()
            if sum(self.found.values()) >= wanted:
                break
            time.sleep(0.05)
        self.tick()
        self.collector.close()
        return Counter({key: round(count) for key, count in self.found.items()})


@pytest.mark.parametrize("form", ["combined", "ltsv", "json"])
def test_requests_of_each_format(start_nginx: Start, tmp_path: Path, form: str) -> None:
    nginx = start_nginx(form)
    hey(f"{nginx.url}/before", 10)
    following = Following(nginx.log, tmp_path / "state.json")
    following.tick()
    following.start()
    for path, count in (("users/7?tab=1", 300), ("missing", 40), ("unchanged", 60), ("broken", 20)):
        hey(f"{nginx.url}/{path}", count)
    subprocess.run(["curl", "-s", "-X", "POST", "-d", "a=b", f"{nginx.url}/login"], check=True, capture_output=True)
    assert following.end(421) == {
        ("GET", "/users/:id", "200"): 300,
        ("GET", "/missing", "404"): 40,
        ("GET", "/unchanged", "304"): 60,
        ("GET", "/broken", "502"): 20,
        ("POST", "/login", "200"): 1,
    }
    assert json.loads((tmp_path / "state.json").read_text())["counts"]["unreadable"] == 0


def test_rotated_by_renaming_under_load(start_nginx: Start, tmp_path: Path) -> None:
    nginx = start_nginx("combined")
    following = Following(nginx.log, tmp_path / "state.json")
    following.tick()
    following.start()
    load = threading.Thread(target=hey, args=(f"{nginx.url}/users/7", 20_000))
    load.start()
    turned = 0
    while load.is_alive():
        time.sleep(0.15)
        # As logrotate does: rename, make the new one, tell the server, compress the one before.
        nginx.log.rename(nginx.log.with_name(f"access.log.{turned}"))
        nginx.log.touch()
        time.sleep(0.05)
        nginx.reopen()
        if turned > 1:  # `delaycompress`: a worker may still write its last lines into the newest
            subprocess.run(["gzip", str(nginx.log.with_name(f"access.log.{turned - 2}"))], check=True)
        turned += 1
    load.join()
    assert turned > 1
    assert following.end(20_000) == {("GET", "/users/:id", "200"): 20_000}


def test_copied_and_cut_under_load(start_nginx: Start, tmp_path: Path) -> None:
    nginx = start_nginx("ltsv")
    following = Following(nginx.log, tmp_path / "state.json")
    following.tick()
    following.start()
    for turn in range(4):
        # Turns of one second would be the same bytes, and no reader could tell them apart.
        hey(f"{nginx.url}/users/7?turn={turn}", 1_500)
        # A file of which an agent never saw a line is one that it cannot miss: a look comes between two turns.
        while sum(following.found.values()) <= turn * 1_500:
            time.sleep(0.01)
        # Between two loads, since what comes between copy and cut is lost to everybody.
        shutil.copy(nginx.log, nginx.log.with_name(f"access.log.{turn}"))
        os.truncate(nginx.log, 0)
    hey(f"{nginx.url}/users/7", 500)
    assert following.end(6_500) == {("GET", "/users/:id", "200"): 6_500}


def test_lines_that_nginx_holds_back_are_counted_when_they_come(start_nginx: Start, tmp_path: Path) -> None:
    nginx = start_nginx("combined", " buffer=64k flush=1s")
    following = Following(nginx.log, tmp_path / "state.json")
    following.tick()
    hey(f"{nginx.url}/users/7", 50)
    following.start()
    assert following.end(50) == {("GET", "/users/:id", "200"): 50}


def test_a_check_says_what_it_read(start_nginx: Start) -> None:
    nginx = start_nginx("combined")
    hey(f"{nginx.url}/users/7", 25)
    with nginx.log.open("a") as log:
        log.write("password=hunter2 is no line\n")
    text = f"targets:\n  - job: shop\n    access_log: {{path: {nginx.log}}}\n"
    config = load_config(parse_document(text, "loadwatch.yml"), sources_by_name())
    said = render_reports(check_collectors(config.collectors))
    assert "access_log: ok" in said
    assert "format combined; durations: field 3 behind the bytes, in seconds" in said
    assert "read 25 lines, 1 routes: GET /users/:id (25)" in said
    assert "1 lines unreadable, such as aaaaaaaa=aaaaaa0 aa aa aaaa" in said
    assert 'http_requests_total{route="/users/:id",method="GET",code="200"} = 25' in said
