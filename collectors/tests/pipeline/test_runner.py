import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Collector, MissingPrivilege, Sample, Source, TargetIdentity
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.pipeline.runner import Runner
from loadwatch_collectors.pipeline.sender import encode_rows
from loadwatch_collectors.series import SampleRow
from structlog.testing import capture_logs

from collectors.tests.receiver import Received, decode_write_request

INTERVAL = 0.1


@dataclass
class Scripted(Collector):
    """A collector that does what a function says for each of its calls, counted from 1."""

    script: Callable[[int], Iterable[Sample]]
    calls: int = 0
    flights: int = 0
    most_flights: int = 0
    closed: threading.Event = field(default_factory=threading.Event)

    def collect(self) -> Iterable[Sample]:
        self.calls += 1
        self.flights += 1
        self.most_flights = max(self.most_flights, self.flights)
        try:
            return list(self.script(self.calls))
        finally:
            self.flights -= 1

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return ()

    def close(self) -> None:
        self.closed.set()


def configured(name: str, build: Callable[[Any], Any], timeout: float = 60.0) -> CollectorSettings:
    return CollectorSettings(
        source=Source(name=name, help="", settings=dict, build=build),
        settings={},
        identity=TargetIdentity(job="test", instance="here"),
        interval_seconds=INTERVAL,
        timeout_seconds=timeout,
        where="test.yml:1",
    )


class Sink:
    def __init__(self) -> None:
        self.samples: list[Received] = []
        self.changed = threading.Condition()

    def write(self, rows: Sequence[SampleRow]) -> None:
        with self.changed:
            self.samples += decode_write_request(encode_rows(rows))[0]
            self.changed.notify_all()

    def of(self, name: str, collector: str | None = None) -> list[Received]:
        return [
            sample
            for sample in self.samples
            if sample.name == name and (collector is None or sample.labels.get("collector") == collector)
        ]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, 120), "the runner has not delivered that"


@contextmanager
def running(*collectors: CollectorSettings, wall: Callable[[], float] = time.time) -> Generator[Sink]:
    sink = Sink()
    stop = threading.Event()
    runner = Runner(collectors, sink.write, wall)
    thread = threading.Thread(target=runner.run, args=(stop,))
    thread.start()
    try:
        yield sink
    finally:
        stop.set()
        thread.join()


def number(call: int) -> list[Sample]:
    return [Sample("number", float(call))]


def test_samples_come_at_whole_ticks_with_their_health() -> None:
    good = Scripted(number)
    with running(configured("good", lambda _: good)) as sink:
        sink.wait_for(lambda: len(sink.of("number")) >= 5)
    numbers = [sample for sample in sink.of("number") if not sample.is_stale]
    assert all(sample.timestamp_ms % 100 == 0 for sample in numbers)
    times = [sample.timestamp_ms for sample in numbers]
    assert times == sorted(set(times))
    assert numbers[0].labels == {"__name__": "number", "job": "test", "instance": "here"}
    up = sink.of("up", "good")
    assert [sample.value for sample in up[:5]] == [1.0] * 5
    assert up[0].timestamp_ms == numbers[0].timestamp_ms
    for name in ("scrape_duration_seconds", "scrape_samples_scraped", "collector_cpu_seconds_total"):
        assert sink.of(name, "good")[0].timestamp_ms == numbers[0].timestamp_ms
    assert sink.of("scrape_samples_scraped", "good")[0].value == 1.0
    assert good.closed.wait(60)


def test_the_end_marks_every_series_stale_once() -> None:
    with running(configured("good", lambda _: Scripted(number))) as sink:
        sink.wait_for(lambda: len(sink.of("number")) >= 2)
    last = {sample.name: sample for sample in sink.samples}
    assert all(sample.is_stale for sample in last.values())
    assert set(last) >= {"number", "up", "scrape_duration_seconds", "scrape_samples_scraped"}
    assert Counter(sample.name for sample in sink.samples if sample.is_stale)["number"] == 1


