import math

from loadwatch_collectors.pipeline.sender import encode_rows
from loadwatch_collectors.runs.live_seconds import LiveSeconds, nearest_rank
from loadwatch_collectors.runs.streams import RequestEvent, SecondEvent, UsersEvent
from loadwatch_collectors.series import SampleRow
from loadwatch_formats.outcomes import Outcome

from collectors.tests.receiver import Received, decode_write_request

START = 1_795_000_000_000


def told(rows: list[SampleRow]) -> dict[tuple[str, str, int], float]:
    """Value by metric, label and milliseconds since START; later rows take the place of earlier ones."""
    found: dict[tuple[str, str, int], float] = {}
    for row in rows:
        samples: list[Received] = decode_write_request(encode_rows([row]))[0]
        for sample in samples:
            labels = {name: value for name, value in sample.labels.items() if name not in ("__name__", "run")}
            assert sample.labels["run"] == "r"
            found[sample.name, "".join(labels.values()), sample.timestamp_ms - START] = sample.value
    return found


def test_seconds_become_counters_and_exact_quantiles() -> None:
    seconds = LiveSeconds("r", target_rate=2)
    seconds.add(RequestEvent(START + 100 * index, 0.001 * (index + 1), Outcome.OK, 10, 1) for index in range(10))
    seconds.add([RequestEvent(START + 1500, 0.5, Outcome.TIMEOUT, 0, 1)])
    assert seconds.publish(START + 1999) == [], "the second is over, its grace is not"
    first = told(seconds.publish(START + 2000))
    assert first["loadtest_requests_total", "ok", 0] == 0
    assert first["loadtest_requests_total", "ok", 1000] == 10
    assert first["loadtest_requests_total", "timeout", 1000] == 0
    assert first["loadtest_request_duration_seconds", "0", 1000] == 0.001
    assert first["loadtest_request_duration_seconds", "0.5", 1000] == 0.005
    assert first["loadtest_request_duration_seconds", "0.95", 1000] == 0.01
    assert first["loadtest_request_duration_seconds", "1", 1000] == 0.01
    assert first["loadtest_bytes_total", "in", 1000] == 100
    assert first["loadtest_target_rate", "", 1000] == 2
    assert not any(key[2] > 1000 for key in first)
    rest = told(seconds.finish())
    assert rest["loadtest_requests_total", "ok", 2000] == 10
    assert rest["loadtest_requests_total", "timeout", 2000] == 1
    assert math.isnan(rest["loadtest_requests_total", "ok", 3000])
    assert seconds.figures(START + 3000).requests == 11
    assert seconds.figures(START + 3000).failures == 1


def test_a_request_that_ends_late_changes_its_second_and_the_counters_after_it() -> None:
    seconds = LiveSeconds("r")
    seconds.add(RequestEvent(START + 1000 * index, 0.01, Outcome.OK) for index in range(5))
    before = told(seconds.publish(START + 6000))
    assert before["loadtest_requests_total", "ok", 5000] == 5
    seconds.add([RequestEvent(START + 1200, 4.0, Outcome.TIMEOUT)])
    after = told(seconds.publish(START + 6000))
    assert after["loadtest_requests_total", "timeout", 0] == 0
    assert after["loadtest_requests_total", "timeout", 1000] == 0
    assert [after["loadtest_requests_total", "timeout", second * 1000] for second in range(2, 6)] == [1, 1, 1, 1]
    assert after["loadtest_request_duration_seconds", "1", 2000] == 4.0
    assert seconds.publish(START + 6000) == []


def test_a_silent_second_has_counters_and_no_quantiles() -> None:
    seconds = LiveSeconds("r")
    seconds.add([RequestEvent(START, 0.01, Outcome.OK), UsersEvent(START, 7)])
    found = told(seconds.publish(START + 4000))
    assert found["loadtest_requests_total", "ok", 3000] == 1
    assert found["loadtest_active_users", "", 3000] == 7
    assert ("loadtest_request_duration_seconds", "0.5", 3000) not in found
    assert seconds.figures(START + 4000).rate is None, "requests may have been sent that still wait"
    assert seconds.figures(START + 45_000).rate == 0


