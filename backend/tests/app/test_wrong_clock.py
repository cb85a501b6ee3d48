"""A server whose clock is wrong for a while loses no sample, and rates are right once the clock is."""

from pathlib import Path

import pytest

from backend.tests.conftest import NOW_MS, RunningServer, SetClock, run_server
from backend.tests.ingest.writing import HEADERS, body, series

DAY_MS = 86_400_000
STEP_MS = 15_000
BEFORE_MS = 7_200_000
"""For so long samples came while the clock was right; the store keeps fifteen days."""
WRONG_MS = 600_000
"""The clock is wrong for so long, which is too short for it to be believed."""
BEGIN_MS = NOW_MS - BEFORE_MS


def send(server: RunningServer, from_ms: int, to_ms: int) -> None:
    """A counter that grows by two each second, from a sender whose clock is right."""
    rows = [(at, (at - BEGIN_MS) / 500) for at in range(from_ms, to_ms, STEP_MS)]
    sent = body(series({"__name__": "c_total", "job": "a"}, *rows))
    answer = server.client.post("/prometheus/api/v1/write", content=sent, headers=HEADERS)
    assert answer.status_code == 204, answer.text


def send_on(server: RunningServer, lasts_ms: int) -> None:
    """Let time pass, with a request a minute; the store looks for what is too old at each."""
    clock = server.clock
    for _ in range(0, lasts_ms, 60_000):
        clock.now_ms += 60_000
        true_ms = clock.now_ms - clock.jumped_ms
        send(server, true_ms - 60_000, true_ms)
        assert server.store.apply_retention(DAY_MS) == 0


def ask(server: RunningServer, query: str, at_ms: int) -> float:
    found = server.client.get("/prometheus/api/v1/query", params={"query": query, "time": at_ms / 1_000}).json()
    [one] = found["data"]["result"]
    return float(one["value"][1])


def check(server: RunningServer) -> None:
    """The clock is right again, for five minutes."""
    now_ms = server.clock.now_ms
    assert server.clock.jumped_ms == 0
    assert ask(server, "rate(c_total[5m])", now_ms) == pytest.approx(2.0)
    assert ask(server, "increase(c_total[2h])", now_ms) == pytest.approx(14_400.0)
    wanted = (now_ms - BEGIN_MS) // STEP_MS
    assert ask(server, "count_over_time(c_total[3h])", now_ms) == wanted
    # What came while the clock was wrong is where it belongs.
    assert ask(server, "count_over_time(c_total[5m])", NOW_MS + WRONG_MS) == 20


@pytest.mark.parametrize("days", [20, 400, -1])
def test_a_clock_that_is_set_wrong_while_the_server_runs(tmp_path: Path, days: int):
    with run_server(tmp_path / "data") as server:
        send(server, BEGIN_MS, NOW_MS)
        server.clock.jump(days * DAY_MS)
        send_on(server, WRONG_MS)
        server.clock.jump(-days * DAY_MS)
        send_on(server, 300_000)
        check(server)


@pytest.mark.parametrize("days", [20, 400, -1])
def test_a_clock_that_is_wrong_at_the_start(tmp_path: Path, days: int):
    clock = SetClock()
    with run_server(tmp_path / "data", clock) as server:
        send(server, BEGIN_MS, NOW_MS)
    clock.jump(days * DAY_MS)
    with run_server(tmp_path / "data", clock) as server:
        send_on(server, WRONG_MS)
    # And once more, so that the newest sample is told from a file that was written meanwhile.
    with run_server(tmp_path / "data", clock) as server:
        clock.jump(-days * DAY_MS)
        send_on(server, 300_000)
        check(server)


def post(server: RunningServer, from_ms: int, to_ms: int, name: str = "c_total") -> int:
    """Send the same counter; returns how it is answered."""
    rows = [(at, (at - BEGIN_MS) / 500) for at in range(from_ms, to_ms, STEP_MS)]
    sent = body(series({"__name__": name, "job": "a"}, *rows))
    answer = server.client.post("/prometheus/api/v1/write", content=sent, headers=HEADERS)
    if answer.status_code == 503:
        assert "clock" in answer.json()["detail"]
        assert int(answer.headers["Retry-After"]) > 0
    return answer.status_code


@pytest.mark.parametrize("stopped_ms", [3_600_000, 2 * DAY_MS], ids=["newest-after-now", "newest-before-now"])
def test_a_clock_that_is_behind_after_a_long_stop_loses_nothing_of_what_senders_keep(tmp_path: Path, stopped_ms: int):
    clock = SetClock()
    with run_server(tmp_path / "data", clock) as server:
        send(server, BEGIN_MS, NOW_MS)
    clock.now_ms += stopped_ms
    clock.jump(-DAY_MS)
    kept: list[tuple[int, int]] = []
    with run_server(tmp_path / "data", clock) as server:
        # Longer than a jump takes to be believed.
        for minute in range(20):
            clock.now_ms += 60_000
            true_ms = clock.now_ms - clock.jumped_ms
            if minute == 1:  # What a sender kept while the server was stopped passes the wrong time on its way.
                assert post(server, clock.now_ms - 60_000, clock.now_ms, "passing") == 204
            assert post(server, true_ms - 60_000, true_ms) == 503
            kept.append((true_ms - 60_000, true_ms))
        clock.jump(DAY_MS)
        for from_ms, to_ms in kept:
            assert post(server, from_ms, to_ms) == 204
        send_on(server, 300_000)
        assert ask(server, "rate(c_total[5m])", clock.now_ms) == pytest.approx(2.0)
        assert ask(server, "count_over_time(c_total[26m])", clock.now_ms) == 100
        assert ask(server, "count_over_time(c_total[3h])", NOW_MS) == BEFORE_MS // STEP_MS


def test_a_clock_that_is_set_back_while_the_server_runs_and_is_believed_refuses_nothing_for_good(tmp_path: Path):
    with run_server(tmp_path / "data") as server:
        send(server, BEGIN_MS, NOW_MS)
        server.clock.jump(-DAY_MS)
        send_on(server, 900_000)
        server.clock.now_ms += 60_000
        true_ms = server.clock.now_ms - server.clock.jumped_ms
        assert post(server, true_ms - 60_000, true_ms) == 503
        server.clock.jump(DAY_MS)
        assert post(server, true_ms - 60_000, true_ms) == 204
        assert ask(server, "count_over_time(c_total[3h])", true_ms) == (true_ms - BEGIN_MS) // STEP_MS


def test_a_sender_with_the_servers_time_shows_that_another_one_is_ahead(tmp_path: Path):
    clock = SetClock()
    with run_server(tmp_path / "data", clock) as server:
        send(server, BEGIN_MS, NOW_MS)
    clock.now_ms += 2 * DAY_MS
    with run_server(tmp_path / "data", clock) as server:
        ahead_ms = clock.now_ms + DAY_MS
        assert post(server, ahead_ms, ahead_ms + 60_000, "other") == 503
        for _ in range(2):
            clock.now_ms += 60_000
            assert post(server, clock.now_ms - 60_000, clock.now_ms) == 204
        assert post(server, ahead_ms, ahead_ms + 60_000, "other") == 400