def test_a_failing_collector_says_why_marks_its_series_and_is_logged_once() -> None:
    def script(call: int) -> list[Sample]:
        if 3 <= call <= 6:
            raise CollectorError("/proc/42/limits cannot be read\nas this user: " + "x" * 300)
        return number(call)

    collector = Scripted(script)
    with capture_logs() as logs, running(configured("flaky", lambda _: collector)) as sink:
        sink.wait_for(lambda: len(sink.of("number")) >= 5)
    ups = [sample.value for sample in sink.of("up", "flaky")]
    assert ups[:8] == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    numbers = sink.of("number")
    assert [sample.is_stale for sample in numbers[:4]] == [False, False, True, False]
    errors = sink.of("collector_error_info", "flaky")
    assert [sample.is_stale for sample in errors] == [False] * 4 + [True]
    assert errors[0].labels["error"].startswith("/proc/42/limits cannot be read as this user: xxx")
    assert len(errors[0].labels["error"]) == 200
    assert [entry["event"] for entry in logs] == ["a collector fails", "a collector works again"]


def test_a_fault_in_a_collector_is_a_failure_and_not_the_end() -> None:
    def script(call: int) -> list[Sample]:
        return [Sample("number", 1 / (call - 1))]

    collector = Scripted(script)
    with capture_logs() as logs, running(configured("buggy", lambda _: collector)) as sink:
        sink.wait_for(lambda: len(sink.of("number")) >= 1)
    assert sink.of("collector_error_info")[0].labels["error"] == "internal error: ZeroDivisionError: division by zero"
    assert any(entry["log_level"] == "error" and entry.get("exc_info") for entry in logs)


def test_a_hanging_source_is_given_up_closed_and_never_delays_another() -> None:
    release = threading.Event()
    built: list[Scripted] = []

    def script(call: int) -> list[Sample]:
        if len(built) == 1 and call == 2:
            release.wait(300)
            return [Sample("late", 1.0)]
        return number(call)

    def build(_: Any) -> Scripted:
        built.append(Scripted(script))
        return built[-1]

    good = Scripted(lambda call: [Sample("other", float(call))])
    hanging = configured("hanging", build, timeout=1.5)
    with running(hanging, configured("good", lambda _: good)) as sink:
        sink.wait_for(lambda: len([sample for sample in sink.of("up", "hanging") if sample.value == 0.0]) >= 4)
        assert built[0].closed.wait(60), "close is called to break the read"
        assert len(built) == 1
        assert built[0].most_flights == 1
        downs = [sample.timestamp_ms for sample in sink.of("up", "hanging") if sample.value == 0.0]
        # It hangs until it is released, so these come while it does.
        sink.wait_for(lambda: len([sample for sample in sink.of("other") if sample.timestamp_ms > downs[0]]) >= 10)
        error = sink.of("collector_error_info", "hanging")[0]
        assert error.labels["error"] == "no answer within 1.5 s; the read was given up"
        release.set()
        sink.wait_for(lambda: sink.of("up", "hanging")[-1].value == 1.0)
    assert sink.of("late") == [], "what came after the deadline is not shown"
    assert len(built) == 2
    numbers = sink.of("number")
    assert numbers[1].is_stale
    assert numbers[1].timestamp_ms == downs[0]


def test_a_slow_read_is_not_shown_and_its_collector_is_kept() -> None:
    release = threading.Event()

    def script(call: int) -> list[Sample]:
        if call == 2:
            release.wait(300)
            return [Sample("late", 1.0)]
        return number(call)

    built: list[Scripted] = []

    def build(_: Any) -> Scripted:
        built.append(Scripted(script))
        return built[-1]

    with running(configured("slow", build, timeout=4.0)) as sink:
        sink.wait_for(lambda: bool(sink.of("number")))
        sink.wait_for(lambda: 0.0 in {sample.value for sample in sink.of("up", "slow")})
        release.set()
        sink.wait_for(lambda: sink.of("up", "slow")[-1].value == 1.0)
        assert not built[0].closed.is_set()
    assert sink.of("late") == []
    assert len(built) == 1


