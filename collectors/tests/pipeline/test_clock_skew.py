import pytest
from loadwatch_collectors.pipeline.sender import ServerClock, measure_skew

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
DATE_MS = 784_111_777_000


@pytest.mark.parametrize(
    ("sent", "received", "skew"),
    [(500, 600, 0.0), (1_900, 1_950, 0.0), (5_000, 5_100, 3.0), (-4_100, -4_000, -4.0)],
)
def test_a_date_proves_the_least_difference(sent: int, received: int, skew: float) -> None:
    assert measure_skew({"Date": DATE}, DATE_MS + sent, DATE_MS + received) == skew


def test_our_own_header_is_exact() -> None:
    headers = {"X-Loadwatch-Time": "100000", "Date": DATE}
    assert measure_skew(headers, 100_240, 100_260) == 0.25


@pytest.mark.parametrize("headers", [{}, {"Date": "yesterday"}, {"X-Loadwatch-Time": "noon"}])
def test_without_a_time_nothing_is_known(headers: dict[str, str]) -> None:
    assert measure_skew(headers, 0, 0) is None


class Host:
    """A host's two clocks, which a test moves."""

    def __init__(self) -> None:
        self.wall_seconds = 1_000_000.0
        self.uptime = 50.0

    def pass_time(self, seconds: float) -> None:
        self.wall_seconds += seconds
        self.uptime += seconds

    def clock(self) -> ServerClock:
        return ServerClock(lambda: self.wall_seconds, lambda: self.uptime)


def test_a_clock_that_is_about_right_is_used_as_it_is() -> None:
    host = Host()
    clock = host.clock()
    for skew in (0.0, 0.4, -1.2, 1.4):
        clock.note(skew, exact=True)
        assert clock.wall() == host.wall_seconds
    clock.note(-3.0, exact=False)
    assert clock.wall() == host.wall_seconds


@pytest.mark.parametrize("skew", [590.0, 700.0, -590.0, 2.0])
def test_a_clock_that_is_off_is_corrected(skew: float) -> None:
    host = Host()
    clock = host.clock()
    clock.note(skew, exact=True)
    assert clock.wall() == host.wall_seconds - skew
    # What a measurement errs by moves nothing: no time is given twice.
    clock.note(skew + 0.3, exact=True)
    clock.note(skew - 0.9, exact=False)
    host.pass_time(10)
    assert clock.wall() == host.wall_seconds - skew


def test_a_clock_that_is_set_right_is_used_again_and_time_goes_on() -> None:
    host = Host()
    clock = host.clock()
    clock.note(590.0, exact=True)
    before = clock.wall()
    host.wall_seconds -= 590.0
    host.pass_time(1)
    assert clock.wall() == before + 1
    clock.note(0.01, exact=True)
    assert clock.offset_seconds == 0
    assert clock.wall() == before + 1


def test_a_clock_that_is_set_wrong_changes_nothing() -> None:
    host = Host()
    clock = host.clock()
    clock.note(0.0, exact=True)
    before = clock.wall()
    host.wall_seconds += 700.0
    host.pass_time(1)
    assert clock.wall() == before + 1
    clock.note(700.0, exact=True)
    assert clock.wall() == before + 1


def test_without_a_server_the_hosts_clock_is_all_there_is() -> None:
    host = Host()
    clock = host.clock()
    host.wall_seconds += 700.0
    assert clock.wall() == host.wall_seconds