def test_memory_is_bounded_and_totals_stay_right() -> None:
    seconds = LiveSeconds("r")
    newest: dict[tuple[str, str, int], float] = {}
    for index in range(500):
        seconds.add([RequestEvent(START + 1000 * index, 0.01, Outcome.OK)] * 3)
        newest |= told(seconds.publish(START + 1000 * index))
    newest |= told(seconds.finish())
    assert newest["loadtest_requests_total", "ok", 500_000] == 1500
    seconds.add([RequestEvent(START, 100.0, Outcome.TIMEOUT)])
    assert seconds.requests == 1501


def test_clocks_that_jump_make_no_flood_of_samples() -> None:
    seconds = LiveSeconds("r")
    seconds.add([RequestEvent(START, 0.01, Outcome.OK)])
    seconds.publish(START + 2000)
    seconds.add([RequestEvent(START + 10**12, 0.01, Outcome.OK), RequestEvent(START - 10**12, 0.01, Outcome.OK)])
    rows = [*seconds.publish(START + 3000), *seconds.publish(START + 10**12), *seconds.finish()]
    assert len(rows) < 200
    assert seconds.requests == 3


def test_a_tool_that_tells_totals_only() -> None:
    seconds = LiveSeconds("r")
    seconds.add([SecondEvent(START + 1000, 10, 2, 5, ((0.5, 0.1), (0.95, 0.2)))])
    seconds.add([SecondEvent(START + 2000, 30, 2, 6, ((0.5, 0.1), (0.95, 0.3)))])
    found = told(seconds.publish(START + 3000))
    assert found["loadtest_requests_total", "ok", 1000] == 8
    assert found["loadtest_requests_total", "other", 1000] == 2
    assert found["loadtest_requests_total", "ok", 2000] == 28
    assert found["loadtest_request_duration_seconds", "0.95", 2000] == 0.3
    assert found["loadtest_active_users", "", 2000] == 6


def test_the_rate_is_of_seconds_whose_requests_have_all_ended() -> None:
    seconds = LiveSeconds("r", target_rate=60)

    def send(first: int, last: int, latency: float, until: int) -> None:
        """Sixty requests in each second, of which those are told that have ended by `until`."""
        starts = [START + second * 1000 + place * 1000 // 60 for second in range(first, last) for place in range(60)]
        seconds.add(
            RequestEvent(one, latency, Outcome.OK) for one in starts if one + latency * 1000 <= START + until * 1000
        )

    send(0, 10, 0.05, 11)
    assert seconds.figures(START + 10_000).rate == 60
    # One of them takes three seconds: the last three may be short of others like it.
    seconds.add([RequestEvent(START + 6_900, 3.0, Outcome.OK)])
    send(10, 14, 3.0, 14)
    assert seconds.figures(START + 14_000).rate == 60
    # Nothing ends any more, so nothing more is known.
    assert seconds.figures(START + 30_000).rate == 60


def test_a_rate_waits_no_longer_than_seconds_are_kept() -> None:
    seconds = LiveSeconds("r")
    seconds.add(RequestEvent(START + 1000 * second, 90.0, Outcome.TIMEOUT) for second in range(100))
    seconds.publish(START + 190_000)
    assert seconds.figures(START + 100_000).rate == 1


def test_a_run_without_requests_sends_nothing() -> None:
    seconds = LiveSeconds("r", target_rate=5)
    assert seconds.publish(START) == []
    assert seconds.finish() == []
    assert seconds.figures(START).rate is None


def test_nearest_rank() -> None:
    assert [nearest_rank([1.0, 2.0, 3.0, 4.0], quantile) for quantile in (0.5, 0.75, 0.76, 1)] == [2, 3, 4, 4]
    assert nearest_rank([7.0], 0.01) == 7
