import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources import log_tail
from loadwatch_collectors.sources.access_log import STATE_AGE_SECONDS, AccessLogCollector, AccessLogSettings

Values = dict[tuple[str, ...], float]
REQUESTS = ("http_requests_total", "method", "route", "code")
JSON_LINE = '{"method":"GET","uri":"/a","status":200,"request_time":0.01,"size":1}\n'


def line(path: str, *, method: str = "GET", status: int = 200, took: str = " 0.012", size: int = 100) -> str:
    at = "23/Nov/2026:10:00:00 +0000"
    return f'192.0.2.1 - alice [{at}] "{method} {path} HTTP/1.1" {status} {size} "-" "curl/8"{took}\n'


def append(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.writelines(lines)


class Agent:
    """One process after another that follows the same log."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.log = folder / "access.log"
        self.state = folder / "state" / "access_log.json"
        self.settings = AccessLogSettings(path=str(self.log), **settings)
        self.collector = self.start()
        self.sent: list[list[Sample]] = []

    def tick(self) -> Sequence[Sample]:
        self.sent.append(list(self.collector.collect()))
        return self.sent[-1]

    def again(self) -> None:
        self.collector.close()
        self.collector = self.start()

    def killed(self) -> None:
        """It has no time to remember anything."""
        kept = self.state.read_bytes() if self.state.exists() else None
        self.collector.close()
        if kept is not None:
            self.state.write_bytes(kept)
        self.collector = self.start()

    def values(self, name: str, *labels: str) -> Values:
        """What was sent last."""
        return {
            tuple(dict(sample.labels)[label] for label in labels): sample.value
            for sample in self.sent[-1]
            if sample.name == name and sample.timestamp_ms != KEPT
        }

    def start(self) -> AccessLogCollector:
        collector = AccessLogCollector(self.settings)
        collector.set_pace(1.0, 5.0)
        collector.set_state_file(self.state)
        return collector


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path)
    append(agent.log, line("/"))
    agent.tick()
    yield agent
    agent.collector.close()


def test_requests_by_route_method_and_status(agent: Agent) -> None:
    append(agent.log, line("/users/1?token=secret"), line("/users/2", status=404), line("/login", method="POST"))
    agent.tick()
    assert set(agent.values(*REQUESTS).values()) == {0.0}, "a series begins with 0"
    agent.tick()
    assert agent.values(*REQUESTS) == {
        ("GET", "/users/:id", "200"): 1,
        ("GET", "/users/:id", "404"): 1,
        ("POST", "/login", "200"): 1,
    }
    assert agent.values("http_response_bytes_total", "method", "route")["GET", "/users/:id"] == 200
    lines = agent.values("access_log_lines_total", "result")
    assert lines == {("counted",): 3, ("unreadable",): 0, ("too_long",): 0}
    assert "secret" not in repr(agent.sent)
    assert "alice" not in repr(agent.sent)


def test_of_queries_stays_what_is_kept_and_nothing_else(tmp_path: Path) -> None:
    agent = Agent(tmp_path, keep=("action",))
    append(agent.log, line("/"))
    agent.tick()
    append(
        agent.log,
        line("/index.php?action=login&password=s3cret"),
        line("/index.php?user=alice&action=login"),
        line("/index.php?action=AbC123xyz"),
        line("/index.php?token=hunter2"),
    )
    agent.tick()
    agent.tick()
    counts = {route: value for (_, route, _), value in agent.values(*REQUESTS).items()}
    assert counts == {"/index.php": 1, "/index.php?action=login": 2, "/index.php?action=:hash": 1}
    agent.collector.close()
    said = repr(agent.sent) + agent.state.read_text()
    for secret in ("s3cret", "alice", "AbC123xyz", "hunter2"):
        assert secret not in said


@pytest.mark.parametrize(
    ("keep", "said"),
    [(("token",), "keep: 'token' is a parameter that holds secrets"), (tuple("abcdef"), "keep: 6 parameters")],
)
def test_what_must_not_stay_is_refused(keep: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AccessLogSettings(path="/var/log/nginx/access.log", keep=keep)


def test_requests_that_nobody_answered_have_one_code(agent: Agent) -> None:
    append(agent.log, line("/a").replace(" 200 ", " 000 "), line("/a"))
    agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/a", "0"): 1, ("GET", "/a", "200"): 1}


def test_what_is_no_file_is_said_and_not_waited_for(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name, is_no_file in (("folder", "a folder"), ("fifo", "a pipe")):
        agent.collector.close()
        agent.collector = AccessLogCollector(AccessLogSettings(path=str(tmp_path / name)))
        with pytest.raises(CollectorError, match=f"{name}: is {is_no_file}, and no file that can be read again"):
            agent.tick()


def test_durations_are_a_histogram_whose_buckets_come_each_five_seconds(agent: Agent) -> None:
    append(agent.log, *(line("/slow", took=took) for took in (" 0.000", " 0.0005", " 0.010", " 1.5", " 90")))
    append(agent.log, line("/", took=" -"))
    for _ in range(6):
        agent.tick()
    buckets = [
        {dict(one.labels)["le"]: one.value for one in tick if one.name.endswith("_bucket") and one.timestamp_ms != KEPT}
        for tick in agent.sent
    ]
    assert [bool(one) for one in buckets] == [False, True, False, False, False, True, False]
    last = buckets[5]
    assert (last["0.0005"], last["0.000594604"], last["0.009513657"], last["0.011313708"]) == (2, 2, 2, 3)
    assert (last["65.536"], last["+Inf"]) == (4, 5)
    assert agent.values("http_request_duration_seconds_count", "route") == {("/slow",): 5}
    assert agent.values("http_request_duration_seconds_sum", "route") == {("/slow",): pytest.approx(91.5105)}


def test_each_line_counts_once_however_often_the_agent_starts_anew(agent: Agent) -> None:
    rest = random.Random(4)
    written = 0
    for step in range(40):
        count = rest.randrange(20)
        append(agent.log, *(line(f"/items/{rest.randrange(9)}") for _ in range(count)))
        written += count
        if step % 7 == 3:
            agent.killed()
        elif step % 7 == 5:
            agent.again()
        if step % 11 == 6:
            agent.log.rename(agent.log.with_name(f"access.log.{step}"))
            agent.log.touch()
        agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/items/:id", "200"): written}
    assert agent.values("access_log_lines_total", "result")["counted",] == written
    values = [one.value for tick in agent.sent for one in tick if one.name == "http_requests_total"]
    assert values[0] == 0
    assert values == sorted(values), "a counter that falls would be taken for a new beginning"


def test_other_settings_begin_anew(agent: Agent, tmp_path: Path) -> None:
    append(agent.log, *[line("/users/7/posts")] * 3)
    agent.tick()
    agent.collector.close()
    grouped = Agent(tmp_path, match=("^/users/[0-9]+/posts$",))
    grouped.tick()
    append(grouped.log, line("/users/7/posts"))
    grouped.tick()
    grouped.tick()
    assert grouped.values(*REQUESTS) == {("GET", "^/users/[0-9]+/posts$", "200"): 1}
    grouped.collector.close()


def test_that_an_old_state_keeps_the_names_of_routes_and_no_counts(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    append(agent.log, line("/"))
    agent.tick()
    append(agent.log, *(line(f"/posts/{one}-{other}-story") for one in "abcdefgh" for other in "klmnopqr"))
    agent.tick()
    agent.collector.close()
    state = json.loads(agent.state.read_text())
    agent.state.write_text(json.dumps({**state, "saved_s": state["saved_s"] - STATE_AGE_SECONDS - 1}))
    append(agent.log, line("/posts/written-while-it-was-away"))
    agent.collector = agent.start()
    agent.tick()
    append(agent.log, line("/posts/good-morning"))
    agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/posts/:slug", "200"): 1}
    agent.collector.close()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"saved_s": "x"}', json.dumps({"saved_s": 1e12})])
def test_a_broken_state_is_none(tmp_path: Path, content: str) -> None:
    agent = Agent(tmp_path)
    append(agent.log, line("/"))
    agent.collector.close()
    agent.state.parent.mkdir(exist_ok=True)
    agent.state.write_text(content)
    agent.collector = agent.start()
    agent.tick()
    append(agent.log, line("/a"))
    agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/a", "200"): 1}
    agent.collector.close()


def test_a_log_that_is_away_is_an_error_until_it_is_back(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    append(agent.log, line("/a"))
    agent.tick()
    agent.log.rename(agent.log.with_name("elsewhere"))
    agent.tick()
    monkeypatch.setattr(log_tail, "AWAY_SECONDS", -1.0)
    with pytest.raises(CollectorError, match=r"access\.log: there is no such file"):
        agent.tick()
    append(agent.log, line("/a"))
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/a", "200"): 2}


def test_durations_that_the_first_lines_do_not_have_are_found_later(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    append(agent.log, line("/", took=" -"))
    agent.tick()
    for took in (" -", " 0.250"):
        append(agent.log, line("/a", took=took))
        agent.tick()
    agent.tick()
    assert agent.values("http_request_duration_seconds_sum", "route") == {("/a",): 0.25}
    agent.collector.close()


def test_a_log_without_durations_gives_counts_and_says_so(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    append(agent.log, line("/", took=""))
    agent.tick()
    append(agent.log, *[line("/", took="")] * 2)
    agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/", "200"): 2}
    assert not [one for one in agent.sent[-1] if one.name.startswith("http_request_duration")]
    assert any("no durations" in text and "$request_time" in text for text in agent.collector.explain())
    agent.collector.close()


def test_a_format_that_changes_while_the_log_grows(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    append(agent.log, line("/a"))
    agent.tick()
    monkeypatch.setattr(agent.collector, "_recognised", -1e9)
    append(agent.log, *[JSON_LINE] * 30)
    agent.tick()
    append(agent.log, *[JSON_LINE] * 5)
    agent.tick()
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/a", "200"): 6}
    assert agent.values("access_log_lines_total", "result")["unreadable",] == 30


def test_what_is_no_access_log_says_so(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    append(agent.log, *["2026-11-23 10:00:00 INFO started\n"] * 5)
    with pytest.raises(CollectorError, match=r"access\.log: .*name the format"):
        agent.tick()
    agent.collector.close()


def test_hostile_lines_are_bounded_and_counted(tmp_path: Path) -> None:
    agent = Agent(tmp_path, routes=50)
    append(agent.log, line("/"))
    agent.tick()
    hostile = random.Random(1)
    with agent.log.open("ab") as file:
        file.write(b"\xff\xfe\x00 no line at all \x1b[31m secret=hunter2\n" * 100)
        file.write(line("/ok").encode() + b"x" * 1_200_000 + b"\n" + line("/ok").encode())
        for number in range(20_000):
            path = "/" + "".join(hostile.choices("abcdefghij-", k=12)) + f"/{number:x}"
            file.write(line(path, method="".join(hostile.choices("ABC", k=3))).encode())
        file.write(line("/%ff\\x1b[2J" + "é" * 40).encode("latin-1", "replace"))
    for _ in range(40):
        agent.tick()
    lines = agent.values("access_log_lines_total", "result")
    assert (lines["counted",] + lines["unreadable",], lines["too_long",]) == (20_103, 1)
    found = agent.values(*REQUESTS)
    assert len({route for _, route, _ in found}) <= 51
    assert all(text.isascii() and text.isprintable() for key in found for text in key)
    assert agent.values("access_log_other_routes_requests_total") == {
        (): sum(count for (_, route, _), count in found.items() if route == "other")
    }
    told = agent.collector.explain()
    assert not any("hunter2" in text or "\x1b" in text for text in told)
    assert any("unreadable, such as ??? aa aaaa aa aaa ?[00a aaaaaa=aaaaaa0" in text for text in told)
    agent.collector.close()


def test_a_backlog_is_caught_up_with_over_several_ticks(agent: Agent) -> None:
    agent.collector.set_pace(0.05, 0.05)
    append(agent.log, *[line("/a")] * 60_000)
    for _ in range(400):
        agent.tick()
        if agent.values("access_log_lines_total", "result")["counted",] == 60_000:
            break
    agent.tick()
    assert agent.values(*REQUESTS) == {("GET", "/a", "200"): 60_000}
    assert len(agent.sent) > 4


def test_the_state_is_nobody_elses_to_read(agent: Agent) -> None:
    old = os.umask(0o077)
    try:
        append(agent.log, line("/private"))
        agent.again()
    finally:
        os.umask(old)
    assert agent.state.stat().st_mode & 0o077 == 0