def test_kept_values_are_sent_again_after_a_failure_only() -> None:
    def script(call: int) -> list[Sample]:
        if call == 3:
            raise CollectorError("once")
        return [Sample("dear", 5.0, (), None if call == 1 else KEPT)]

    collector = Scripted(script)
    with running(configured("slow", lambda _: collector)) as sink:
        sink.wait_for(lambda: len(sink.of("up", "slow")) >= 6)
    assert [sample.is_stale for sample in sink.of("dear")] == [False, True, False, True]


def test_a_source_that_cannot_be_built_yet_is_tried_again() -> None:
    attempts: list[int] = []

    def build(_: Any) -> Scripted:
        attempts.append(1)
        if len(attempts) < 3:
            raise CollectorError("not there yet")
        return Scripted(number)

    with running(configured("later", build)) as sink:
        sink.wait_for(lambda: bool(sink.of("number")))
    assert sink.of("up", "later")[0].value == 0.0


def test_settings_that_cannot_work_end_the_agent() -> None:
    def build(_: Any) -> Scripted:
        raise ConfigError("the password cannot be read")

    runner = Runner([configured("wrong", build)], Sink().write)
    with pytest.raises(ConfigError, match="the password cannot be read"):
        runner.run(threading.Event())


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_jump_of_the_clock_neither_stops_nor_spins(jump: float) -> None:
    offset = [0.0]
    good = Scripted(number)
    with (
        capture_logs() as logs,
        running(configured("good", lambda _: good), wall=lambda: time.time() + offset[0]) as sink,
    ):
        sink.wait_for(lambda: len(sink.of("number")) >= 3)
        offset[0] = jump
        before, calls = time.monotonic(), good.calls
        have = len(sink.of("number"))
        sink.wait_for(lambda: len(sink.of("number")) >= have + 5)
        assert good.calls - calls <= (time.monotonic() - before) / INTERVAL + 2
    times = [sample.timestamp_ms for sample in sink.of("number")]
    assert abs(times[-1] - times[0] - jump * 1000) < 60_000
    assert any("clock jumped" in entry["event"] for entry in logs)


def test_the_address_that_a_target_asks_is_sent_even_while_nothing_answers() -> None:
    def fail(_: int) -> list[Sample]:
        raise CollectorError("refused")

    asks = replace(configured("page", lambda _: Scripted(fail)), address="web:8080")
    with running(asks, configured("host", lambda _: Scripted(number))) as sink:
        sink.wait_for(lambda: bool(sink.of("collector_target_info")) and bool(sink.of("up", "host")))
    labels = {tuple(sorted(one.labels.items())) for one in sink.of("collector_target_info")}
    assert [dict(one) for one in labels] == [
        {
            "__name__": "collector_target_info",
            "job": "test",
            "instance": "here",
            "collector": "page",
            "agent_host": socket.gethostname(),
            "address": "web:8080",
        }
    ]


def test_two_blocks_of_one_source_do_not_write_one_series() -> None:
    first = configured("page", lambda _: Scripted(lambda _: [Sample("own", 1.0), Sample("shared", 1.0)]))
    second = replace(
        configured("page", lambda _: Scripted(lambda _: [Sample("other", 2.0), Sample("shared", 2.0)])), block=2
    )
    with running(first, second) as sink:
        sink.wait_for(lambda: len(sink.of("up", "page-2")) >= 3 and len(sink.of("up", "page")) >= 3)
    assert {one.value for one in sink.of("shared") if not one.is_stale} in ({1.0}, {2.0})
    assert sink.of("own")
    assert sink.of("other")
    [error] = {one.labels["error"] for one in sink.of("collector_error_info")}
    assert error.startswith("shared is sent by another block of this target, too")
